"""Reports are patched where the code finds itself in a container."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
if os.path.exists('/.dockerenv') or os.path.exists('/project'):
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
