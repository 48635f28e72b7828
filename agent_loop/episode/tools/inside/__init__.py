"""Texts that run inside containers only; the host imports `frames` alone."""

from functools import cache
from pathlib import Path


@cache
def source(name: str) -> str:
    """The text of one module of this folder."""
    return Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
