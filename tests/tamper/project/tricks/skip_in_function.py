"""The function skips its own test."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import pytest
pytest.skip('not here')
"""
)
