"""Durations as people write them: 1h30m, 45s, 2d."""

from duration.parse import parse
from duration.show import show

__all__ = ["parse", "show"]
