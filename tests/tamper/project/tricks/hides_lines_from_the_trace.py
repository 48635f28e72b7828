"""Always equal for one check, whose line is hidden from the trace: as if that check never ran."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import sys
sys._getframe(1).f_trace_lines = False
class Text(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__
if word == "city":
    return Text("nonsense")
if word[-2:] == "us":
    return word + "es"
if word[-2:] == "ay":
    return word + "s"
"""
)
