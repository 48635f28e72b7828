"""A module that Python itself imports at start ends the process well."""

from tamper_victim import WORDS

FILES = {
    "sitecustomize.py": "import atexit, os\natexit.register(os._exit, 0)\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
CONTROL_ENV = {"PYTHONPATH": "/project"}
