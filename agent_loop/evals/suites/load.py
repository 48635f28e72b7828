"""A suite by name."""

from pathlib import Path

from agent_loop.evals.suites.folder import load_folder
from agent_loop.evals.suites.model import Suite
from agent_loop.fixtures import fixtures_folder


def load_suite(name: str | None, data: Path | None) -> Suite:
    """The frozen tasks where `name` is `None`.

    Raises:
        UserError: unknown, or its files cannot be used.
    """
    if name is None:
        return load_folder(fixtures_folder(), name="fixtures")
    return load_folder(Path(name))
