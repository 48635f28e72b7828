"""Names and paths that cannot leave their place, and writes that are whole or not there."""

import argparse
import os
import re
import secrets
from pathlib import Path, PurePosixPath

from agent_loop.errors import ThreadError

MAX_THREAD_CHARS = 100
_THREAD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_WINDOWS_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_OWN_FILE = re.compile(r"(checkpoints\.sqlite.*|evals|.*\.json)", re.IGNORECASE)


class OutsidePath(ValueError):
    """A relative path that would leave its folder, or is no plain path at all."""


def thread_name(text: str) -> str:
    """Check a thread id: it becomes a folder, a file name and a mount path.

    Raises:
        ThreadError: the text is no plain name, or is one that `runs/` needs for itself.
    """
    problem = _thread_problem(text)
    if problem:
        raise ThreadError(
            f"thread {_shown(text)}: {problem}. "
            f"Use 1 to {MAX_THREAD_CHARS} letters, digits, '.', '_' or '-', e.g. fizzbuzz-2."
        )
    return text


def _thread_problem(text: str) -> str:
    if not text:
        return "the name is empty"
    if len(text) > MAX_THREAD_CHARS:
        return f"the name has {len(text)} characters"
    if not _THREAD.fullmatch(text):
        return "only letters, digits, '.', '_' and '-' may stand in it, and not '.' or '-' in front"
    if text.endswith(".") or _WINDOWS_DEVICE.fullmatch(text):
        return "some systems cannot have a folder of that name"
    if _OWN_FILE.fullmatch(text):
        return "the folder runs/ uses that name itself"
    return ""


def named(text: str) -> Path:
    """A path that a person names on a command line; whether it is there is another matter.

    Raises:
        argparse.ArgumentTypeError: this system can have no such path (a name too long, a circle of
            links), so that whatever looked at it would fail in a way of its own.
    """
    try:
        Path(text).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return Path(text)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise argparse.ArgumentTypeError(f"{_shown(text)} is no path: {why}") from None
    return Path(text)


def inside(root: Path, relative: str) -> Path:
    """The path of `relative` under `root`, links followed; it need not exist.

    Raises:
        OutsidePath: empty, absolute, with `..`, a backslash, a drive, control characters, or a link
            on the way that leads out of `root`.
    """
    if not relative or not relative.strip("/. "):
        raise OutsidePath(f"{_shown(relative)} names no file")
    if any(ord(char) < 32 or ord(char) == 127 for char in relative):
        raise OutsidePath(f"{_shown(relative)} holds a control character")
    if "\\" in relative or re.match(r"[A-Za-z]:", relative):
        raise OutsidePath(f"{_shown(relative)} is no plain path; use '/' between the parts")
    pure = PurePosixPath(relative)
    if pure.is_absolute() or ".." in pure.parts or relative.startswith("~"):
        raise OutsidePath(f"{_shown(relative)} leads outside the folder")
    top = root.resolve()
    try:
        target = top.joinpath(*pure.parts).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise OutsidePath(f"{_shown(relative)} cannot be followed: {error}") from error
    if not target.is_relative_to(top) or target == top:
        raise OutsidePath(f"{_shown(relative)} leads outside the folder through a link")
    return target


def atomic_write(path: Path, data: bytes | str, *, lasting: bool = True) -> None:
    """Write a whole file or nothing: temporary file, fsync, rename, fsync of the folder.

    Text becomes UTF-8; lone surrogates become `?`. Missing folders are made. Not `lasting`: without
    the two waits for the disk, for what is written again soon; a power cut may take it.

    Raises:
        OSError: the disk refused; what stood there before is untouched.
    """
    raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with temporary.open("xb") as file:
            file.write(raw)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    if lasting:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def append_line(path: Path, line: str) -> None:
    """Add one line with a single write; a torn line before it is closed first.

    Raises:
        OSError: the disk refused, perhaps in the middle: the line is then torn.
    """
    raw = line.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n"
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        size = os.lseek(handle, 0, os.SEEK_END)
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)
            if os.read(handle, 1) != b"\n":
                raw = b"\n" + raw
        if os.write(handle, raw) != len(raw):
            raise OSError(f"{path}: the disk took only a part of the line")
    finally:
        os.close(handle)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
