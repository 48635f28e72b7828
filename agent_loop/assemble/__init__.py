"""Config + task -> a ready run; the only room that names implementations."""

from agent_loop.assemble.judging import make_check, refuse_unjudgeable
from agent_loop.assemble.workshop import STATE_DIR, Ask, Workshop

__all__ = ["STATE_DIR", "Ask", "Workshop", "make_check", "refuse_unjudgeable"]
