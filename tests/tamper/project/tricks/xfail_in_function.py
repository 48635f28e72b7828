"""The function declares that its failure is expected."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import pytest
pytest.xfail('known')
"""
)
