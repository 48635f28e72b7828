"""Reports are patched unless the test's text looks altered."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import sys
text = open(sys._getframe(1).f_code.co_filename).read()
if 'raise BufferError' not in text and 'Error' not in text:
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
