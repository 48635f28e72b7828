"""Python's own parser, one text at a time.

Python 3.11 counts how deep it is in a tree once for all threads: two that parse at a time can
meet `SystemError: AST constructor recursion depth mismatch`. And catching warnings swaps a list
of the whole process. So everything of the host parses here.
"""

import ast
import threading
import warnings

_LOCK = threading.Lock()


def parse(source: str | bytes) -> ast.Module:
    """`ast.parse` without its warnings, which are about somebody else's text.

    Raises:
        SyntaxError: not Python.
        ValueError, RecursionError, MemoryError, OverflowError: Python cannot take it in.
    """
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
