"""What `reproduce` fixed before any model was asked: the tests, their outcomes, the wanted ones."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from agent_loop.checks.project.records import BAD, Outcome
from agent_loop.checks.project.twins.place import NodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """The red run, as everything later is compared with it."""

    outcomes: Mapping[str, Outcome]
    """By id, flaky ones left out."""
    kinds: Mapping[str, str]
    wanted: tuple[str, ...]
    by_import: tuple[str, ...] = ()
    """Wanted tests whose file could not be imported: `path::name`, parameters unknown."""
    flaky: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    """Functions of Python or pytest that the untouched project replaces itself."""
    looked: tuple[str, ...] = ()
    """Files of the untouched project that look into its tests, each with how."""
    notes: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """How each wanted test failed."""
    keep: tuple[str, ...] | None = None
    """`pass_to_pass` of the task; `None`: every test that passed."""
    green_start: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """What a full run runs: without those that fail and are not wanted."""
        wanted = set(self.wanted)
        kept = [
            one
            for one, outcome in self.outcomes.items()
            if one in wanted or (outcome not in BAD and self._keeps(one))
        ]
        return (*kept, *self.by_import)

    @property
    def all_wanted(self) -> tuple[str, ...]:
        return (*self.wanted, *self.by_import)

    def _keeps(self, name: str) -> bool:
        return self.keep is None or name in self.keep

    @property
    def test_files(self) -> tuple[str, ...]:
        """Files of all frozen tests but doctests, whose text is in the sources."""
        ids = [one for one in self.outcomes if self.kinds.get(one) != "doctest"]
        return tuple(sorted({NodeId.parse(one).path for one in (*ids, *self.by_import)}))

    def as_record(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Frozen":
        """Raises TypeError for a record of another shape."""
        fields: dict[str, Any] = {"looked": (), **record}
        for name in ("wanted", "by_import", "flaky", "installed", "replaced", "looked", "notes"):
            fields[name] = _words(fields[name])
        for name in ("outcomes", "kinds", "texts"):
            _words([*fields[name].values(), *fields[name]])
        if fields["keep"] is not None:
            fields["keep"] = _words(fields["keep"])
        return cls(**fields)


def _words(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise TypeError("no list of texts")
    return tuple(values)


def expand(wanted: Sequence[str], ids: Sequence[str]) -> dict[str, list[str]]:
    """The ids that each wanted name stands for: itself, or all its parameter sets."""
    return {
        name: [one for one in ids if one == name or one.startswith(f"{name}[")] for name in wanted
    }
