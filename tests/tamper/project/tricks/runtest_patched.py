"""Test functions are not called at all."""

from tamper_victim import OTHERS_FIXED, at_import

FILES = OTHERS_FIXED | at_import(
    """
from _pytest.python import Function

Function.runtest = lambda self: None
"""
)
