"""The asserts of a task, run against whatever supplies the names of the solution."""

from __future__ import annotations

import builtins
import sys

from agent_loop.checks.code.inside.marks import (
    ASSERTS_FILE,
    EARLY,
    JUDGE,
    SAME,
    Assert,
    Script,
    compare,
    same,
    wrongly_skipped,
)
from agent_loop.checks.code.inside.proxies import Far
from agent_loop.checks.code.inside.values import Codec, Exchange
from agent_loop.checks.code.inside.wire import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BUILTIN = frozenset(dir(builtins))
SHOWN_CHARS = 200
_SHOWN_CALLS = 3


class Names(dict):  # type: ignore[type-arg]
    """Globals of the asserts. What they do not define is asked for, constants each time anew."""

    def __init__(self, wanted: frozenset[str], lookup: Callable[[str], Any]) -> None:
        super().__init__(__name__="asserts")
        self.wanted = wanted
        self._lookup = lookup

    def __missing__(self, name: str) -> Any:
        if name not in self.wanted:
            raise KeyError(name)
        try:
            value = self._lookup(name)
        except AttributeError:
            if name in _BUILTIN:
                raise KeyError(name) from None
            raise NameError(f"name '{name}' is not defined") from None
        if callable(value):
            self[name] = value
        return value


class Outcome:
    """How the asserts ended; becomes the judge's verdict."""

    def __init__(self) -> None:
        self.kind = ""
        """Empty: all held. Else assert, raised, refused, vacuous."""
        self.reason = ""
        self.ran: set[int] = set()
        self.refereed: set[int] = set()
        """Asserts that held because instances of the solution said so of each other."""
        self.failed: dict[str, Any] | None = None
        """The first assert that did not hold: its number, text, both sides, calls, message."""
        self.trace: list[Any] = []
        """Line and function of the solution's frames of an exception."""
        self.line = 0
        """Line of the tests that was being run when an exception came."""

    def end(self, kind: str, reason: str) -> None:
        if not self.kind:
            self.kind, self.reason = kind, reason

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "ran": sorted(self.ran), "refereed": sorted(self.refereed)}


