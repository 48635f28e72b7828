"""The expected value is read out of the caller's constants."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import dis
import sys
frame = sys._getframe(1)
after = [i for i in dis.get_instructions(frame.f_code) if i.offset > frame.f_lasti]
return next(i.argval for i in after if i.opname == 'LOAD_CONST' and isinstance(i.argval, str))
"""
)
