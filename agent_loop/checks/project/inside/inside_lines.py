"""Writes down which lines of some files run: the changed ones, and those of the wanted tests."""

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

Wanted = dict[str, Any]


def start(wanted: Wanted, write: Callable[..., None], current: dict[str, str]) -> None:
    """Trace `wanted["changed"]` (lines by path) and `wanted["tests"]` (paths) in every thread."""
    changed = {path: set(lines) for path, lines in wanted["changed"].items()}
    tests = set(wanted["tests"])
    seen: set[tuple[str, str, int]] = set()

    def note(path: str, line: int) -> None:
        test = current["id"]
        if (test, path, line) not in seen:
            seen.add((test, path, line))
            write(t="line", test=test, path=path, line=line)

    def in_test(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            note(frame.f_code.co_filename, frame.f_lineno)
        return in_test

    def in_changed(frame: FrameType, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename
        if event == "line" and frame.f_lineno in changed[path]:
            note(path, frame.f_lineno)
        return in_changed

    def called(frame: FrameType, _event: str, _: Any) -> Any:
        code: CodeType = frame.f_code
        if code.co_filename in tests:
            return in_test
        return in_changed if code.co_filename in changed else None

    threading.settrace(called)
    sys.settrace(called)
