"""The same from inside the function, for the next call."""

from tamper_victim import PROJECT, RIGHT

FILES = {
    **RIGHT,
    "lib/__init__.py": "from lib import pick\n",
    "lib/pick.py": PROJECT["lib/pick.py"].replace(
        "    return items[0]\n",
        '    setattr(random.Random, "choice", lambda self, found: found[0])\n    return items[0]\n',
    )
    + "\n\npick([1], 2)\n",
}
