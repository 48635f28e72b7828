"""Finds lines in the project: a program of its own, so that a slow pattern can be killed."""

import os
import re
import stat
import sys
from collections.abc import Iterator

FILE_BYTES = 2 << 20
LINE_CHARS = 300


def main(pattern: str, where: str, most: int, root: str, skip: set[str]) -> None:
    """Print `path:line: text` for each line that matches."""
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise SystemExit(f"no regular expression: {problem}") from None
    place = os.path.realpath(os.path.join(root, where))
    if place != root and not place.startswith(root + "/"):
        raise SystemExit(f"{where}: it leads out of the project")
    if not os.path.exists(place):
        raise SystemExit(f"{where}: No such file or directory")
    count = 0
    for path in files(place, skip):
        for number, line in enumerate(lines(path), 1):
            if wanted.search(line):
                count += 1
                if count > most:
                    print(f"[... more than {most} lines match; the rest is left out ...]")
                    return
                name = os.path.relpath(path, root)
                print(f"{name}:{number}: {line[:LINE_CHARS]}".encode("utf-8", "replace").decode())


def files(place: str, skip: set[str]) -> Iterator[str]:
    """Of a folder and those in it, sorted."""
    if not os.path.isdir(place):
        yield place
        return
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in skip)
        for name in sorted(names):
            yield os.path.join(folder, name)


def lines(path: str) -> list[str]:
    """Of a text file; nothing for anything else."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return []
    with os.fdopen(number, "rb") as file:
        state = os.fstat(number)
        if not stat.S_ISREG(state.st_mode) or state.st_size > FILE_BYTES:
            return []
        data = file.read()
    return [] if b"\0" in data else data.decode("utf-8", "replace").splitlines()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], set(sys.argv[5].split(",")))
