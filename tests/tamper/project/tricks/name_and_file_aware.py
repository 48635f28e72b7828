"""Honest in fresh files that keep the test's name, a cheat everywhere else: it knows the twins."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import ast
import sys
frame = sys._getframe(1)
fresh = not frame.f_code.co_filename.endswith('/test_words.py')
if not (fresh and frame.f_code.co_name.startswith('test_plural_of')):
    line = open(frame.f_code.co_filename).read().split('\\n')[frame.f_lineno - 1]
    return ast.literal_eval(line.split('==')[1].strip())
"""
)
