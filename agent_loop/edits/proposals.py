"""What a reply asks for, before anybody looked whether it fits."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The file somebody wrote beside an edit."""

    path: str | None
    """As cleaned from its line; `None`: nothing there names a file."""
    unchanged: bool = False
    """The line says that nothing changes."""
    said: str = ""
    """The line itself, for feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    """Put other lines where some lines are."""

    place: Place
    search: tuple[str, ...]
    new: tuple[str, ...]
    name: str
    """How feedback calls it: `block 2`, `hunk 1 of pkg/a.py`."""
    at: int | None = None
    """Line that a diff states, from 0."""
    open_end: bool | None = None
    """A diff's word on the final newline: True, there is none; None, as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A file from its first line to its last."""

    place: Place
    lines: tuple[str, ...]
    name: str
    closed: bool = True
    must_be_new: bool = False
    executable: bool = False
    open_end: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Take a file away."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Give a file another path; edits that follow name the new one."""

    place: Place
    to: str
    name: str


Proposal = Replace | Whole | Delete | Move
