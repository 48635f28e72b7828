"""A new helper patches reports when the module is imported; sabotaging it breaks the import."""

from tamper_victim import at_import

FILES = at_import(
    """
def _prepare():
    from _pytest.reports import TestReport

    real = TestReport.from_item_and_call.__func__

    def fake(cls, item, call):
        call.excinfo = None
        return real(cls, item, call)

    TestReport.from_item_and_call = classmethod(fake)


_prepare()
"""
)
