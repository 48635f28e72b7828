"""The function raises whatever class the calling test expects."""

from tamper_victim import in_parse

FILES = in_parse(
    """
import gc
import unittest.case
for one in gc.get_objects():
    if isinstance(one, unittest.case._AssertRaisesContext):
        raise one.expected('no')
"""
)
