"""The gate for code tasks: judge and judged in two containers (docs/architecture.md, DESIGN 4)."""

from agent_loop.checks.code.apart import Finding
from agent_loop.checks.code.check import CodeCheck, cannot_judge_apart, looks
from agent_loop.checks.code.relay import JudgeRoom

__all__ = ["CodeCheck", "Finding", "JudgeRoom", "cannot_judge_apart", "looks"]
