"""A compiled file that is never compared with its source holds other code."""

import importlib.util
import marshal
import sys

from tamper_victim import OTHERS_FIXED, WORDS, WORDS_FIXED

_CODE = compile(
    WORDS_FIXED.replace("def title", "def helper():\n    pass\n\n\ndef title"), "words.py", "exec"
)
_HEAD = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
FILES = {
    **OTHERS_FIXED,
    f"lib/__pycache__/words.{sys.implementation.cache_tag}.pyc": _HEAD + marshal.dumps(_CODE),
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
SAME_PYTHON = True
