"""What was raised is forgotten before a report is made."""

from tamper_victim import in_plural

FILES = in_plural(
    """
from _pytest.runner import CallInfo
real = CallInfo.from_call.__func__
def fake(cls, func, when, reraise=None):
    info = real(cls, func, when, reraise)
    info.excinfo = None
    return info
CallInfo.from_call = classmethod(fake)
if word == 'day':
    return 'days'
"""
)
