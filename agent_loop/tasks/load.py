"""Finds task files and reads them; every complaint names the file, the line and the fix."""

import difflib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from agent_loop.errors import TaskFileError
from agent_loop.tasks.model import CodeTask, ProjectTask, ResearchTask, Task
from agent_loop.tasks.shape import CodeShape, ProjectShape, ResearchShape, idle
from agent_loop.yamlfile import Document, YamlProblem, fit, nearest
from agent_loop.yamlfile import load as load_yaml

SUFFIXES = (".yaml", ".yml")
_SHOWN_CHARS = 60
KINDS = ("code", "project", "research")
_EXAMPLES = {"project": "fix_slugify", "research": "judge_bias"}
_TELLING = {"project": "project", "query": "research"}
"""Keys that only one kind of task has."""


def load(path: Path) -> Task:
    """Read one task file.

    Raises:
        TaskFileError: with the line of what is wrong.
    """
    kind = "code"
    try:
        document = load_yaml(path)
        kind = str(document.data.get("type", kind))
        return _task(document, path)
    except YamlProblem as problem:
        where = f"{path}:{problem.line}" if problem.line else str(path)
        raise TaskFileError(where, _sentence(problem.problem), _example(kind)) from None


def _example(kind: str) -> str:
    return f"See tasks/{_EXAMPLES.get(kind, 'fizzbuzz')}.yaml for an example."


def find(paths: Sequence[Path]) -> list[Path]:
    """The task files meant by files and folders, in order, each once; folders not recursively.

    Files named outright come back as they are, good or bad: `load` says what is wrong with them.

    Raises:
        TaskFileError: a path does not exist, or a folder holds no task file.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inner = sorted(p for p in path.iterdir() if p.suffix in SUFFIXES)
            if not inner:
                raise TaskFileError(
                    str(path), "the folder holds no .yaml file", "Name a task file."
                )
            found += inner
        elif path.exists():
            found.append(path)
        else:
            raise TaskFileError(str(path), "does not exist", _near_file(path))
    return list(dict.fromkeys(found))


def _near_file(path: Path) -> str:
    folder = path.parent
    files = [p for p in folder.iterdir() if p.suffix in SUFFIXES] if folder.is_dir() else []
    close = difflib.get_close_matches(path.stem, [p.stem for p in files], n=1, cutoff=0.6)
    near = next((p for p in files if close and p.stem == close[0]), None)
    return f"Did you mean {near}?" if near else "Name a task file or a folder of them."


def _task(document: Document, path: Path) -> Task:
    source_hash = hashlib.sha256(path.read_bytes()).hexdigest()
    kind = document.data.get("type", "code")
    if kind == "code":
        _refuse_other_kind(document)
        shape = fit(document, CodeShape)
        _refuse_idle(shape, document)
        return _code(shape, path, source_hash)
    if kind == "project":
        return _project(fit(document, ProjectShape), document, path, source_hash)
    if kind == "research":
        return _research(fit(document, ResearchShape), document, path, source_hash)
    hint = nearest(str(kind), KINDS)
    raise YamlProblem(document.line("type"), f"unknown type {_kind_shown(kind)}{hint}")


def _kind_shown(kind: object) -> str:
    text = ascii(str(kind))
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}...'"


def _refuse_other_kind(document: Document) -> None:
    meant = next((key for key in _TELLING if key in document.data), None)
    if meant and "type" not in document.data:
        raise YamlProblem(
            document.line(meant),
            f"'{meant}' belongs to another kind of task; add 'type: {_TELLING[meant]}'",
        )


def _refuse_idle(shape: CodeShape, document: Document) -> None:
    everything = (*shape.tests, *shape.hidden_tests, shape.helpers)
    for key, tests in (("tests", shape.tests), ("hidden_tests", shape.hidden_tests)):
        for n, test in enumerate(tests):
            if name := idle(test, everything):
                raise YamlProblem(
                    document.line(key, n),
                    f"'{key}[{n}]' has its asserts in {name}(), which nothing calls; call it, or "
                    "write them without a function",
                )


def _code(shape: CodeShape, path: Path, source_hash: str) -> CodeTask:
    return CodeTask(
        name=shape.name or _stem(path),
        task=shape.task,
        tests=shape.tests,
        hidden_tests=shape.hidden_tests,
        helpers=shape.helpers,
        isolation=shape.isolation,
        source=path,
        source_hash=source_hash,
    )


def _project(shape: ProjectShape, document: Document, path: Path, source_hash: str) -> ProjectTask:
    fields = shape.model_dump(exclude={"type", "name", "project", "hidden_tests", "dockerfile"})
    return ProjectTask(
        name=shape.name or _stem(path),
        project=_beside(path, shape.project, document, "project", folder=True),
        hidden_tests=_optional(path, shape.hidden_tests, document, "hidden_tests", folder=True),
        dockerfile=_optional(path, shape.dockerfile, document, "dockerfile", folder=False),
        source=path,
        source_hash=source_hash,
        **fields,
    )


def _research(
    shape: ResearchShape, document: Document, path: Path, source_hash: str
) -> ResearchTask:
    fields = shape.model_dump(exclude={"type", "name", "papers"})
    return ResearchTask(
        name=shape.name or _stem(path),
        papers=_optional(path, shape.papers, document, "papers", folder=False),
        source=path,
        source_hash=source_hash,
        **fields,
    )


def _optional(
    path: Path, relative: str | None, document: Document, key: str, *, folder: bool
) -> Path | None:
    return None if relative is None else _beside(path, relative, document, key, folder=folder)


def _beside(path: Path, relative: str, document: Document, key: str, *, folder: bool) -> Path:
    """A path of the task file, absolute. It may lead anywhere: the owner wrote it."""
    line = document.line(key)
    if "\0" in relative or not relative.strip():
        raise YamlProblem(line, f"'{key}' is no path")
    try:
        target = (path.parent / relative).resolve()
        there = target.exists()
    except (OSError, RuntimeError) as problem:  # a name too long, a circle of links
        why = getattr(problem, "strerror", None) or "links that lead in a circle"
        raise YamlProblem(line, f"'{key}' is no path: {why}") from None
    if not there:
        raise YamlProblem(line, f"'{key}' names {target}, which does not exist")
    if folder and not target.is_dir():
        raise YamlProblem(line, f"'{key}' must be a folder, and {target} is none")
    if not folder and target.is_dir():
        raise YamlProblem(line, f"'{key}' must be a file, and {target} is a folder")
    return target


def _stem(path: Path) -> str:
    """A plain name from the file's own."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip(".-")
    return name[:60].rstrip(".-") or "task"


def _sentence(problem: str) -> str:
    """`is empty` -> `the file is empty`; complaints about a key stand as they are."""
    starts = ("is ", "holds ", "does not ", "cannot ", "must be a map")
    return f"the file {problem}" if problem.startswith(starts) else problem
