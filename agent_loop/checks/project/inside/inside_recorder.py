"""PYTEST_DONT_REWRITE: one record per report, the end line last, over an inherited pipe."""

import doctest
import json
import os
from collections.abc import Callable, Generator
from typing import Any

import pytest
from _pytest.doctest import DoctestItem, MultipleDoctestFailures
from _pytest.subtests import SubtestReport
from _pytest.unittest import TestCaseFunction

DEEPEST = 30
MOST_LOOKS = 20
current: dict[str, str] = {"id": ""}
_state: dict[str, Any] = {
    "number": -1,
    "scrub": False,
    "installed": None,
    "differing": None,
    "looks": 0,
    "followed": None,
    "test_paths": set(),
}


def setup(number: int, *, scrub: bool, installed: list[str] | None) -> None:
    """Where to write, and what else this run does."""
    os.set_inheritable(number, False)
    _state.update(number=number, scrub=scrub, installed=installed)


def guard(differing: Callable[[], list[str]]) -> None:
    """After every test, note functions that are not what they were."""
    _state["differing"] = differing


def watch(test_paths: set[str]) -> None:
    """Where to name the files of the tests, for what watches code that looks into them."""
    _state["test_paths"] = test_paths


def note_replaced(*, last: bool = False) -> None:
    """After many tests only the end is looked at."""
    _state["looks"] += 1
    if _state["differing"] is None or (_state["looks"] > MOST_LOOKS and not last):
        return
    if names := _state["differing"]():
        _state["differing"] = None
        write(t="replaced", names=names[:50])


def follow(path: str) -> None:
    """A file in which other processes of this run note the lines they ran."""
    _state["followed"] = path


def write_followed() -> None:
    if _state["followed"] is None or not os.path.exists(_state["followed"]):
        return
    with open(_state["followed"], encoding="utf-8", errors="replace") as file:
        for line in file:
            write(**{**json.loads(line), "t": "line"})


def write(**record: object) -> None:
    data = (json.dumps(record) + "\n").encode()
    while data:
        data = data[os.write(_state["number"], data) :]


def causes(error: BaseException | None) -> list[BaseException]:
    """An exception and everything under it, doctest's and groups' wrappers opened."""
    waiting = [error]
    found: list[BaseException] = []
    while waiting and len(found) < DEEPEST:
        one = waiting.pop(0)
        if one is None or any(one is other for other in found):
            continue
        found.append(one)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, doctest.UnexpectedException):
            waiting.append(one.exc_info[1])
        if isinstance(one, MultipleDoctestFailures):
            waiting += one.failures
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
    return found


def kind(item: pytest.Item) -> str:
    if isinstance(item, DoctestItem):
        return "doctest"
    if isinstance(item, TestCaseFunction):
        return "unittest"
    return "function" if isinstance(item, pytest.Function) else "other"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down what was raised, whatever becomes of the report."""
    report = yield
    if call.excinfo is not None:
        names = [type(one).__name__ for one in causes(call.excinfo.value)]
        write(t="raised", id=item.nodeid, when=call.when, names=names)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    write(
        t="report",
        id=report.nodeid,
        when=report.when,
        outcome=report.outcome,
        xfail=hasattr(report, "wasxfail"),
        sub=isinstance(report, SubtestReport),
        text=str(report.longrepr)[-3000:] if report.outcome == "failed" else "",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart(nodeid: str) -> None:
    current["id"] = nodeid


@pytest.hookimpl(trylast=True)
def pytest_runtest_logfinish() -> None:
    note_replaced()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    if _state["scrub"]:
        os.environ.pop("PYTEST_CURRENT_TEST", None)
    yield


@pytest.hookimpl(tryfirst=True)
def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.outcome == "failed":
        write(t="collect", id=report.nodeid, text=str(report.longrepr)[-3000:])


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    _state["test_paths"].update(str(item.path) for item in session.items if kind(item) != "doctest")
    write(t="ids", ids=[[item.nodeid, kind(item)] for item in session.items])
    if _state["installed"] is not None:
        plugins = [name for name, _ in session.config.pluginmanager.list_name_plugin()]
        write(t="look", installed=_state["installed"], plugins=plugins)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    note_replaced(last=True)
    write_followed()
    write(t="end", code=int(exitstatus), collected=session.testscollected)
