"""Paths that a patch may not touch: what decides must be what the owner wrote."""

import re
import sys
import unicodedata
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from agent_loop.checks.project.source.text import words

_TEST_FOLDERS = words("tests test __tests__ testing_data")
TEST_NAMES = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py|.*\.(test|spec)\.[cm]?[jt]sx?")
_CONFIG_NAMES = words(
    "conftest.py sitecustomize.py usercustomize.py .coveragerc Makefile GNUmakefile makefile "
    "package.json package-lock.json setup.py noxfile.py .pytest.ini requirements.txt"
)
_CONFIG_ENDINGS = (".ini", ".toml", ".cfg", ".pth", ".egg-link")
_COMPILED = (".pyc", ".pyo", ".so", ".pyd", ".dll", ".dylib")
_CUSTOMIZE = words("sitecustomize usercustomize")
_ALWAYS_TAKEN = words("pytest _pytest pluggy iniconfig packaging pygments py unittest")


@dataclass(frozen=True, kw_only=True)
class Protection:
    """The path rules of one project."""

    known: frozenset[str]
    """Every file of the untouched project."""
    test_files: frozenset[str] = frozenset()
    """Files that the frozen tests were collected from."""
    globs: tuple[str, ...] = ()
    """More of them, from the task."""
    allow_test_edits: bool = False
    roots: tuple[str, ...] = ("",)
    """Folders of the tree from which modules are imported by their bare name."""
    installed: frozenset[str] = field(default=frozenset())
    """Top-level modules of the image."""

    def __call__(self, path: str) -> bool:
        return self.why(path) is not None

    def why(self, path: str) -> str | None:
        """Why this path may not change; `None` if it may."""
        # Where a disk tells no case from another, one of these names is the other's file.
        plain = folded(path)
        named = {path, plain, self._spelled.get(plain, path)}
        return next(filter(None, map(self._by_name, sorted(named))), None) or self._shadows(path)

    def _by_name(self, path: str) -> str | None:
        return (
            self._configuration(path)
            or self._compiled(path)
            or self._test(path)
            or self._listed(path)
        )

    def _configuration(self, path: str) -> str | None:
        place = PurePosixPath(path)
        names = {place.name, *place.parts} & _CONFIG_NAMES
        parts = {part.removesuffix(".py") for part in place.parts}
        if names or place.name.endswith(_CONFIG_ENDINGS) or parts & _CUSTOMIZE:
            return "configuration decides how the tests run"
        if any(part.endswith((".egg-info", ".dist-info")) for part in place.parts):
            return "package metadata decides what is loaded"
        return "it belongs to git" if ".git" in place.parts else None

    def _compiled(self, path: str) -> str | None:
        place = PurePosixPath(path)
        if "__pycache__" in place.parts or place.name.endswith(_COMPILED):
            return "compiled files cannot be read by anybody"
        return None

    def _test(self, path: str) -> str | None:
        if self.allow_test_edits:
            return None
        place = PurePosixPath(path)
        in_folder = any(part in _TEST_FOLDERS for part in place.parts[:-1])
        if in_folder or TEST_NAMES.fullmatch(place.name) or path in self.test_files:
            return "tests are not the worker's to change"
        return None

    def _listed(self, path: str) -> str | None:
        if any(one.fullmatch(path) for one in self._patterns):
            return "the task protects it"
        return None

    def _shadows(self, path: str) -> str | None:
        if path in self.known or not path.endswith((".py", ".pyi")):
            return None
        for root in self._import_roots:
            inside = path.removeprefix(f"{root}/") if root else path
            if root and inside == path:
                continue
            first = inside.split("/")[0]
            name = first.removesuffix(".py").removesuffix(".pyi")
            taken = name in self._taken and f"{root}/{first}".lstrip("/") not in self._tops
            if taken:
                return f"it would stand in for the module '{name}'"
        return None

    @cached_property
    def _spelled(self) -> dict[str, str]:
        """Every file of the project by its folded name."""
        return {folded(one): one for one in sorted(self.known | self.test_files)}

    @cached_property
    def _import_roots(self) -> frozenset[str]:
        """Those of the task, and where pytest puts test files: their folder, or their package's."""
        deciding = {one for one in self.known if PurePosixPath(one).name == "conftest.py"}
        return frozenset(("", *self.roots, *map(self._root_of, deciding | self.test_files)))

    def _root_of(self, path: str) -> str:
        folder = PurePosixPath(path).parent
        while folder.name and str(folder / "__init__.py") in self.known:
            folder = folder.parent
        return str(folder) if folder.name else ""

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(translate(one)) for one in self.globs)

    @cached_property
    def _taken(self) -> frozenset[str]:
        return self.installed | sys.stdlib_module_names | _ALWAYS_TAKEN

    @cached_property
    def _tops(self) -> frozenset[str]:
        """Files and folders of the project, by path."""
        found = set(self.known)
        for path in self.known:
            found.update(str(parent) for parent in PurePosixPath(path).parents)
        return frozenset(found)


def folded(path: str) -> str:
    """One text for names that some systems take for one: by case, and by how accents are made."""
    return unicodedata.normalize("NFC", path).casefold()


def translate(glob: str) -> str:
    """A glob as a regular expression: `**` crosses folders; without `/` it fits any folder."""
    pattern = glob.strip().removeprefix("./")
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    out = ""
    for piece in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        out += _GLOB.get(piece, re.escape(piece))
    return out


_GLOB = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
