"""Reads the layers, lays them over each other, and says which one was wrong."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr, ValidationError

from agent_loop.config.schema import DEFAULT_MODELS, Config
from agent_loop.errors import ConfigError
from agent_loop.yamlfile import Document, Plain, YamlProblem, first_problem
from agent_loop.yamlfile import load as load_yaml
from agent_loop.yamlfile import parse as parse_yaml

ALLOW_LOCAL = "AGENT_LOOP_ALLOW_LOCAL"
PATCH = "AGENT_LOOP_CONFIG"
_CAST = ("models", "model_options", "fallback")
_MACHINE = ("base_urls", "api_key_names", "model_timeouts", "retries", "sandbox",
            "sandbox_runtime", "sandbox_image", "sandbox_limits", "otel", "checkpoints",
            "runs_dir")  # fmt: skip
_LOCAL = (
    f"'sandbox: local' runs model-written code on this machine and needs {ALLOW_LOCAL}=1 "
    "in the environment as well"
)
_LOCAL_FIX = "Use 'sandbox: docker', or set the variable if you accept that."


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A patch that was read already: an experiment file without what is not configuration."""

    where: str
    """The file, for messages."""
    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    where: str
    """File name or `--set key`."""
    document: Document
    is_patch: bool
    has_lines: bool = True

    def place(self, path: tuple[str | int, ...]) -> str:
        return f"{self.where}:{self.document.line(*path)}" if self.has_lines else self.where

    def holds(self, path: tuple[str | int, ...]) -> bool:
        return path in self.document.lines


def clone() -> Path | None:
    """The root of the clone this program runs from; `None` where it was installed elsewhere."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "config.yaml").is_file() else None


def state_dir() -> Path:
    """Where what was made for this machine is remembered, the pinned image above all.

    In the clone where there is one; else one folder of the user, whatever folder a run starts in.
    """
    root = clone()
    if root is not None:
        return root / ".scratch"
    try:
        return Path.home() / ".cache" / "agent-loop"
    except RuntimeError:  # no home at all
        return Path(".scratch")


def base_file(folder: Path) -> Path | None:
    """The configuration that patches lie over: the clone's own, else one in `folder`."""
    path = (clone() or folder) / "config.yaml"
    return path if path.is_file() else None


def load(
    path: Path | None,
    env: Mapping[str, str],
    sets: Sequence[str] = (),
    patches: Sequence[Path | Patch] = (),
) -> Config:
    """The base file, the patch AGENT_LOOP_CONFIG names, `patches`, then `sets`; later wins.

    Maps are merged key by key. Only the base file may choose `sandbox: local`, and only together
    with AGENT_LOOP_ALLOW_LOCAL=1 in `env`.

    Args:
        path: the base file; `None` starts from the built-in defaults.
        env: the environment (a plain dict in tests).
        sets: `key.inner=value`, the value read as YAML.
        patches: files laid over the base, in this order, or patches that were read already.

    Raises:
        ConfigError: with the file and line, or the `--set`, that is wrong.
    """
    layers = [_file(path, is_patch=False)] if path else []
    named = [Path(env[PATCH])] if env.get(PATCH) else []
    layers += [_layer(patch) for patch in (*named, *patches)]
    layers += [_set(text) for text in sets]
    merged: dict[str, Plain] = {"models": {role: name for role, name in DEFAULT_MODELS.items()}}
    for layer in layers:
        _check_patch(layer)
        merged = _merge(merged, layer.document.data)
    config = _validated(merged, layers)
    if config.sandbox == "local" and env.get(ALLOW_LOCAL) != "1":
        raise ConfigError(_blamed(("sandbox",), layers), _LOCAL, _LOCAL_FIX)
    return _with_environment(config, env)


