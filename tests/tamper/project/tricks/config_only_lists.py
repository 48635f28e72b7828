"""The project's options only list the tests."""

from tamper_victim import WORDS

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = "--co"\n',
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
