"""Says whether pytest and what it stands on are still as they were installed.

verify_pytest.py snapshot PICTURE HELD    remember every file; write `name==version` lines to HELD
verify_pytest.py check PICTURE            exit code 1 when a requirement changed or shadowed one

Runs while a project's image is built, with the image's own interpreter and nothing else.
"""

import hashlib
import importlib.metadata as metadata
import json
import re
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOTS = ("pytest", "pytest-timeout", "coverage")
# Run at every start of the interpreter, before any test and before pytest itself.
STARTERS = ("sitecustomize", "usercustomize")
# Of setuptools; it only chooses whose distutils is meant.
HARMLESS_START = "import os; var = 'SETUPTOOLS_USE_DISTUTILS'"


Picture = dict[str, Any]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def reserved() -> dict[str, metadata.Distribution]:
    """The roots and all that they need, by normal name."""
    found: dict[str, metadata.Distribution] = {}
    names = list(ROOTS)
    while names:
        name = normal(names.pop())
        if name in found:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed on another system or by an extra only
        names += [re.split(r"[\s;<>=!~\[(]", line)[0] for line in found[name].requires or ()]
    return found


def files(distribution: metadata.Distribution) -> dict[str, str]:
    """SHA-256 of every installed file that can run or be read as data."""
    sums = {}
    for file in distribution.files or ():
        path = Path(str(distribution.locate_file(file))).resolve()
        if path.suffix != ".pyc" and path.is_file():
            sums[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return sums


def picture() -> Picture:
    found = reserved()
    return {
        "versions": {name: one.version for name, one in sorted(found.items())},
        "files": {path: sha for one in found.values() for path, sha in files(one).items()},
        "starts": sorted(starts()),
    }


def starts() -> set[str]:
    """Everything in site-packages that runs by itself when the interpreter starts."""
    folder = Path(sysconfig.get_path("purelib"))
    found = {f"{name}" for name in STARTERS if list(folder.glob(f"{name}*"))}
    for path in folder.glob("*.pth"):
        for line in path.read_text("utf-8", "replace").splitlines():
            if line.startswith(("import ", "import\t")) and not line.startswith(HARMLESS_START):
                found.add(f"{path.name}: {line[:80]}")
    return found


def shadows(owned: dict[str, str]) -> set[str]:
    """Files of nobody's, in a folder of the reserved ones or beside it under its name."""
    folder = Path(sysconfig.get_path("purelib"))
    tops = {Path(path).relative_to(folder).parts[0] for path in owned if is_inside(path, folder)}
    packages = {top for top in tops if (folder / top).is_dir() and not top.endswith(".dist-info")}
    packages -= {"__pycache__"}
    found = set()
    for top in packages | {top.removesuffix(".py") for top in tops if top.endswith(".py")}:
        found |= {str(path) for path in folder.glob(f"{top}.*") if path.is_file()}
        found |= {str(path) for path in (folder / top).rglob("*") if path.is_file()}
    return {path for path in found if path not in owned and not path.endswith(".pyc")}


def is_inside(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder)


def problems(before: Picture) -> list[str]:
    now = picture()
    said = []
    for name, version in before["versions"].items():
        if now["versions"].get(name) != version:
            said.append(f"{name} {version} became {now['versions'].get(name)}")
    for path, sha in before["files"].items():
        if not Path(path).is_file() or hashlib.sha256(Path(path).read_bytes()).hexdigest() != sha:
            said.append(f"{path} was changed")
    said += [f"{path} was put among them" for path in sorted(shadows(before["files"]))]
    said += [f"runs at every start: {line}" for line in sorted(starts() - set(before["starts"]))]
    return said


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["snapshot"] and len(arguments) == 3:
        made = picture()
        Path(arguments[1]).write_text(json.dumps(made))
        lines = [f"{name}=={version}\n" for name, version in made["versions"].items()]
        Path(arguments[2]).write_text("".join(lines))
        return 0
    if arguments[:1] == ["check"] and len(arguments) == 2:
        said = problems(json.loads(Path(arguments[1]).read_text()))
        for line in said:
            print(f"a requirement touches pytest: {line}")
        return 1 if said else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
