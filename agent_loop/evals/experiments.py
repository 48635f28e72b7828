"""Experiments: a small patch over the configuration, and perhaps a rule, in one YAML file.

The top of the file holds configuration keys as config.yaml has them, and two keys of its own:
`about` (one line for people) and `rule` (see `rules`). An experiment cannot turn the sandbox off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_loop import config
from agent_loop.config import Config, Patch
from agent_loop.errors import ConfigError, ReportError
from agent_loop.evals.rules import Rule, rule_of
from agent_loop.store.reports import PlannedExperiment
from agent_loop.yamlfile import Document, Plain, YamlProblem, nearest
from agent_loop.yamlfile import load as load_yaml

FOLDER = "experiments"
CONTROL = "control"
_OWN_KEYS = ("about", "rule")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One variant, as its file says it."""

    name: str
    about: str
    patch: Patch
    rule: Rule | None

    @property
    def changes(self) -> Mapping[str, Plain]:
        """The configuration keys it sets."""
        return self.patch.document.data

    def planned(self) -> PlannedExperiment:
        """As it goes into the report, before the first attempt."""
        return PlannedExperiment(
            name=self.name,
            patch=self.changes,
            rule=self.rule.as_record() if self.rule else None,
            rule_hash=self.rule.hash() if self.rule else "",
        )


def known(folder: Path) -> list[str]:
    """Names of the experiments in a folder."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def find(name: str, folder: Path) -> Path:
    """The file of an experiment: a path, or a name in `folder`.

    Raises:
        ConfigError: neither; names the nearest one.
    """
    for path in (Path(name), folder / f"{name}.yaml"):
        if path.suffix in (".yaml", ".yml") and path.is_file():
            return path
    raise ConfigError(
        f"experiment '{name}'",
        f"there is none of that name in {folder}{nearest(name, known(folder))}",
    )


def load(path: Path) -> Experiment:
    """Read an experiment file. The patch itself is checked by `configured`.

    Raises:
        ConfigError: with the line, and the nearest known key where one is misspelt.
    """
    try:
        document = load_yaml(path)
    except YamlProblem as problem:
        raise _error(path, problem.line, f"the experiment {problem.problem}") from None
    keys = (*Config.model_fields, *_OWN_KEYS)
    for key in document.data:
        if key not in keys:
            raise _error(path, document.line(key), f"unknown key '{key}'{nearest(key, keys)}")
    about = document.data.get("about", "")
    if not isinstance(about, str):
        raise _error(path, document.line("about"), "'about' must be text")
    try:
        rule = rule_of(document)
    except YamlProblem as problem:
        raise _error(path, problem.line, problem.problem) from None
    patch = Patch(where=str(path), document=_without(document, _OWN_KEYS))
    return Experiment(name=path.stem, about=about.strip(), patch=patch, rule=rule)


def configured(
    experiment: Experiment,
    base: Path | None,
    env: Mapping[str, str],
    sets: Sequence[str] = (),
    patches: Sequence[Path] = (),
) -> Config:
    """The configuration with the experiment's patch over it, `sets` over that.

    Raises:
        ConfigError: an unknown key or prompt variant, or a sandbox that is turned off; names the
            line and the nearest known word.
    """
    return config.load(base, env, sets, (*patches, experiment.patch))


def refuse_changed(stored: PlannedExperiment | None, now: Experiment | None, label: str) -> None:
    """A report goes on with the experiment it began with, rule included.

    Raises:
        ReportError: another experiment, patch or rule than before the first attempt.
    """
    planned = now.planned() if now else None
    if stored == planned:
        return
    what = _changed(stored, planned)
    raise ReportError(
        f"report '{label}' began with {what}. What counts is what was written down before the "
        "first attempt; begin a new report with another --label."
    )


def _changed(stored: PlannedExperiment | None, now: PlannedExperiment | None) -> str:
    if stored is None or now is None:
        names = [f"'{one.name}'" if one else "none" for one in (stored, now)]
        return f"experiment {names[0]}, and now it is {names[1]}"
    if stored.rule_hash != now.rule_hash:
        return f"another rule (hash {stored.rule_hash[:12] or 'none'}, now {now.rule_hash[:12]})"
    if dict(stored.patch) != dict(now.patch):
        keys = sorted(
            k for k in {*stored.patch, *now.patch} if stored.patch.get(k) != now.patch.get(k)
        )
        return f"another patch (it differs in {', '.join(keys)})"
    return f"experiment '{stored.name}', and now it is '{now.name}'"


def _without(document: Document, keys: Sequence[str]) -> Document:
    data = {key: value for key, value in document.data.items() if key not in keys}
    lines = {path: line for path, line in document.lines.items() if not path or path[0] not in keys}
    return replace(document, data=data, lines=lines)


def _error(path: Path, line: int, problem: str) -> ConfigError:
    return ConfigError(f"{path}:{line}" if line else str(path), problem)
