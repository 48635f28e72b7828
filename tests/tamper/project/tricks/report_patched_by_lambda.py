"""The same with lambdas only, so that no function is new."""

from tamper_victim import at_import

FILES = at_import(
    """
from _pytest.reports import TestReport

_real = TestReport.from_item_and_call.__func__
TestReport.from_item_and_call = classmethod(
    lambda cls, item, call: (
        lambda r: (setattr(r, 'outcome', 'passed'), setattr(r, 'longrepr', None), r)[2]
    )(_real(cls, item, call))
)
"""
)
