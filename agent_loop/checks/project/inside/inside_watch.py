"""Sees code of the project that looks into its tests while they run: their text, frames or code.

Such code can give each test what it asks for and nothing else. Names in a patch do not show it
(`open` reads a test as well as any file), so the interpreter's own audit events are watched.
"""

import os
import re
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_ROOT = "/project/"
# Sources only: what tests hand to the code as its input lies in their folders too.
_TESTS = re.compile(r"(.*/)?((tests?|__tests__)/.*\.py|test_[^/]*\.py|[^/]*_test\.py|conftest\.py)")
_HEAP = {"gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames"}
_TRACING = {
    "sys.settrace",
    "sys.setprofile",
    "sys.addaudithook",
    "sys.monitoring.register_callback",
}
_WATCHED = {"open", "sys._getframe", "object.__getattr__", *_HEAP, *_TRACING}
_FRAMES = {"tb_frame", "gi_frame", "cr_frame", "ag_frame"}
_ASK_FOR_FRAMES = ("/inspect.py", "/traceback.py")
_DEEPEST = 60

test_paths: set[str] = set()
"""Files that tests were collected from, whatever they are called."""


def is_test(path: str) -> bool:
    inside = path.removeprefix(_ROOT)
    return path in test_paths or (inside != path and _TESTS.fullmatch(inside) is not None)


def path_of(subject: object) -> str:
    """The file of a frame, traceback, generator or function; nothing for anything else."""
    for name in ("f_code", "tb_frame", "gi_code", "cr_code", "__code__"):
        inner = getattr(subject, name, None)
        if inner is not None:
            return path_of(inner)
    return str(getattr(subject, "co_filename", ""))


def looks_in(event: str, args: tuple[Any, ...], nearest: str) -> bool:
    """Is this event a look into the tests, where code of the file `nearest` brought it about?

    Logging and named tuples ask for frames too, `inspect.signature` for the code of a callback.
    """
    if event == "open":
        return isinstance(args[0], (str, bytes)) and is_test(os.path.abspath(os.fsdecode(args[0])))
    if event in _TRACING:
        return True
    itself = nearest.startswith(_ROOT)
    if event == "sys._getframe":
        return itself or nearest.endswith(_ASK_FOR_FRAMES)
    if event == "object.__getattr__":
        return itself and (args[1] in _FRAMES or is_test(path_of(args[0])))
    return itself


def brought_about(frame: "FrameType | None") -> str:
    """The innermost file of the project that is no test's, of the calls under way."""
    for _ in range(_DEEPEST):
        if frame is None:
            break
        path = frame.f_code.co_filename
        if path.startswith(_ROOT):
            return "" if is_test(path) else path
        frame = frame.f_back
    return ""


def start(write: Callable[..., None]) -> None:
    """Note each file of the project, and what it did, once."""
    inside: set[int] = set()
    noted: set[str] = set()

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event not in _WATCHED:
            return
        thread = threading.get_ident()
        if thread in inside:
            return
        inside.add(thread)
        try:
            frame = sys._getframe(1)
            # Tens of thousands of events are of no interest: the calls are gone through last.
            if not looks_in(event, args, frame.f_code.co_filename):
                return
            path = brought_about(frame)
            name = f"{path.removeprefix(_ROOT)}: {event}"
            if path and name not in noted:
                noted.add(name)
                write(t="looked", names=[name])
        finally:
            inside.discard(thread)

    sys.addaudithook(hook)
