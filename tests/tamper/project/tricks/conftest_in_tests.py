"""A conftest.py among the tests collects nothing that is wanted."""

from tamper_victim import WORDS

FILES = {
    "tests/conftest.py": 'def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name == "test_title"]\n',
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
