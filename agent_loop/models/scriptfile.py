"""The YAML form of a script."""

from collections.abc import Mapping
from pathlib import Path
from typing import get_args

from agent_loop.errors import ConfigError
from agent_loop.models.scripted import FAULTS, Line
from agent_loop.ports import BadCall, Json, Role, ToolCall
from agent_loop.yamlfile import YamlProblem
from agent_loop.yamlfile import load as load_yaml

_ROLES: tuple[str, ...] = get_args(Role)


def read_script(path: Path) -> Mapping[str, tuple[Line, ...]]:
    """The lines of a script file by role; the key `replies` holds those any role may take.

    Raises:
        ConfigError: the file cannot be used; says which entry and why.
    """
    try:
        data = load_yaml(path).data
    except (OSError, YamlProblem) as error:
        raise ConfigError(str(path), f"cannot be read as a script: {error}") from error
    known = {*_ROLES, "replies"}
    if not data or set(data) - known:
        raise ConfigError(
            str(path), "is not a script", f"Give lists of replies under {', '.join(sorted(known))}."
        )
    return {role: _lines(f"{path}: {role}", entries) for role, entries in data.items()}


def _lines(where: str, entries: Json) -> tuple[Line, ...]:
    if not isinstance(entries, list):
        raise ConfigError(where, "is not a list of replies")
    return tuple(_line(f"{where}[{n}]", entry) for n, entry in enumerate(entries))


def _line(where: str, entry: Json) -> Line:
    if isinstance(entry, str):
        return Line(text=entry)
    if not isinstance(entry, Mapping):
        raise ConfigError(where, "is neither a text nor a mapping")
    unknown = set(entry) - set(Line.__dataclass_fields__)
    if unknown:
        known = ", ".join(Line.__dataclass_fields__)
        raise ConfigError(where, f"unknown key {min(unknown, key=str)!r}", f"Known: {known}.")
    return _checked(where, entry)


def _checked(where: str, entry: Mapping[str, Json]) -> Line:
    text, reasoning = entry.get("text", ""), entry.get("reasoning", "")
    delay_s, fault = entry.get("delay_s", 0.0), entry.get("fault")
    if not isinstance(text, str) or not isinstance(reasoning, str):
        raise ConfigError(where, "text and reasoning must be texts", "Put quotes around them.")
    if isinstance(delay_s, bool) or not isinstance(delay_s, int | float) or delay_s < 0:
        raise ConfigError(where, "delay_s must be a number of seconds")
    if fault is not None and fault not in FAULTS:
        raise ConfigError(where, f"unknown fault {fault!r}", f"Known: {', '.join(FAULTS)}.")
    if entry.get("finish", "stop") not in {"stop", "length"}:
        raise ConfigError(where, "finish must be stop or length")
    return Line(
        tool_calls=_calls(where, entry.get("tool_calls", [])),
        refused=entry.get("refused") is True,
        text=text,
        reasoning=reasoning,
        finish="length" if entry.get("finish") == "length" else "stop",
        delay_s=float(delay_s),
        fault=next((f for f in FAULTS if f == fault), None),
        context_cut=entry.get("context_cut") is True,
        usage=entry.get("usage") is not False,
    )


def _calls(where: str, entries: Json) -> tuple[ToolCall | BadCall, ...]:
    if not isinstance(entries, list):
        raise ConfigError(where, "tool_calls must be a list")
    return tuple(_call(f"{where}.tool_calls[{n}]", entry) for n, entry in enumerate(entries))


def _call(where: str, entry: Json) -> ToolCall | BadCall:
    """A call; one whose arguments are a text is what a provider gives for JSON it cannot read."""
    if not isinstance(entry, Mapping) or set(entry) - {"id", "name", "arguments"}:
        raise ConfigError(where, "is no call", "Give name and arguments, and an id if it matters.")
    name, given, id_ = entry.get("name"), entry.get("arguments", {}), entry.get("id", "")
    if not isinstance(name, str) or not isinstance(id_, str):
        raise ConfigError(where, "name and id must be texts")
    if isinstance(given, str):
        return BadCall(id=id_, name=name, text=given, problem="the arguments are not JSON")
    if not isinstance(given, Mapping):
        raise ConfigError(where, "arguments must be a mapping (or a text, for a broken call)")
    return ToolCall(id=id_, name=name, arguments=given)
