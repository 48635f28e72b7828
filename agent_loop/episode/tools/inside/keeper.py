"""Fills the workspace and reads it back. No program of a model ever runs in this container.

It shares the folder with the container where they do, so everything in it is hostile: names,
links, devices, modes, sizes. Nothing is followed, nothing is opened but regular files.
"""

import ctypes
import os
import stat
import sys
from collections.abc import Iterator
from typing import Any

from agent_loop.episode.tools.inside.frames import give, take

PR_SET_DUMPABLE = 4
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def main() -> None:
    """Answer until the pipe ends."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    root = str(sys.modules["agent_loop_settings"].ROOT)
    while True:
        request, body = take()
        if request["op"] == "put":
            put(root, request, memoryview(body))
        else:
            tree(root, request)


# --- in ---


def put(root: str, request: dict[str, Any], body: memoryview) -> None:
    """Lay files and links, whatever stands in their place now."""
    problem = ""
    try:
        for path, size, executable in request["files"]:
            lay(os.path.join(root, path), body[:size], executable=executable)
            body = body[size:]
        for path, aim in request["links"]:
            place = clear(os.path.join(root, path))
            os.symlink(aim, place)
    except OSError as error:
        problem = str(error)
    give({"problem": problem})


def lay(place: str, data: memoryview, *, executable: bool) -> None:
    number = os.open(clear(place), WRITE, 0o755 if executable else 0o644)
    try:
        while data:
            data = data[os.write(number, data) :]
    finally:
        os.close(number)


def clear(place: str) -> str:
    """Real folders on the way, nothing at the end."""
    folder = os.path.dirname(place)
    missing = []
    while not real_folder(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for one in reversed(missing):
        remove(one)
        os.mkdir(one, 0o755)
    remove(place)
    return place


def real_folder(place: str) -> bool:
    """Also makes it one that can be written to."""
    try:
        state = os.lstat(place)
    except OSError:
        return False
    if stat.S_ISDIR(state.st_mode) and state.st_mode & 0o700 != 0o700:
        os.chmod(place, 0o755)
    return stat.S_ISDIR(state.st_mode)


def remove(place: str) -> None:
    """Whatever is there; a folder with all that is in it."""
    try:
        mode = os.lstat(place).st_mode
    except OSError:
        return
    if not stat.S_ISDIR(mode):
        os.unlink(place)
        return
    os.chmod(place, 0o755)
    for name in os.listdir(place):
        remove(os.path.join(place, name))
    os.rmdir(place)


# --- out ---


def tree(root: str, request: dict[str, Any]) -> None:
    """One frame for each file, then one that says what was left out."""
    left: list[tuple[str, str]] = []
    skip, most_bytes, room = set(request["skip"]), request["file_bytes"], request["total_bytes"]
    for path, state in walk(root, skip, left):
        why = odd(state)
        if not why and state.st_size > most_bytes:
            why = f"larger than {most_bytes} bytes"
        if not why and state.st_size > room:
            why = "the files are too large together"
        data = b""
        if not why:
            data, why = content(os.path.join(root, path), state)
        if why:
            left.append((path, why))
        else:
            room -= len(data)
            give({"path": path, "executable": bool(state.st_mode & stat.S_IXUSR)}, data)
    give({"end": True, "left": left})


def walk(
    root: str, skip: set[str], left: list[tuple[str, str]]
) -> Iterator[tuple[str, os.stat_result]]:
    """Everything that is no folder, sorted, by its path below `root`."""
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        place = os.path.join(root, folder)
        try:
            real_folder(place)
            names = sorted(os.listdir(place))
        except OSError as error:
            left.append((folder, f"cannot be listed: {error.strerror}"))
            continue
        for name in names:
            path = f"{folder}/{name}" if folder else name
            try:
                state = os.lstat(os.path.join(place, name))
            except OSError as error:
                left.append((path, f"cannot be looked at: {error.strerror}"))
                continue
            if not stat.S_ISDIR(state.st_mode):
                yield path, state
            elif name not in skip:
                waiting.append(path)


def odd(state: os.stat_result) -> str:
    """Why this is no plain file; empty if it is one."""
    if stat.S_ISLNK(state.st_mode):
        return "a symbolic link"
    # The host knows both texts.
    return "" if stat.S_ISREG(state.st_mode) else "neither a file nor a folder"


def content(place: str, state: os.stat_result) -> tuple[bytes, str]:
    """Its bytes, and why not."""
    try:
        if not state.st_mode & stat.S_IRUSR:
            os.chmod(place, 0o600)
        number = os.open(place, READ)
        try:
            return whole(number, state.st_size), ""
        finally:
            os.close(number)
    except OSError as error:
        return b"", f"cannot be read: {error.strerror}"


def whole(number: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(number, min(size - len(data), 1 << 20))
        if not piece:
            break
        data += piece
    return bytes(data)
