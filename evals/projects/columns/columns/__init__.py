"""Rows of text as a table with aligned columns."""

from columns.table import table

__all__ = ["table"]
