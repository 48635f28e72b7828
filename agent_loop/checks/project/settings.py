"""Finds the project's own pytest configuration and import path, before a patch can."""

import configparser
import re
import tomllib

from agent_loop.checks.project.command import TREE, PytestCall, Setting
from agent_loop.checks.project.tree import Base

_ALWAYS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
_SECTIONS = (
    ("pyproject.toml", re.compile(rb"(?m)^\[tool\.pytest(\.ini_options)?\]")),
    ("tox.ini", re.compile(rb"(?m)^\[pytest\]")),
    ("setup.cfg", re.compile(rb"(?m)^\[tool:pytest\]")),
)


def find_setting(
    base: Base, call: PytestCall, *, python_path: tuple[str, ...], plugins: tuple[str, ...]
) -> Setting:
    """How pytest runs in this project, whatever a later patch says."""
    config = _config(base)
    named = python_path or (*_configured(base, config), *_usual(base))
    roots = dict.fromkeys(_absolute(one) for one in named)
    return Setting(call=call, config=config, python_path=tuple(roots), plugins=plugins)


def relative_roots(setting: Setting) -> tuple[str, ...]:
    """The import path relative to the tree, for the rule against shadowing."""
    inside = [one.removeprefix(TREE).strip("/") for one in setting.python_path]
    return tuple(one for one in inside if one)


def _absolute(path: str) -> str:
    clean = path.strip().removeprefix("./").strip("/")
    return TREE if clean in ("", ".") else f"{TREE}/{clean}"


def _usual(base: Base) -> tuple[str, ...]:
    return ("src",) if any(name.startswith("src/") for name in base.digests) else (".",)


def _config(base: Base) -> str | None:
    for name in _ALWAYS:
        if name in base.digests:
            return name
    for name, section in _SECTIONS:
        if section.search(base.read(name) or b""):
            return name
    return None


def _configured(base: Base, config: str | None) -> tuple[str, ...]:
    """`pythonpath` of the project's own configuration, which ours replaces."""
    if config is None:
        return ()
    text = (base.read(config) or b"").decode("utf-8", "replace")
    try:
        value = _from_toml(text) if config.endswith(".toml") else _from_ini(text, config)
    except (tomllib.TOMLDecodeError, configparser.Error):
        return ()
    if isinstance(value, str):
        return tuple(value.split())
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _from_toml(text: str) -> object:
    table = tomllib.loads(text)
    tools = table.get("tool", table)
    pytest = tools.get("pytest", {}) if isinstance(tools, dict) else {}
    options = pytest.get("ini_options", pytest) if isinstance(pytest, dict) else {}
    return options.get("pythonpath") if isinstance(options, dict) else None


def _from_ini(text: str, config: str) -> str | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    section = "tool:pytest" if config == "setup.cfg" else "pytest"
    return parser.get(section, "pythonpath", fallback=None)
