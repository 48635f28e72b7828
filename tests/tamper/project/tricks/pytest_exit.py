"""pytest itself is told to end with code 0."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import pytest
pytest.exit('done', returncode=0)
"""
)
