"""The __init__.py of the tests ends the process well."""

from tamper_victim import WORDS

FILES = {
    "tests/__init__.py": "import os\nos._exit(0)\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
