"""The frozen pytest command, as data: what decides is chosen before the worker does anything."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from agent_loop.checks.project.inside import text as inside_text
from agent_loop.checks.project.source.text import words
from agent_loop.ports import Program

TREE = "/project"
"""Where the copy is mounted, in every run: a path of its own would tell the runs apart."""
FOLDER = "/tmp/run"  # noqa: S108 - inside the container
IDS = f"{FOLDER}/ids.txt"
_SHELL = frozenset("|&;<>()$`\n*?~")
_VALUED = words(
    "-k -m -p -o -W -c -r -n --ignore --ignore-glob --deselect --rootdir --confcutdir --maxfail "
    "--tb --color --basetemp --durations --import-mode --capture --show-capture --junitxml "
    "--junit-xml --log-level --log-file --override-ini --config-file --pythonwarnings --verbosity"
)
# Which tests run is decided by the frozen ids; where results go and what is loaded, by us.
_OURS = words(
    "-k -m -x --exitfirst --ignore --ignore-glob --deselect --rootdir --confcutdir --maxfail "
    "-c --config-file --junitxml --junit-xml --basetemp --color --lf --last-failed --ff "
    "--failed-first --nf --sw --stepwise --pyargs --collect-only --co --cache-clear"
)

_TEXTS = ("start", "recorder", "lines", "guard", "watch", "site")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "TMPDIR": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}
"""What the judged code finds in its environment, the same in every run."""


@cache
def supervisor() -> Program:
    """What waits in a container: with pytest imported, for a job over its pipe."""
    texts = {f"{name}.py": inside_text(name) for name in _TEXTS}
    texts["empty/pytest.ini"] = "[pytest]\n"
    constants = f"FOLDER = {FOLDER!r}\nFILES = {texts!r}\nENVIRONMENT = {ENVIRONMENT!r}\n"
    return Program(
        name="project-run",
        modules=(
            ("agent_loop_texts", constants),
            ("agent_loop_supervisor", inside_text("supervisor")),
        ),
        entry="agent_loop_supervisor:main",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PytestCall:
    """A test command that starts pytest, taken apart."""

    options: tuple[str, ...] = ()
    """Kept in every run."""
    selection: tuple[str, ...] = ()
    """Options and targets that choose tests: used once, to find the ids."""


def parse_command(command: str) -> PytestCall | None:
    """`None` for any command that is not plainly pytest: it gets the weaker gate."""
    if _SHELL & set(command):
        return None
    try:
        argv = shlex.split(command)
    except ValueError:
        return None
    if argv[:1] and argv[0].startswith("python") and argv[1:2] == ["-m"]:
        argv = argv[2:]
    if argv[:1] not in (["pytest"], ["py.test"]):
        return None
    return _sort(argv[1:])


def _sort(arguments: Sequence[str]) -> PytestCall:
    options: list[str] = []
    selection: list[str] = []
    waiting = list(arguments)
    while waiting:
        one = waiting.pop(0)
        name, equals, _ = one.partition("=")
        group = [one]
        if name in _VALUED and not equals and waiting:
            group.append(waiting.pop(0))
        chooses = not one.startswith("-") or name in _OURS or one[:2] in ("-k", "-m")
        (selection if chooses else options).extend(group)
    return PytestCall(options=tuple(options), selection=tuple(selection))


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How pytest runs in this project; fixed by `reproduce`."""

    call: PytestCall
    config: str | None
    """Path of the project's own configuration in the tree; `None`: an empty one of ours."""
    python_path: tuple[str, ...]
    """Absolute, inside the container."""
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One command in one fresh container."""

    argv: tuple[str, ...] | None = None
    """`None`: pytest, told by `input`. A first word that is empty stands for the interpreter."""
    wall_s: float
    files: Mapping[str, str] = field(default_factory=dict)
    input: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    grace_s: float = 10.0
    """From pytest's end to the end of its process."""
    marks: tuple[str, ...] = ()
    """Files whose presence is reported."""

    def as_bytes(self, secret: str) -> bytes:
        body: dict[str, Any] = {
            "secret": secret,
            "argv": None if self.argv is None else list(self.argv),
            "files": dict(self.files),
            "input": self.input,
            "env": dict(self.env),
            "wall_s": self.wall_s,
            "grace_s": self.grace_s,
            "marks": list(self.marks),
        }
        data = json.dumps(body).encode("ascii")
        return len(data).to_bytes(8, "big") + data


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Which lines to watch, by path in the tree."""

    changed: Mapping[str, frozenset[int]]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a run does beside running its ids."""

    name: Literal["collect", "tests", "lines", "renamed"] = "tests"
    trace: Trace | None = None
    guard: bool = False
    """Note functions of Python and pytest that are replaced."""


def pytest_job(
    setting: Setting,
    ids: Sequence[str] | None,
    *,
    wall_s: float,
    kind: Kind | None = None,
    marks: tuple[str, ...] = (),
) -> Job:
    """The command for `ids`, or for what the task's own command selects."""
    what = kind or Kind()
    run = {
        "folder": FOLDER,
        "plugins": list(setting.plugins),
        "scrub": what.name == "renamed",
        "look": what.name == "collect",
        "guard": what.guard,
        "trace": _trace(what.trace),
        # pytest itself runs isolated and ignores it: for processes that the tests start.
        "env": {"PYTHONPATH": ":".join(setting.python_path)},
        "before": _before(setting),
        "after": _after(setting, ids),
    }
    return Job(
        wall_s=wall_s,
        files={"ids.txt": "".join(f"{one}\n" for one in ids or ())},
        input=json.dumps(run),
        marks=marks,
    )


def _trace(trace: Trace | None) -> dict[str, Any] | None:
    if trace is None:
        return None
    return {
        "changed": {f"{TREE}/{path}": sorted(lines) for path, lines in trace.changed.items()},
        "tests": [f"{TREE}/{path}" for path in trace.tests],
    }


def _before(setting: Setting) -> list[str]:
    config = f"{TREE}/{setting.config}" if setting.config else f"{FOLDER}/empty/pytest.ini"
    return [
        *setting.call.options,
        *("-c", config, f"--rootdir={TREE}"),
        *("-o", "pythonpath=" + " ".join(map(shlex.quote, setting.python_path))),
        *("-o", f"cache_dir={FOLDER}/cache", "--color=no", "--tb=short"),
    ]


def _after(setting: Setting, ids: Sequence[str] | None) -> list[str]:
    if ids is None:
        return [*setting.call.selection, "--maxfail=0", "--continue-on-collection-errors"]
    return ["--maxfail=0", "--continue-on-collection-errors", f"@{IDS}"]
