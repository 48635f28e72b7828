"""Hostile YAML in, plain data with line numbers out."""

from agent_loop.yamlfile.fit import first_problem, fit, nearest
from agent_loop.yamlfile.read import Document, Plain, YamlProblem, load, parse

__all__ = ["Document", "Plain", "YamlProblem", "first_problem", "fit", "load", "nearest", "parse"]
