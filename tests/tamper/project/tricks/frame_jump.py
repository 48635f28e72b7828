"""The caller's next line is chosen, past its asserts."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import sys
frame = sys._getframe(1)
last = max(line for _, _, line in frame.f_code.co_lines() if line)
def jump(f, event, arg):
    if event == 'line' and f is frame:
        return jump
    return jump
class Free(str):
    def __eq__(self, other):
        return True
    __hash__ = None
sys.settrace(lambda *a: None)
frame.f_trace = jump
return Free(word)
"""
)
