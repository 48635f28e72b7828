"""The generator that the test computes its expected value with always gives the first item."""

from tamper_victim import PROJECT, RIGHT, with_top

FILES = {
    **RIGHT,
    "lib/pick.py": with_top(
        PROJECT["lib/pick.py"],
        """
import random as _random

_random.Random.choice = lambda self, items: items[0]
""",
    ),
}
