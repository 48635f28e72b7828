"""The three kinds of task, as the rest of the program sees them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeTask:
    """A piece of Python, checked by asserts."""

    name: str
    task: str
    tests: tuple[str, ...]
    hidden_tests: tuple[str, ...] = ()
    """Judged, never shown to any model."""
    helpers: str = ""
    """Python of the task itself that the asserts use; lives on the judge's side."""
    isolation: Literal["separate", "shared"] | None = None
    """`None`: the file does not say; then separate, or refused where that cannot work."""
    source: Path | None = None
    source_hash: str = ""
    """SHA-256 of the file's bytes, hex."""
    kind: Literal["code"] = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectTask:
    """A directory, checked by its own tests."""

    name: str
    task: str
    project: Path
    """Absolute; copied, never written."""
    test_command: str = "pytest -q"
    requirements: tuple[str, ...] = ()
    pytest_plugins: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()
    install: Literal["none", "editable"] = "none"
    protected: tuple[str, ...] = ()
    allow_test_edits: bool = False
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    hidden_tests: Path | None = None
    allow_green_start: bool = False
    dockerfile: Path | None = None
    source: Path | None = None
    source_hash: str = ""
    kind: Literal["project"] = "project"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResearchTask:
    """A question, answered from fetched arXiv abstracts."""

    name: str
    task: str
    query: str
    max_papers: int = 10
    papers: Path | None = None
    """A frozen search result instead of the network."""
    full_text: bool = False
    numbers: Literal["check", "ignore"] = "check"
    base_url: str | None = None
    source: Path | None = None
    source_hash: str = ""
    kind: Literal["research"] = "research"


Task = CodeTask | ProjectTask | ResearchTask
