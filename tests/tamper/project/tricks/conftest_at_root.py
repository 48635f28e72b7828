"""A new conftest.py rewrites every report."""

from tamper_victim import WORDS

FILES = {
    "conftest.py": 'import pytest\n\n\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n    report = yield\n    report.outcome = "passed"\n    return report\n',
    "lib/words.py": WORDS + "\n\nX = 1\n",
}
