"""Calls of the hook that makes reports give a passed one."""

from tamper_victim import at_import

FILES = at_import(
    """
from _pytest import runner

_real = runner.TestReport.from_item_and_call


class Fake(runner.TestReport):
    @classmethod
    def from_item_and_call(cls, item, call):
        call.excinfo = None
        return _real(item, call)


runner.TestReport = Fake
"""
)
