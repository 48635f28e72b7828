"""The text that judges mutants inside a container; nothing here is imported on the host."""

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The source of one `inside_*.py` file of this folder."""
    return Path(__file__).with_name(f"inside_{name}.py").read_text(encoding="utf-8")
