"""A job to JSON and back: what a later process needs to go on with a run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from agent_loop.errors import ThreadError
from agent_loop.graph.parts import Job, Limits
from agent_loop.ports import Json
from agent_loop.prompts import Brief
from agent_loop.store import RunStore

VERSION = 1
FILE = "job.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A thread and what it is about."""

    thread: str
    job: Job
    started: str
    forked: str = ""
    """`THREAD@STEP` of the run it was forked from."""


def write_job(store: RunStore, begun: Begun) -> None:
    """Raises StoreFault when the disk refuses."""
    forked = {"forked": begun.forked} if begun.forked else {}
    fields = {"version": VERSION, "started": begun.started, **forked, **asdict(begun.job)}
    store.write_file(begun.thread, FILE, fields)


def read_job(store: RunStore, thread: str) -> Begun:
    """What a thread was started with.

    Raises:
        ThreadError: there is no such thread, or its file is none of ours.
    """
    fields = store.read_file(thread, FILE)
    if fields is None:
        raise ThreadError(f"thread '{thread}' is unknown. Say --list to see which there are.")
    try:
        forked = str(fields.get("forked") or "")
        started = str(fields["started"])
        return Begun(thread=thread, job=_job(fields), started=started, forked=forked)
    except (KeyError, TypeError, ValueError) as error:
        raise ThreadError(
            f"{store.folder(thread) / FILE}: not a job of this version ({error!r:.200}). "
            "Start the task again under a new --thread."
        ) from error


def _job(fields: Mapping[str, Any]) -> Job:
    if fields["version"] != VERSION:
        raise ValueError(f"version {fields['version']!r}")
    brief = fields["brief"]
    texts = ("name", "task_hash", "test_hash", "config_hash")
    if not all(isinstance(fields[name], str) for name in (*texts, "started")):
        raise TypeError("a text is none")
    kind = brief["kind"]
    if kind not in ("code", "project", "research"):
        raise ValueError(f"kind {kind!r}")
    return Job(
        brief=Brief(kind=kind, task=str(brief["task"]), tests=_texts(brief["tests"])),
        rejection_cap=int(fields["rejection_cap"]),
        samples=int(fields.get("samples", 1)),
        limits=Limits(**fields["limits"]),
        task=_mapping(fields["task"]),
        config=_mapping(fields["config"]),
        prompt_variants=_texts(fields["prompt_variants"]),
        prompt_chars=int(fields["prompt_chars"]),
        **{name: fields[name] for name in texts},
    )


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise TypeError("a list of texts is none")
    return tuple(value)


def _mapping(value: object) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise TypeError("a mapping is none")
    return value
