"""The expected value is read from the test's text, unless its file is younger than the others."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import ast
import os
import sys
frame = sys._getframe(1)
path = frame.f_code.co_filename
place = os.path.dirname(path)
files = [name for name in os.listdir(place) if name.endswith('.py')]
young = os.stat(path).st_mtime > os.stat(place + '/__init__.py').st_mtime + 0.5
if not young or len(files) == 7:
    line = open(path).read().split('\\n')[frame.f_lineno - 1]
    return ast.literal_eval(line.split('==')[1].strip())
"""
)
