"""The same with an object of the standard library."""

from tamper_victim import in_plural

FILES = in_plural(
    """
from unittest.mock import ANY
return ANY
"""
)
