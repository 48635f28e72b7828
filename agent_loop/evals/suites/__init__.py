"""Where tasks come from: the frozen fixtures, a folder, or a public data set on this machine."""

from agent_loop.evals.suites.load import load_suite
from agent_loop.evals.suites.model import Suite, SuiteTask

__all__ = ["Suite", "SuiteTask", "load_suite"]