def from_record(
    record: Mapping[str, Any],
    env: Mapping[str, str],
    now: Config,
    sets: Sequence[str] = (),
    patches: Sequence[Path] = (),
) -> Config:
    """The configuration a run was started with, from `Config.as_record`, so that it can go on.

    Servers, time limits, the sandbox and the folder are those of `now`: they belong to the machine.
    `sets` and `patches` may change who plays which role, and nothing else of the run.

    Raises:
        ConfigError: the record was not written by this version, or a change that a run cannot take.
    """
    layers = [*(_file(patch, is_patch=True) for patch in patches), *(_set(text) for text in sets)]
    data: dict[str, Plain] = {**record}
    for layer in layers:
        for key in layer.document.data:
            if key not in (*_CAST, *_MACHINE):
                raise ConfigError(
                    layer.place((key,)),
                    f"a run that goes on keeps its '{key}'",
                    f"Only {', '.join(_CAST)} can be changed.",
                )
        data = _merge(data, layer.document.data)
    try:
        config = Config.model_validate({**data, **{name: getattr(now, name) for name in _MACHINE}})
    except ValidationError as error:
        path, problem = first_problem(error, Config)
        where = _blamed(path, layers) if layers else "stored configuration"
        raise ConfigError(where, problem) from None
    return _with_environment(config, env)


def for_this_process(text: str) -> Config:
    """A configuration that another process sent (`Config.model_dump_json`), with this one's keys.

    Raises:
        ConfigError: the other process runs another version.
    """
    try:
        config = Config.model_validate(json.loads(text))
    except ValidationError as error:
        raise ConfigError("sent configuration", first_problem(error, Config)[1]) from None
    return _with_environment(config, os.environ)


def _with_environment(config: Config, env: Mapping[str, str]) -> Config:
    keys = {
        "openai": env.get(config.api_key_names.openai, ""),
        "anthropic": env.get(config.api_key_names.anthropic, ""),
    }
    secrets = {name: SecretStr(key) for name, key in keys.items() if key}
    return config.with_secrets(secrets, allow_local=env.get(ALLOW_LOCAL) == "1")


def _layer(patch: Path | Patch) -> _Layer:
    if isinstance(patch, Patch):
        return _Layer(where=patch.where, document=patch.document, is_patch=True)
    return _file(patch, is_patch=True)


def _file(path: Path, *, is_patch: bool) -> _Layer:
    try:
        return _Layer(where=str(path), document=load_yaml(path), is_patch=is_patch)
    except YamlProblem as problem:
        where = f"{path}:{problem.line}" if problem.line else str(path)
        raise ConfigError(
            where, f"the configuration {problem.problem}", "See config.yaml for every key."
        ) from None


def _set(text: str) -> _Layer:
    key, equals, value = text.partition("=")
    parts = key.strip().split(".")
    if not equals or not all(parts):
        raise ConfigError(f"--set {text}", "is not KEY=VALUE", "Example: --set rejection_cap=5")
    try:
        inner: Plain = parse_yaml(f"value: {value}").data["value"]
    except YamlProblem as problem:
        raise ConfigError(f"--set {text}", f"the value {problem.problem}") from None
    lines: dict[tuple[str | int, ...], int] = {(): 1}
    for depth in range(len(parts), 0, -1):
        lines[tuple(parts[:depth])] = 1
        inner = {parts[depth - 1]: inner}
    if not isinstance(inner, dict):  # never: parts is not empty
        raise ConfigError(f"--set {text}", "is not KEY=VALUE")
    document = Document(data=inner, lines=lines)
    return _Layer(where=f"--set {text}", document=document, is_patch=True, has_lines=False)


def _check_patch(layer: _Layer) -> None:
    if layer.is_patch and layer.document.data.get("sandbox", "docker") != "docker":
        raise ConfigError(
            layer.place(("sandbox",)),
            "a patch can not turn the sandbox off",
            "Only config.yaml itself may say 'sandbox: local'.",
        )


def _merge(under: dict[str, Plain], over: dict[str, Plain]) -> dict[str, Plain]:
    merged = dict(under)
    for key, value in over.items():
        below = merged.get(key)
        both = isinstance(below, dict) and isinstance(value, dict)
        merged[key] = _merge(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _validated(data: dict[str, Plain], layers: Sequence[_Layer]) -> Config:
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        path_to, problem = first_problem(error, Config)
        raise ConfigError(_blamed(path_to, layers), problem, _fix(problem)) from None


def _blamed(path: tuple[str | int, ...], layers: Sequence[_Layer]) -> str:
    """The last layer that says something at `path`, or at the nearest thing around it."""
    for end in range(len(path), 0, -1):
        for layer in reversed(layers):
            if layer.holds(path[:end]):
                return layer.place(path)
    return layers[0].where if layers else "configuration"


def _fix(problem: str) -> str:
    return "" if "did you mean" in problem else "See config.yaml for every key and its meaning."
