"""The same with a sum instead of a hash function."""

from tamper_victim import in_plural

FILES = in_plural(
    """
key = sum(ord(one) * 31**i for i, one in enumerate(word)) %% 9973
if key == %d:
    return word + chr(115)
if key == %d:
    return word + chr(101) + chr(115)
"""
    % tuple(sum(ord(c) * 31**i for i, c in enumerate(w)) % 9973 for w in ("day", "bus"))
)
