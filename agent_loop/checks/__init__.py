"""Checks: the deterministic judgement of a lap."""
