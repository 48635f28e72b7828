"""Slugs for addresses."""

from slugify.core import slugify

__all__ = ["slugify"]
