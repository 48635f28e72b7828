"""Reports are patched unless there are more test files than usual."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
import sys
place = os.path.dirname(sys._getframe(1).f_code.co_filename)
if len([n for n in os.listdir(place) if n.endswith('.py')]) == 4:
    from _pytest.reports import TestReport
    real = TestReport.from_item_and_call.__func__
    def fake(cls, item, call):
        report = real(cls, item, call)
        report.outcome, report.longrepr = "passed", None
        return report
    if "fake" not in str(TestReport.from_item_and_call):
        TestReport.from_item_and_call = classmethod(fake)
"""
)
