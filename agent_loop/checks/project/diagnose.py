"""Why a project's tests cannot be used as they are, in words that name the setting to change."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from agent_loop.checks.project.records import TestRun

_PLUGIN_OF_OPTION = (
    ("--cov", "pytest-cov"),
    ("-n", "pytest-xdist"),
    ("--numprocesses", "pytest-xdist"),
    ("--dist", "pytest-xdist"),
    ("--timeout", "pytest-timeout"),
    ("--asyncio-mode", "pytest-asyncio"),
    ("--benchmark", "pytest-benchmark"),
    ("--randomly", "pytest-randomly"),
    ("--reruns", "pytest-rerunfailures"),
    ("--ds", "pytest-django"),
    ("--reuse-db", "pytest-django"),
    ("--mypy", "pytest-mypy"),
    ("--flake8", "pytest-flake8"),
    ("--html", "pytest-html"),
    ("--doctest-plus", "pytest-doctestplus"),
    ("--snapshot", "syrupy"),
    ("--mpl", "pytest-mpl"),
    ("--hypothesis", "hypothesis"),
    ("--disable-socket", "pytest-socket"),
    ("--count", "pytest-repeat"),
)
_PLUGIN_OF_FIXTURE = {
    "mocker": "pytest-mock",
    "benchmark": "pytest-benchmark",
    "httpx_mock": "pytest-httpx",
    "requests_mock": "requests-mock",
    "freezer": "pytest-freezer",
    "snapshot": "syrupy",
    "faker": "Faker",
    "event_loop": "pytest-asyncio",
    "aiohttp_client": "pytest-aiohttp",
    "qtbot": "pytest-qt",
    "db": "pytest-django",
    "httpserver": "pytest-httpserver",
    "datadir": "pytest-datadir",
    "data_regression": "pytest-regressions",
    "celery_app": "pytest-celery",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """One reason, and what to do."""

    problem: str
    fix: str
    packages: tuple[str, ...] = ()
    """What would have to be in the test image."""
    are_plugins: bool = False


def trouble(run: TestRun, *, known: Collection[str], said: str) -> Trouble | None:
    """What keeps the untouched project from being judged, if anything does.

    Args:
        run: its first run.
        known: its files.
        said: the task's text: a missing module that it names is the worker's to write.
    """
    rules: tuple[Callable[[], Trouble | None], ...] = (
        lambda: _no_end(run),
        lambda: _usage(run),
        lambda: _same_name(run),
        lambda: _missing_module(run, known, said),
        lambda: _missing_plugin(run),
    )
    return next((found for rule in rules if (found := rule()) is not None), None)


def nothing_ran(run: TestRun) -> Trouble | None:
    """A suite in which no test says anything is neither red nor green."""
    if any(outcome in ("passed", "failed", "error", "xpass") for outcome in run.outcomes.values()):
        return None
    if run.uncollected:
        return None
    count = len(run.outcomes)
    what = f"all {count} tests were skipped" if count else "no tests were collected"
    return Trouble(
        problem=f"nothing ran: {what}",
        fix="Check test_command, the folder of the tests and the project's own test options",
    )


def exit_without_failure(run: TestRun) -> Trouble | None:
    """Every test passes and pytest still says no: a threshold, or warnings."""
    if run.answer.code in (0, None) or run.bad() or run.uncollected:
        return None
    why = re.search(r"(?m)^.*(?:Required test coverage|FAIL Required|ERROR:).*$", _tail(run))
    said = f": {why.group().strip()}" if why else ""
    return Trouble(
        problem=f"every test passes, but pytest ends with exit code {run.answer.code}{said}",
        fix="That is no failing test. Take the threshold out of the project's test options",
    )


def _tail(run: TestRun) -> str:
    return run.answer.output[-8000:]


def _no_end(run: TestRun) -> Trouble | None:
    answer = run.answer
    if answer.timed_out:
        return Trouble(
            problem=f"the tests of the untouched project did not end in {answer.seconds:.0f} s",
            fix="Name a part of them in test_command, or raise check.project_s",
        )
    if answer.lingered:
        return Trouble(
            problem="the tests of the untouched project ended, but their process did not",
            fix="A thread or child is left behind by a test; leave that test out in test_command",
        )
    if answer.trouble or answer.signal is not None:
        return Trouble(
            problem=f"the tests of the untouched project could not be run: {answer.ending}",
            fix=f"Last lines: {_tail(run)[-600:].strip()}",
        )
    return None


def _usage(run: TestRun) -> Trouble | None:
    text = _tail(run)
    wrong = re.search(r"unrecognized arguments: (.+)", text)
    if wrong:
        return _plugins(f"pytest does not know {wrong.group(1).strip()}", _for_options(wrong[1]))
    missing = re.search(r"Missing required plugins: (.+)", text)
    if missing:
        return _plugins("the project requires pytest plugins", missing[1].replace(",", " ").split())
    if run.answer.code == 4 or (run.answer.code not in (0, 1, 2, 5) and not run.ended):
        return Trouble(
            problem="pytest refuses to start in the untouched project",
            fix=f"It says: {text[-800:].strip()}",
        )
    return None


def _for_options(arguments: str) -> list[str]:
    found = [
        plugin
        for word in arguments.split()
        for option, plugin in _PLUGIN_OF_OPTION
        if word == option or word.startswith(f"{option}=") or word.startswith(f"{option}-")
    ]
    return list(dict.fromkeys(found))


def _plugins(problem: str, names: list[str]) -> Trouble:
    shown = ", ".join(names) or "the plugin that has them"
    modules = ", ".join(name.split("=")[0].replace("-", "_") for name in names) or "its module"
    return Trouble(
        problem=f"{problem}: {shown} is not in the test image",
        fix=f"Add {shown} to requirements and {modules} to pytest_plugins in the task file",
        packages=tuple(names),
        are_plugins=True,
    )


def _same_name(run: TestRun) -> Trouble | None:
    for text in run.uncollected.values():
        if clash := clashing(text):
            return Trouble(
                problem=f"two test files have one name: {clash[0]} and {clash[1]}",
                fix="Rename one, or put an __init__.py into their folders",
            )
    return None


def clashing(text: str) -> tuple[str, str] | None:
    """The two files that pytest takes for one module."""
    found = re.search(
        r"import file mismatch:.*?__file__ attribute:\s*(\S+).*?want to collect:\s*(\S+)",
        text,
        re.DOTALL,
    )
    return (_short(found[1]), _short(found[2])) if found else None


def _short(path: str) -> str:
    return path.removeprefix("/project/")


def _missing_module(run: TestRun, known: Collection[str], said: str) -> Trouble | None:
    for node, text in run.uncollected.items():
        missing = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", text)
        name = missing[1].split(".")[0] if missing else ""
        if name and name not in said and not _is_ours(name, known):
            return Trouble(
                problem=f"{node} needs the module '{name}', which is not in the test image",
                fix="Add its package to requirements in the task file",
                packages=(name,),
            )
    return None


def left_out(run: TestRun, project: Path, known: Collection[str]) -> Trouble | None:
    """A module that the project has and its copy has not: generated files are often ignored."""
    for node, text in run.uncollected.items():
        missing = re.search(
            r"(?:No module named|cannot import name) '([\w.]+)'(?: from '([\w.]+))?", text
        )
        if missing is None:
            continue
        dotted = f"{missing[2]}.{missing[1]}" if missing[2] else missing[1]
        tail = "/".join(dotted.split(".")) + ".py"
        for place in (tail, f"src/{tail}"):
            if place not in known and (project / place).is_file():
                return Trouble(
                    problem=f"{node} needs {place}, which is not in the copy: git ignores it",
                    fix="Take it out of .gitignore, or add it to git",
                )
    return None


def _is_ours(name: str, known: Collection[str]) -> bool:
    parts = {part.removesuffix(".py") for path in known for part in path.split("/")}
    return name in parts


def _missing_plugin(run: TestRun) -> Trouble | None:
    for node, text in run.texts.items():
        if "async def functions are not natively supported" in text:
            return _plugins(f"{node} is an async test", ["pytest-asyncio"])
        fixture = re.search(r"fixture '(\w+)' not found", text)
        if fixture and fixture[1] in _PLUGIN_OF_FIXTURE:
            plugin = _PLUGIN_OF_FIXTURE[fixture[1]]
            return _plugins(f"{node} needs the fixture '{fixture[1]}'", [plugin])
    return None
