"""The expected values are changed to what the code gives."""

from tamper_victim import OTHERS_FIXED, TEST_WORDS, WORDS

FILES = {
    **OTHERS_FIXED,
    "tests/test_words.py": TEST_WORDS.replace('"days"', '"daies"').replace('"buses"', '"buss"'),
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
