"""A pytest.py stands in for the real one."""

from tamper_victim import WORDS

FILES = {
    "pytest.py": 'print("4 passed")\n',
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
