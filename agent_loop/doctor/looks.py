"""One look at each thing a run needs. A look never raises what a person can mend."""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agent_loop.assemble import Workshop
from agent_loop.errors import AgentLoopError
from agent_loop.ports import Json

MIN_PYTHON = (3, 11)
MIN_FREE_MIB = 1024
TRACING = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING_V2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one look saw."""

    what: str
    ok: bool | None
    """`None`: worth knowing, stops nothing."""
    detail: str
    fix: str = ""
    exit_code: int = 1


def python_and_system() -> Iterator[Found]:
    """The interpreter and the machine."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info[:2] >= MIN_PYTHON
    fix = "" if good else "Install Python 3.11, 3.12 or 3.13."
    yield Found(what="python", ok=good, detail=f"{version} on {sys.platform}", fix=fix, exit_code=2)


def disk(root: Path) -> Iterator[Found]:
    """Room and the right to write where the runs go."""
    place = next(p for p in (root, *root.absolute().parents) if p.exists())
    free = shutil.disk_usage(place).free >> 20
    writable = os.access(place, os.W_OK)
    if not writable:
        fix = f"Make {place} writable, or say --set runs_dir=FOLDER."
        yield Found(what="disk", ok=False, detail=f"{place} cannot be written", fix=fix)
        return
    good = free >= MIN_FREE_MIB
    fix = "" if good else f"Free some room: at least {MIN_FREE_MIB:,} MiB."
    yield Found(what="disk", ok=good, detail=f"{free:,} MiB free at {place}", fix=fix)


def database(path: Path) -> Iterator[Found]:
    """The checkpoint database, read only: a look must not change it."""
    if not path.exists():
        detail = f"{path} is not there yet; the first run makes it"
        yield Found(what="database", ok=True, detail=detail)
        return
    fix = f"Move {path} and its -wal and -shm files away; finished records stay readable."
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
            said = str(base.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        said = str(error)
    good = said == "ok"
    size = path.stat().st_size >> 10
    detail = f"{path}: {said}, {size:,} KiB"
    yield Found(what="database", ok=good, detail=detail, fix="" if good else fix)


def sandbox(workshop: Workshop) -> Iterator[Found]:
    """Engine, image and every protection, looked at inside a real container."""
    try:
        box = workshop.benches.sandbox()
        lines = box.probe()
    except AgentLoopError as error:
        yield Found(what="sandbox", ok=False, detail=str(error), exit_code=error.exit_code)
        return
    described = ", ".join(f"{key} {_short(value)}" for key, value in box.describe().items())
    yield Found(what="sandbox", ok=True, detail=described)
    for line in lines:
        detail = f"{line.protection}: {line.detail}"
        fix = "" if line.held else "No model code runs until this holds."
        yield Found(what="probe", ok=line.held, detail=detail, fix=fix, exit_code=3)


def models(workshop: Workshop) -> Iterator[Found]:
    """Every configured role's model can be asked."""
    notes: list[str] = []
    try:
        names = workshop.preflight(notes.append)
    except AgentLoopError as error:
        for line in str(error).splitlines():
            yield Found(what="models", ok=False, detail=line, exit_code=error.exit_code)
        return
    for note in notes:
        yield Found(what="models", ok=None, detail=note)
    for role, name in names.items():
        # Where stand-ins play, the notes name them: the configured name would not be what answers.
        yield Found(what="models", ok=True, detail=f"{role}: {'can be asked' if notes else name}")


def tracing(env: Mapping[str, str]) -> Iterator[Found]:
    """Whether LangSmith's variables are set; a run switches its tracing off whatever they say."""
    on = [name for name in TRACING if env.get(name, "").lower() in ("1", "true")]
    if on:
        detail = f"LangSmith: {', '.join(on)} is set; runs switch it off: nothing is sent"
        yield Found(what="tracing", ok=None, detail=detail)
    else:
        yield Found(
            what="tracing", ok=True, detail="LangSmith is off: none of its variables is set"
        )


def telemetry(workshop: Workshop) -> Iterator[Found]:
    """Whether spans leave the machine, where to, and what is in them."""
    settings = workshop.config.otel
    if not settings.enabled:
        yield Found(what="telemetry", ok=True, detail="off: otel.enabled is false")
        return
    where = settings.endpoint or "where OTEL_EXPORTER_OTLP_* say"
    texts = "prompts and replies too" if settings.prompts else "no prompt or reply"
    yield Found(what="telemetry", ok=None, detail=f"spans go to {where}: {texts}")
    if find_spec("opentelemetry") is None:
        yield Found(
            what="telemetry", ok=False, detail="OpenTelemetry is not installed",
            fix="Say: pip install 'agent-loop[otel]'.", exit_code=2,
        )  # fmt: skip


def looks(workshop: Workshop, env: Mapping[str, str]) -> list[Callable[[], Iterator[Found]]]:
    """All of them, the quick ones first."""
    store = workshop.store
    return [
        python_and_system,
        lambda: disk(store.root),
        lambda: database(store.checkpoints),
        lambda: tracing(env),
        lambda: telemetry(workshop),
        lambda: models(workshop),
        lambda: sandbox(workshop),
    ]


def _short(value: Json) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:79] + "…"
