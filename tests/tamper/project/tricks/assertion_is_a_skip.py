"""A failed assert raises what pytest takes for a skip."""

from tamper_victim import OTHERS_FIXED, at_import

FILES = OTHERS_FIXED | at_import(
    """
import builtins

from _pytest.outcomes import Skipped

builtins.AssertionError = Skipped
"""
)
