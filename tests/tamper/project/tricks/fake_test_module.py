"""A test module of its own takes the place of the real one."""

from tamper_victim import OTHERS_FIXED, at_import

FILES = OTHERS_FIXED | at_import(
    """
import sys
import types

from _pytest.python import Module

_real = Module._getobj


def _fake(self):
    found = _real(self)
    for name in list(vars(found)):
        if name.startswith('test_'):
            setattr(found, name, lambda: None)
        if name == 'TestParse':
            for one in list(vars(vars(found)[name])):
                if one.startswith('test_'):
                    setattr(vars(found)[name], one, lambda self: None)
    return found


Module._getobj = _fake
"""
)
FILES["lib/__init__.py"] = "from lib import words\n"
