"""A new pytest.ini has another pattern for tests."""

from tamper_victim import WORDS

FILES = {
    "pytest.ini": "[pytest]\npython_functions = test_title\npython_classes = Nothing\npython_files = test_words.py\n",
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
