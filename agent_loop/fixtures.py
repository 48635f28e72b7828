"""The frozen tasks of evals, pinned byte by byte: `python -m agent_loop.fixtures [--update]`.

`evals/FIXTURES.sha256` has the form that `sha256sum -c` reads. A report keeps the hash of each
task's files, so that results of different tasks are never compared by accident.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agent_loop import config, tasks
from agent_loop.errors import UserError
from agent_loop.paths import atomic_write, named
from agent_loop.tasks import ProjectTask, Task

PINS = "FIXTURES.sha256"
REFERENCES = "references"
"""Folder beside task files: `<task file stem>.md` is a reply that solves the task."""
_NOT_OURS = frozenset({"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache"})


def fixtures_folder() -> Path:
    """`evals/` of the clone this program runs from.

    Raises:
        UserError: it was installed without its clone.
    """
    folder = (config.clone() or Path()) / "evals"
    if not folder.is_dir():
        raise UserError(
            f"{folder}: there are no fixtures. Run from a clone, or name a suite: --suite DIR."
        )
    return folder


def task_hash(task: Task) -> str:
    """SHA-256 over every byte that a task consists of: its file, its project, its hidden tests.

    Raises:
        UserError: a file of it cannot be read.
    """
    parts: dict[str, str] = {"task": task.source_hash or _record_hash(task)}
    if isinstance(task, ProjectTask):
        for name, path in (("project", task.project), ("hidden", task.hidden_tests)):
            if path is not None:
                parts |= {f"{name}/{inner}": digest for inner, digest in _hashes(path).items()}
        if task.dockerfile is not None:
            parts["dockerfile"] = _hash(task.dockerfile)
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def reference_of(task: Task) -> str | None:
    """The reply that solves a task of a folder, if the folder has one."""
    if task.source is None:
        return None
    path = task.source.parent / REFERENCES / f"{task.source.stem}.md"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def changed(folder: Path) -> tuple[str, ...]:
    """What differs from the pins, one line each; empty: nothing does.

    Raises:
        UserError: the pins cannot be read.
    """
    pinned, there = _pins(folder), _hashes(folder)
    lines = [f"{name}: is gone" for name in pinned if name not in there]
    lines += [f"{name}: is new" for name in there if name not in pinned]
    lines += [f"{n}: was changed" for n, d in there.items() if pinned.get(n, d) != d]
    return tuple(sorted(lines))


def update(folder: Path) -> int:
    """Pin the files as they are; gives their number."""
    there = _hashes(folder)
    text = "".join(f"{digest}  {name}\n" for name, digest in sorted(there.items()))
    atomic_write(folder / PINS, text)
    return len(there)


def _pins(folder: Path) -> Mapping[str, str]:
    path = folder / PINS
    try:
        lines = path.read_text(encoding="ascii").splitlines()
        pairs = [line.split("  ", 1) for line in lines if line]
        return {name: digest for digest, name in pairs}
    except (OSError, ValueError) as error:
        raise UserError(
            f"{path}: cannot be read: {error}. Say: python -m agent_loop.fixtures --update"
        ) from error


def _hashes(folder: Path) -> dict[str, str]:
    try:
        return {path.relative_to(folder).as_posix(): _hash(path) for path in _files(folder)}
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error}.") from error


def _files(folder: Path) -> Iterable[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in _NOT_OURS or path.suffix == ".pyc" or path.name == PINS:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        elif path.is_file():
            yield path


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record_hash(task: Task) -> str:
    """Of a task that was made and not read from a file of its own."""
    is_project = isinstance(task, ProjectTask)
    places = {"source", "project", "dockerfile", *(["hidden_tests"] if is_project else [])}
    record = {key: value for key, value in tasks.to_record(task).items() if key not in places}
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def main(argv: Sequence[str]) -> int:
    """Check or update the pins; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m agent_loop.fixtures", description=__doc__)
    parser.add_argument("folder", nargs="?", type=named, help="default: evals/ of this clone")
    parser.add_argument("--update", action="store_true", help="pin the files as they are now")
    given = parser.parse_args(argv)
    try:
        folder = given.folder or fixtures_folder()
        if given.update:
            sys.stdout.write(f"{folder / PINS}: {update(folder)} files pinned\n")
            return 0
        lines = changed(folder)
    except (UserError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if lines:
        sys.stderr.write("".join(f"{folder / line}\n" for line in lines))
        sys.stderr.write(
            "The frozen tasks are not those that reports were made with. Undo the change, or, if "
            "it is meant: python -m agent_loop.fixtures --update\n"
        )
        return 1
    sys.stdout.write(f"{folder}: all files are as pinned\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
