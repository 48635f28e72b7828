"""A program as bytes on a pipe, and the command that takes it."""

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
    """The entry, then name and text of each module, as `inside_boot` reads them.

    Plain lengths and bytes: a container that has to import json first is ready later.
    """
    texts = [program.entry, *(text for module in program.modules for text in module)]
    pieces = [len(texts).to_bytes(4, "big")]
    for text in texts:
        data = text.encode("utf-8")
        pieces += [len(data).to_bytes(4, "big"), data]
    return b"".join(pieces)
