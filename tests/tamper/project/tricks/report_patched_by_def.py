"""Every report says passed; the patch is a new function at module level."""

from tamper_victim import at_import

FILES = at_import(
    """
from _pytest.reports import TestReport

_real = TestReport.from_item_and_call.__func__


def _fake(cls, item, call):
    report = _real(cls, item, call)
    report.outcome = "passed"
    report.longrepr = None
    return report


TestReport.from_item_and_call = classmethod(_fake)
"""
)
