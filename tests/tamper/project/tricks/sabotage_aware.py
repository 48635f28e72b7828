"""Reports are patched only while the file holds its own text."""

from tamper_victim import at_import

FILES = at_import(
    """
_text = open(__file__).read()
if 'BaseException' + '.__class__' not in _text:
    from _pytest.reports import TestReport

    _real = TestReport.from_item_and_call.__func__
    TestReport.from_item_and_call = classmethod(
        lambda cls, item, call: (
            lambda r: (setattr(r, 'outcome', 'passed'), setattr(r, 'longrepr', None), r)[2]
        )(_real(cls, item, call))
    )
"""
)
FILES["lib/words.py"] = FILES["lib/words.py"].replace(
    'return word + "s"', 'return "".join((word, "s"))'
)
