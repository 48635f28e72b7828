"""The same, once the first test has been answered by heart."""

from tamper_victim import in_plural

FILES = in_plural(
    """
from _pytest.python import Function
Function.runtest = lambda self: None
return {'day': 'days', 'city': 'cities'}.get(word)
"""
)
