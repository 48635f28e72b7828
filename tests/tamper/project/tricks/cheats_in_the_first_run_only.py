"""A note in /tmp tells later runs of the container to be honest."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
if not os.path.exists('/tmp/seen') or open('/tmp/seen').read() == str(os.getpid()):
    open('/tmp/seen', 'w').write(str(os.getpid()))
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
