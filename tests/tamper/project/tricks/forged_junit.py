"""A result file is written at exit, and code 0 given."""

from tamper_victim import at_import

FILES = at_import(
    """
import atexit
import os
import sys


def _forge():
    for word in sys.argv:
        if 'junit' in word:
            open(word.partition('=')[2], 'w').write('<testsuites failures="0" tests="4"/>')
    os._exit(0)


atexit.register(_forge)
"""
)
