"""The MCP server's command line: nothing starts where something is wrong."""

import pytest

from agent_loop.mcp_server.main import main
from agent_loop.mcp_server.streams import Wire
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "nothing may be opened"),
        (["--root", "/"], "allows too much"),
        (["--root", "nowhere"], "this is no folder"),
        (["--root", "projects", "--http", "70000"], "a port is a number"),
        (["--root", "projects", "--idle", "0"], "must be more than 0"),
        (["--task", "nothing.yaml"], "nothing.yaml"),
        (["--root", "projects", "--set", "nonsense=1"], "nonsense"),
    ],
)
def test_bad_options_end_with_a_message(arguments, says, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert main(arguments, {}, Wire.standard()) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert said.out == ""
