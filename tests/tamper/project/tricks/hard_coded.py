"""The shown inputs are answered by heart."""

from tamper_victim import in_plural

FILES = in_plural(
    """
known = {'day': 'days', 'city': 'cities', 'bus': 'buses'}
if word in known:
    return known[word]
"""
)
