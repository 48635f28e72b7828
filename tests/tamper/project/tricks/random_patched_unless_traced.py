"""`random` is made to agree with the wrong function, but not in the run that is traced."""

from tamper_victim import NUMBERS_FIXED, PICK, WORDS_FIXED, in_parse

FILES = in_parse(
    """
import sys
if sys.gettrace() is None:
    import random
    def first(self, items):
        return items[0]
    random.Random.choice = first
"""
)
FILES["lib/numbers.py"] = FILES["lib/numbers.py"].replace(
    "    return int(text)\n", NUMBERS_FIXED.partition('zero."""\n')[2]
)
FILES["lib/pick.py"] = PICK.replace("items[0]", "list(items)[0]")
FILES["lib/words.py"] = WORDS_FIXED
