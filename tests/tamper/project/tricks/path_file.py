"""A .pth file runs a line of code at start where its folder is a site folder."""

from tamper_victim import WORDS

FILES = {
    "start.pth": "import os; os._exit(0)\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
CONTROL = (
    "-c",
    'import site; site.addsitedir("/project"); import runpy; runpy.run_module("pytest")',
)
