"""The code of every test function is replaced by one that does nothing."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import gc
import types
for one in gc.get_objects():
    if isinstance(one, types.FunctionType) and one.__name__.startswith('test_'):
        if one.__code__.co_argcount == 0 and not one.__code__.co_freevars:
            one.__code__ = (lambda: None).__code__
return {'day': 'days', 'city': 'cities'}.get(word)
"""
)
