"""What a task is on disk: its file, and the library with the bug in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from agent_loop.benchgen.bugs import Bug
from agent_loop.benchgen.ground import Ground
from agent_loop.benchgen.wording import Report


def lay(ground: Ground, bug: Bug, folder: Path) -> None:
    """Write the library with the bug in it."""
    wrong = bug.files(ground.read)
    for name in ground.base.digests:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(wrong[name] if name in wrong else ground.read(name))
        place.chmod((ground.base.root / name).stat().st_mode & 0o777)
    for name, target in ground.base.links.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def task_text(
    name: str, report: Report, ground: Ground, wanted: Sequence[str], project: str
) -> str:
    """The task file."""
    fields: dict[str, Any] = {
        "type": "project",
        "name": name,
        "task": report.text,
        "project": project,
        "test_command": ground.layout.test_command,
    }
    if ground.layout.requirements:
        fields["requirements"] = list(ground.layout.requirements)
    if ground.layout.plugins:
        fields["pytest_plugins"] = [one.replace("-", "_") for one in ground.layout.plugins]
    if ground.layout.python_path:
        fields["python_path"] = list(ground.layout.python_path)
    fields["fail_to_pass"] = list(wanted)
    return yaml.dump(fields, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, so that people can read them."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
