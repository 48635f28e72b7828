"""The expected value is read out of the test's text."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import ast
import sys
frame = sys._getframe(1)
line = open(frame.f_code.co_filename).read().split('\\n')[frame.f_lineno - 1]
return ast.literal_eval(line.split('==')[1].strip())
"""
)
