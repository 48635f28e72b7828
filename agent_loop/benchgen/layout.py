"""Finds out how a library is tested: which tests, which packages, which pytest plugins."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

from agent_loop.checks.project.protected import TEST_NAMES
from agent_loop.checks.project.tree import Base

_NOT_TESTS = frozenset(
    ["docs", "doc", "examples", "example", "benchmarks", "benchmark", "scripts", "tools", "build"]
)
_FOLDERS = ("tests", "test")
_TESTPATHS = re.compile(rb"(?m)^\s*testpaths\s*=")
_CONFIGS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "pytest.toml")
_PYTHON = re.compile(r"""(?im)^\s*(?:requires-python|python_requires)\s*[=:]\s*["']?([^"'\n#]+)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the library's tests are run; every part can be given instead of found."""

    test_command: str
    requirements: tuple[str, ...] = ()
    """Pinned, as the image has them."""
    plugins: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """For the person who starts a build."""
        return [
            f"test command: {self.test_command}",
            f"requirements: {', '.join(self.requirements) or 'none'}",
            f"pytest plugins: {', '.join(self.plugins) or 'none'}",
            f"import path: {', '.join(self.python_path) or 'found by the check'}",
        ]

    def without(self, tests: Iterable[str]) -> "Layout":
        """The same with some tests left out."""
        more = "".join(f" --deselect '{one}'" for one in tests if "'" not in one)
        return replace(self, test_command=self.test_command + more)


def command_for(base: Base) -> str:
    """`pytest -q` with the places of the tests, unless the project names them itself."""
    if any(_TESTPATHS.search(base.read(name) or b"") for name in _CONFIGS):
        return "pytest -q"
    places = list(dict.fromkeys(_place(path) for path in test_files(base)))
    inner = [one for one in places if any(_within(one, other) for other in places)]
    chosen = [one for one in places if one not in inner]
    return " ".join(["pytest -q", *chosen])


def test_files(base: Base) -> list[str]:
    """Python files that hold tests, by their names."""
    return [
        path
        for path in sorted(base.digests)
        if TEST_NAMES.fullmatch(PurePosixPath(path).name)
        and path.endswith(".py")
        and not _NOT_TESTS & set(PurePosixPath(path).parts[:-1])
    ]


def is_test_path(path: str) -> bool:
    """Tests and their helpers; also docs and scripts, which nobody's tests are about."""
    place = PurePosixPath(path)
    folders = set(place.parts[:-1])
    return bool(
        folders & {*_FOLDERS, *_NOT_TESTS}
        or TEST_NAMES.fullmatch(place.name)
        or place.name in ("conftest.py", "setup.py", "noxfile.py", "tasks.py")
    )


def _place(path: str) -> str:
    """The outermost folder named for tests, else the file itself."""
    parts = PurePosixPath(path).parts
    for number, part in enumerate(parts[:-1]):
        if part in _FOLDERS:
            return "/".join(parts[: number + 1])
    return path


def _within(one: str, other: str) -> bool:
    return one != other and one.startswith(f"{other}/")


def declared(base: Base) -> tuple[str, ...]:
    """What the library says it needs at run time, as it says it."""
    text = _metadata(base)
    listed = re.findall(r"(?m)^Requires-Dist: (.+)$", text)
    if not text:
        listed = list(_project_table(base).get("dependencies", ()))
    return tuple(filter(None, (_applicable(str(one)) for one in listed)))


def _applicable(line: str) -> str:
    """Without its condition; empty where that does not hold in the image, or it is an extra's."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        return ""
    marker = requirement.marker
    if marker is not None and not marker.evaluate({"sys_platform": "linux", "extra": ""}):
        return ""
    return line.partition(";")[0].strip()


def declared_for_tests(base: Base) -> tuple[str, ...]:
    """What it names for its tests, in any of the usual places: looked at when a module misses."""
    table = _project_table(base)
    groups: Mapping[str, Any] = table.get("optional-dependencies", {})
    found = [one for name, group in groups.items() if _is_for_tests(name) for one in group]
    for name in sorted(base.digests):
        if re.fullmatch(
            r"(requirements/)?(requirements[-_])?(test|tests|dev)[\w-]*\.(txt|in)", name
        ):
            found += _plain_lines((base.read(name) or b"").decode("utf-8", "replace"))
    return tuple(one for one in found if isinstance(one, str))


def _is_for_tests(name: str) -> bool:
    return bool(re.match(r"(?i)test|dev", name))


def _plain_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        plain = line.partition("#")[0].strip()
        if plain and not plain.startswith("-"):
            yield plain


def wanted_python(base: Base) -> str:
    """The versions of Python it says it runs on; empty where it does not say."""
    found = re.search(r"(?m)^Requires-Python: (.+)$", _metadata(base))
    if found:
        return found[1].strip()
    for name in ("pyproject.toml", "setup.cfg", "setup.py"):
        text = (base.read(name) or b"").decode("utf-8", "replace")
        if said := _PYTHON.search(text):
            return said[1].strip()
    return ""


def _metadata(base: Base) -> str:
    text = (base.read("PKG-INFO") or b"").decode("utf-8", "replace")
    return text.partition("\n\n")[0]


def _project_table(base: Base) -> dict[str, Any]:
    try:
        table = tomllib.loads((base.read("pyproject.toml") or b"").decode("utf-8", "replace"))
    except tomllib.TOMLDecodeError:
        return {}
    project = table.get("project", {})
    return project if isinstance(project, dict) else {}


def named_like(module: str, packages: Sequence[str]) -> str:
    """The declared requirement that a missing module most likely comes from, else its own name."""
    plain = re.sub(r"[-_.]+", "", module).lower()
    for one in packages:
        name = re.split(r"[\s\[<>=!~;(@]", one, maxsplit=1)[0]
        flat = re.sub(r"[-_.]+", "", name).lower()
        if flat == plain or flat.removeprefix("python") == plain or flat == f"{plain}py":
            return one.partition(";")[0].strip()
    return module
