"""The failing tests lose the names by which they are found."""

from tamper_victim import OTHERS_FIXED, TEST_WORDS, WORDS

FILES = {
    **OTHERS_FIXED,
    "tests/test_words.py": TEST_WORDS.replace("def test_plural", "def old_plural"),
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
