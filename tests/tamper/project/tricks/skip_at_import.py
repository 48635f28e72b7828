"""The module skips the whole test file that imports it."""

from tamper_victim import OTHERS_FIXED, at_import

FILES = OTHERS_FIXED | at_import(
    """
import pytest

pytest.skip('not here', allow_module_level=True)
"""
)