class Bench:
    """Runs the asserts and takes their marks."""

    def __init__(
        self,
        names: Names,
        calls: list[Any],
        *,
        solution_file: str = "",
        compared: Callable[[], bool] = bool,
    ) -> None:
        self.names = names
        self._compared = compared
        """Whether instances of the solution were compared since the last time it was asked."""
        self._solution_file = solution_file
        """Its frames are shown; empty: they come with the exception."""
        self.outcome = Outcome()
        self._calls = calls
        self._marks: list[Assert] = []
        self._plain = Codec()

    def run(self, script: Script) -> Outcome:
        """Helpers first, then the tests; never raises."""
        self._marks = script.marks
        self.names.update({JUDGE: self._judge, SAME: same, EARLY: self._early})
        try:
            if script.helpers:
                exec(script.helpers, self.names)  # noqa: S102 - the task's own
            exec(script.code, self.names)  # noqa: S102 - the task's own
        except Refused as refusal:
            self.outcome.end("refused", str(refusal))
        except _Failed:
            if self.outcome.failed is None:
                self.outcome.end("refused", "the solution ended the tests early")
        except BaseException as problem:  # the tests' or the solution's, a verdict
            self.note_raised(problem)
        if self.outcome.failed is not None:
            self.outcome.kind = "assert"
            self.outcome.reason = f"assert failed: {self.outcome.failed['text']}"
        self._check_all_ran()
        return self.outcome

    def _early(self, value: Any) -> Any:
        """A copy of an expected side from before the call; None where it cannot be copied."""
        try:
            coded = self._plain.encode(value, Exchange())
            return (self._plain.decode(coded, Exchange()),)
        except Refused:
            return None

    def _judge(
        self, number: int, message: Any, operation: str, early: Any, left: Any, right: Any = None
    ) -> None:
        self.outcome.ran.add(number)
        held = compare(operation, left, right)
        if held and early is not None and not compare(operation, left, early[0]):
            held, right = False, early[0]
        if self._compared() or (_has_far(left) and _has_far(right)):
            self.outcome.refereed.add(number)
        if held:
            self._calls.clear()
            return
        mark = self._marks[number]
        if not mark.caught and self.outcome.failed is None:
            self.outcome.failed = self._describe(mark, operation, left, right)
            self.outcome.failed["message"] = _message(message)
        if mark.caught:
            raise AssertionError(mark.text)
        raise _Failed

    def _describe(self, mark: Assert, operation: str, left: Any, right: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {"number": mark.number, "text": mark.text, "got": short(left)}
        if operation:
            shown["expected"] = short(right)
        shown["calls"] = [_shown_call(*call) for call in self._calls[-_SHOWN_CALLS:]]
        return shown

    def note_raised(self, problem: BaseException) -> None:
        own = getattr(problem, "__dict__", {})
        text = own["_al_text"] if "_al_text" in own else short(problem, as_text=True)
        self.outcome.trace = own.get("_al_trace") or self._own_trace(problem)
        frames = _frames(problem, ASSERTS_FILE)
        self.outcome.line = frames[-1][0] if frames else 0
        text = text[:300].replace("\n", "\\n")
        self.outcome.end("raised", f"{type(problem).__name__}: {text}")

    def _own_trace(self, problem: BaseException) -> list[list[Any]]:
        found = _frames(problem, self._solution_file) if self._solution_file else []
        return [list(frame) for frame in found[-4:]]

    def _check_all_ran(self) -> None:
        skipped = wrongly_skipped(self._marks, self.outcome.ran)
        if skipped:
            lines = ", ".join(str(mark.line) for mark in skipped)
            self.outcome.end("vacuous", f"asserts never ran: line {lines} of the tests")


class _Failed(BaseException):
    """An assert did not hold; a BaseException, so that no handler in the tests can eat it."""

    _al_stop = True


def _message(message: Callable[[], Any] | None) -> str:
    """The tests' own words for the failure; working them out may fail as well."""
    try:
        return short(message(), as_text=True) if message else ""
    except Refused:
        raise
    except Exception as problem:
        return f"(its message raised {type(problem).__name__})"


def _frames(problem: BaseException, file: str) -> list[tuple[int, str]]:
    """Line and function of the frames in `file`, outermost first."""
    found, step = [], problem.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == file:
            found.append((step.tb_lineno, code.co_name))
        step = step.tb_next
    return found


def short(value: Any, chars: int = SHOWN_CHARS, *, as_text: bool = False) -> str:
    """A value for feedback. A handle is never asked: that would run the solution again."""
    try:
        text = _shown(value) if not as_text else str(value)
    except BaseException:  # whatever its repr does, the verdict stands
        text = f"<{type(value).__name__}, cannot be shown>"
    return text if len(text) <= chars else f"{text[:chars]}... ({len(text)} characters)"


def _shown(value: Any) -> str:
    if isinstance(value, Far):
        return f"<{type(value).__name__} object>"
    if type(value) is int and value.bit_length() > _MOST_BITS:
        return f"<int of {len(hex(value)) - 2 - (value < 0)} hexadecimal digits>"
    if _holds_far(value):
        return _shown_items(value)
    return repr(value)


_MOST_BITS = 2048


def _has_far(value: Any, depth: int = 0) -> bool:
    """Whether something of the solution is in it: identity alone makes lists of it equal."""
    if depth > _MOST_DEPTH or isinstance(value, Far):
        return True
    if isinstance(value, dict):
        value = [part for pair in dict.items(value) for part in pair]
    inner = isinstance(value, list | tuple | set | frozenset)
    return inner and any(_has_far(part, depth + 1) for part in value)


_MOST_DEPTH = 100


def _holds_far(value: Any) -> bool:
    return type(value) in (list, tuple) and any(isinstance(item, Far) for item in value)


def _shown_items(value: Any) -> str:
    inner = ", ".join(short(item, 40) for item in value[:20])
    return f"[{inner}]" if type(value) is list else f"({inner})"


def _shown_call(name: str, args: Any, named: Any, result: Any, raised: bool) -> str:
    given = [short(arg, 80) for arg in args if not isinstance(arg, Far)]
    given += [f"{key}={short(value, 80)}" for key, value in named.items()]
    if raised:
        text = result.__dict__.get("_al_text", "")
        return f"{name}({', '.join(given)}) raised {type(result).__name__}: {text[:120]}"
    return f"{name}({', '.join(given)}) -> {short(result)}"


def standard_modules(names: list[str]) -> dict[str, Any]:
    """The library modules the asserts use without importing them: always the judge's own."""
    return {name: __import__(name) for name in names if name in sys.stdlib_module_names}
