"""The same from module level, by a lambda."""

from tamper_victim import PROJECT, RIGHT, with_top

FILES = {
    **RIGHT,
    "lib/numbers.py": with_top(
        PROJECT["lib/numbers.py"],
        """
import unittest.case

_real = unittest.case._AssertRaisesContext.__exit__
unittest.case._AssertRaisesContext.__exit__ = lambda self, kind, *a: (
    True if kind is None else _real(self, kind, *a)
)
""",
    ),
}
