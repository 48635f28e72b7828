"""Twins and renamed copies: altered and re-named wanted tests, as texts."""
