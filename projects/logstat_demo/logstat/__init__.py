"""Counts what stands in a log."""
