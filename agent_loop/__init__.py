"""agent-loop: a loop of language-model roles that stops only when a deterministic check says so."""

__version__ = "0.1.0"
