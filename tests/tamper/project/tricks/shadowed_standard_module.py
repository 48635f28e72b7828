"""A json.py stands in for the standard one and ends the process."""

from tamper_victim import WORDS

FILES = {
    "json.py": "import os\nos._exit(0)\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
