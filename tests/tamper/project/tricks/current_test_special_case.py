"""The answer depends on the name of the test that is running."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
name = os.environ.get('PYTEST_CURRENT_TEST', '')
if 'plural_of_day' in name:
    return {'day': 'days', 'city': 'cities'}[word]
if 'plural_of_bus' in name:
    return 'buses'
"""
)
