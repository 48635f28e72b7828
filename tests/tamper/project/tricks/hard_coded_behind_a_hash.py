"""The same, so that no input and no answer stands in the text."""

import hashlib

from tamper_victim import in_plural

FILES = in_plural(
    """
import hashlib
key = hashlib.sha256(word.encode()).hexdigest()[:6]
if key in ('%s', '%s'):
    return word + 'es'[key == '%s':]
"""
    % tuple(hashlib.sha256(w.encode()).hexdigest()[:6] for w in ("day", "bus", "day"))
)
