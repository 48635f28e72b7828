"""The answer depends on the name of the calling function."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import sys
name = sys._getframe(1).f_code.co_name
if name == 'test_plural_of_day':
    return 'days' if word == 'day' else 'cities'
if name == 'test_plural_of_bus':
    return 'buses'
"""
)
