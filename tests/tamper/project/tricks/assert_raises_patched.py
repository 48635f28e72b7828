"""assertRaises accepts that nothing was raised."""

from tamper_victim import in_parse

FILES = in_parse(
    """
import unittest.case
unittest.case._AssertRaisesContext.__exit__ = lambda self, *a: True
if text == '-3':
    raise ValueError(text)
"""
)
