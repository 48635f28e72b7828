"""A program as bytes on a pipe, and the command that takes it."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from agent_loop.ports import Program


@cache
def inside(name: str) -> str:
    """The text of one of this room's `inside_*.py` files, which run in containers only."""
    return Path(__file__).with_name(f"inside_{name}.py").read_text(encoding="utf-8")


def command(python: Sequence[str]) -> list[str]:
    """The whole command line of a container: interpreter, its flags, the bootstrap."""
    return [*python, "-c", inside("boot")]


def bundle(program: Program) -> bytes:
    """Length (4 bytes, big endian) and JSON, as `inside_boot` reads it."""
    body = json.dumps({"modules": list(program.modules), "entry": program.entry}).encode("ascii")
    return len(body).to_bytes(4, "big") + body
