"""Whether reports may be compared, and what differs where they may not."""

from collections.abc import Iterator, Mapping, Sequence

from agent_loop.ports import Json
from agent_loop.store.report import Report

_MACHINE = frozenset(
    {"base_urls", "api_key_names", "runs_dir", "arxiv_contact", "checkpoints", "model_timeouts",
     "retries", "fallback", "pool"}
)  # fmt: skip
"""Keys of the configuration that say where, not how."""
_CAST = frozenset({"models", "model_options", "fallback"})


def differences(reports: Sequence[Report]) -> list[str]:
    """What forbids to compare the reports, one line each; empty: they may be compared.

    Fixtures, models, harness and configuration must be those of the first report. What the patch of
    an experiment changes is what is being compared, so it may differ.
    """
    if not reports:
        return []
    first, found = reports[0], []
    for other in reports[1:]:
        found += [f"{line} ({first.label} / {other.label})" for line in _between(first, other)]
    return found


def _between(first: Report, other: Report) -> Iterator[str]:
    ours, theirs = first.identity, other.identity
    yield from _fixtures(ours.fixtures, theirs.fixtures)
    patched = _patched(first) | _patched(other)
    yield from _models(ours.models, theirs.models, patched)
    for key in sorted({*ours.harness, *theirs.harness}):
        yield from _unequal(f"harness {key}", ours.harness.get(key), theirs.harness.get(key))
    # Models are compared by what answered, above; how they were asked, by the configuration.
    for key in sorted({*ours.config, *theirs.config} - patched - _MACHINE - {"models"}):
        yield from _unequal(f"configuration {key}", ours.config.get(key), theirs.config.get(key))
    for key in sorted({*first.plan.limits, *other.plan.limits} - patched):
        yield from _unequal(f"limit {key}", first.plan.limits.get(key), other.plan.limits.get(key))


def _patched(report: Report) -> set[str]:
    experiment = report.plan.experiment
    return set(experiment.patch) if experiment else set()


def _fixtures(ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for task in sorted({*ours, *theirs}):
        a, b = ours.get(task), theirs.get(task)
        if a is None or b is None:
            yield f"task '{task}' is in one report only"
        elif a != b:
            yield f"the files of task '{task}' changed: {a[:12]} against {b[:12]}"


def _models(
    ours: Mapping[str, Json], theirs: Mapping[str, Json], patched: set[str]
) -> Iterator[str]:
    if "models" in patched:
        return
    for role in sorted({*ours, *theirs}):
        a, b = _print(ours.get(role), patched), _print(theirs.get(role), patched)
        yield from _unequal(f"model of {role}", a, b)


def _print(value: Json, patched: set[str]) -> Json:
    """A fingerprint without what says nothing new: options that an experiment sets on purpose, and
    the name of what answered where it is the one that was configured.
    """
    if not isinstance(value, Mapping):
        return value
    dropped = {"options"} if patched & _CAST else set()
    if value.get("answered") == value.get("name"):
        dropped.add("answered")
    return {key: inner for key, inner in value.items() if key not in dropped}


def _unequal(what: str, a: Json, b: Json) -> Iterator[str]:
    if a == b:
        return
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in sorted({*a, *b} - _MACHINE):
            yield from _unequal(f"{what} {key}", a.get(key), b.get(key))
    else:
        yield f"{what}: {_shown(a)} against {_shown(b)}"


def _shown(value: Json) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
