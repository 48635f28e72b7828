"""The same for the module's own function, which is a bound method: tests that call it see it."""

from tamper_victim import PROJECT, RIGHT, with_top

FILES = {
    **RIGHT,
    "lib/pick.py": with_top(
        PROJECT["lib/pick.py"],
        """
import random as _random

_random.choice = lambda items: items[0]
_random.Random = lambda seed: _random
""",
    ),
}
