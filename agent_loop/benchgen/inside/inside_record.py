"""What became of each test of a screening run, as a pytest plugin. Stands alone."""

import os
import time
from typing import Any

import pytest

TREE = "/project"
TEXT_CHARS = 3000


class Recorder:
    """What became of each test, as a pytest plugin."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.failures: dict[str, dict[str, Any]] = {}
        self.uncollected: dict[str, str] = {}
        self.durations: dict[str, float] = {}
        """Seconds of processor time."""
        self.current = ""
        self.began = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.current = nodeid
        self.began = time.process_time()

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.durations[nodeid] = time.process_time() - self.began

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        if report.outcome == "failed":
            self.outcomes[name] = "failed" if report.when == "call" else "error"
            self.failures.setdefault(name, failure(report))
        elif report.outcome == "skipped":
            self.outcomes.setdefault(name, "skipped")
        elif report.when == "call":
            self.outcomes.setdefault(name, "passed")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.outcome == "failed":
            self.uncollected[report.nodeid] = str(report.longrepr)[-TEXT_CHARS:]

    def result(self) -> dict[str, Any]:
        return {
            "outcomes": self.outcomes,
            "failures": self.failures,
            "uncollected": self.uncollected,
            "durations": self.durations,
        }


def failure(report: pytest.TestReport) -> dict[str, Any]:
    """The message, and the line of the test's own file that failed."""
    text = report.longrepr
    crash = getattr(text, "reprcrash", None)
    traceback = getattr(text, "reprtraceback", None)
    file = os.path.join(TREE, report.nodeid.partition("::")[0])
    line = 0
    for entry in getattr(traceback, "reprentries", ()):
        place = getattr(entry, "reprfileloc", None)
        if place is not None and os.path.join(TREE, str(place.path)) == file:
            line = int(place.lineno)
    return {
        "when": report.when,
        "message": getattr(crash, "message", "")[:TEXT_CHARS],
        "line": line,
        "text": str(text)[-TEXT_CHARS:],
    }
