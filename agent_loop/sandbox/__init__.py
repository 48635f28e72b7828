"""Containers; the only room that imports docker."""
