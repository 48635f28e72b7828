"""What a report was made with, and where another one differs."""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import cast

from agent_loop import __version__
from agent_loop.assemble import Workshop
from agent_loop.config import Config
from agent_loop.evals.cases import filled, is_open
from agent_loop.fixtures import task_hash
from agent_loop.ports import Json, Sandbox
from agent_loop.store.reports import Identity
from agent_loop.tasks import ResearchTask, Task

_GATE = ("checks", "edits", "ports", "tasks")
_LOOP = ("graph", "prompts")
_MACHINE = frozenset(
    {"runs_dir", "sandbox_limits.pool", "base_urls", "model_timeouts", "retries", "arxiv_contact",
     "checkpoints", "api_key_names", "fallback"}
)  # fmt: skip
"""Settings that do not change what is measured."""


def identity(workshop: Workshop, tasks: Iterable[Task]) -> Identity:
    """Asks every model who it is.

    Raises:
        ModelUnavailable: a model cannot be asked.
        SandboxUnavailable: no sandbox.
    """
    given = list(tasks)
    runs_code = any(not isinstance(task, ResearchTask) for task in given)
    return Identity(
        fixtures={task.name: task_hash(task) for task in given},
        models=_models(workshop, given[0].name),
        config_hash=workshop.config.hash(),
        config=workshop.config.as_record(),
        harness=harness_of(workshop.benches.sandbox() if runs_code else None),
    )


def harness_of(sandbox: Sandbox | None) -> dict[str, Json]:
    """What judges, and in what. `None`: nothing runs in a container."""
    told = sandbox.describe() if sandbox else {}
    return {
        "version": __version__,
        "gate_hash": code_hash(_GATE),
        "loop_hash": code_hash(_LOOP),
        "image": told.get("image"),
        "runtime": told.get("runtime"),
    }


def _models(workshop: Workshop, task: str) -> dict[str, Json]:
    prints = workshop.fingerprints(filled(workshop.config, task, 1))
    return {
        role: {"name": name, "answered": name} if is_open(name) else prints[role]
        for role, name in workshop.config.models.items()
    }


@cache
def code_hash(rooms: tuple[str, ...]) -> str:
    """SHA-256 over the source of some rooms of this package."""
    digest = hashlib.sha256()
    for room in rooms:
        for name, raw in sorted(_files(resources.files("agent_loop") / room)):
            digest.update(f"{room}/{name}\0{len(raw)}\0".encode() + raw)
    return digest.hexdigest()


def _files(folder: object, under: str = "") -> Iterable[tuple[str, bytes]]:
    entry = cast("resources.abc.Traversable", folder)
    for inner in entry.iterdir():
        name = f"{under}{inner.name}"
        if inner.is_dir() and inner.name != "__pycache__":
            yield from _files(inner, f"{name}/")
        elif inner.name.endswith((".py", ".txt")):
            yield name, inner.read_bytes()


def gate_hash() -> str:
    """Of everything that decides about a reply."""
    return code_hash(_GATE)


def settings_differ(before: Mapping[str, Json], now: Config) -> list[str]:
    """Every setting that is not what it was, by name, but those of the machine."""
    was, is_ = _flat(before), _flat(now.as_record())
    names = sorted({*was, *is_})
    return [
        f"{name} was {_shown(was, name)} and is {_shown(is_, name)}"
        for name in names
        if was.get(name) != is_.get(name) and not _of_machine(name)
    ]


def maps_differ(what: str, before: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """The same for other maps: fingerprints, harness, fixtures. Keys of both sides only."""
    was, is_ = _flat(before), _flat(now)
    return [
        f"{what} {name} was {_shown(was, name)} and is {_shown(is_, name)}"
        for name in sorted({*was} & {*is_})
        if was[name] != is_[name]
    ]


def _of_machine(name: str) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in _MACHINE)


def _flat(data: Mapping[str, Json], under: str = "") -> dict[str, Json]:
    flat: dict[str, Json] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{under}{key}.")
        elif isinstance(value, tuple):
            flat[f"{under}{key}"] = list(value)
        else:
            flat[f"{under}{key}"] = value
    return flat


def _shown(flat: Mapping[str, Json], name: str) -> str:
    text = repr(flat[name]) if name in flat else "not set"
    return text if len(text) <= 70 else f"{text[:66]}…"
