"""Hostile YAML in, plain data with line numbers out."""

from agent_loop.yamlfile.fit import fit, nearest
from agent_loop.yamlfile.read import Document, Plain, YamlProblem, load, parse

__all__ = ["Document", "Plain", "YamlProblem", "fit", "load", "nearest", "parse"]
