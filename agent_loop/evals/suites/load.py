"""A suite by name."""

from pathlib import Path

from agent_loop.assemble import state_dir
from agent_loop.evals.suites.folder import load_folder
from agent_loop.evals.suites.functions import load_humaneval, load_mbpp, load_quixbugs
from agent_loop.evals.suites.model import Suite
from agent_loop.evals.suites.swebench import load_swebench
from agent_loop.fixtures import fixtures_folder


def load_suite(name: str | None, data: Path | None) -> Suite:
    """The frozen tasks where `name` is `None`.

    Raises:
        UserError: unknown, or its files cannot be used.
    """
    if name is None:
        return load_folder(fixtures_folder(), name="fixtures")
    if data is not None:
        match name:
            case "humaneval":
                return load_humaneval(data)
            case "mbpp":
                return load_mbpp(data)
            case "quixbugs":
                return load_quixbugs(data)
            case "swebench":
                return load_swebench(data, state_dir().resolve() / "suites" / "swebench")
    return load_folder(Path(name))
