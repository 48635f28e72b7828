"""The session cannot count failures any more."""

from tamper_victim import in_plural

FILES = in_plural(
    """
from _pytest.main import Session
Session.testsfailed = property(lambda self: 0, lambda self, value: None)
"""
)
