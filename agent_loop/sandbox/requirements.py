"""What a task may ask to have installed beside pytest."""

import re
from collections.abc import Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from agent_loop.errors import UserError

# pytest, its plugins in the image, and all they stand on: held to what the image has.
RESERVED = frozenset(
    ("pytest", "pytest-timeout", "coverage", "pluggy", "iniconfig", "packaging", "pygments")
)
LINE = re.compile(r"[^\x00-\x1f\x7f]{1,300}")


def checked(lines: Sequence[str]) -> tuple[str, ...]:
    """The requirements in a fixed order, each one plain name and version.

    Raises:
        UserError: an option, a file of this machine, a reserved name, or no requirement at all.
    """
    made = {}
    for line in lines:
        requirement = _one(line)
        made[canonicalize_name(requirement.name)] = str(requirement)
    return tuple(made[name] for name in sorted(made))


def _one(line: str) -> Requirement:
    text = line.strip()
    try:
        # One line each: a second line would be an option that nobody looked at.
        requirement = Requirement(text if LINE.fullmatch(text) else "-")
    except InvalidRequirement as error:
        raise UserError(
            f"requirements: {line[:100]!r} is not a requirement ({str(error).splitlines()[0]}). "
            "Write one as name==version; options and local files are not taken"
        ) from error
    if requirement.url and not requirement.url.startswith("https://"):
        raise UserError(f"requirements: {line[:100]!r} is no https address")
    if canonicalize_name(requirement.name) in RESERVED:
        raise UserError(
            f"requirements: {requirement.name} is part of the test runner and held to the version "
            "in the image. Leave it out"
        )
    return requirement
