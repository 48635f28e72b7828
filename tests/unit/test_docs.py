"""The documentation cannot drift: its tasks load, its commands parse, its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from agent_loop import __version__, config, tasks
from agent_loop.cli.options import read

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples/README.md"]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    """(page, text) of every fenced block of a language."""
    for page in PAGES:
        for found in BLOCK.finditer(page.read_text(encoding="utf-8")):
            if found[1] == language:
                yield page.name, found[2]


def task_blocks():
    kept = [(page, text) for page, text in blocks("yaml") if re.search(r"^task:", text, re.M)]
    return [pytest.param(text, id=f"{page}-{n}") for n, (page, text) in enumerate(kept)]


@pytest.mark.parametrize("text", task_blocks())
def test_every_task_in_the_documentation_loads(text, tmp_path):
    fields = yaml.safe_load(text)
    folder = tmp_path / "tasks"
    folder.mkdir()
    for key in ("project", "hidden_tests"):
        if isinstance(fields.get(key), str):
            (folder / fields[key]).mkdir(parents=True, exist_ok=True)
    for key in ("dockerfile", "papers"):
        if isinstance(fields.get(key), str):
            path = folder / fields[key]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("FROM scratch\n")
    path = folder / "task.yaml"
    path.write_text(text, encoding="utf-8")
    assert tasks.load(path).kind in ("code", "project", "research")


def test_settings_in_the_documentation_are_settings(tmp_path):
    kept = [text for _, text in blocks("yaml") if text.startswith("# config.yaml")]
    assert kept
    for n, text in enumerate(kept):
        path = tmp_path / f"{n}.yaml"
        path.write_text(text, encoding="utf-8")
        config.load(ROOT / "config.yaml", {}, (), (path,))


def commands():
    """(page, arguments) of every line that runs the command line."""
    program = re.compile(r"^(?:\S*python3? |py )?(?:\S*/)?(?:loop\.py|agent-loop) (.*)$")
    for page, text in blocks(""):
        if page == "commands.md":
            continue
        for line in text.splitlines():
            if found := program.match(line.strip()):
                yield page, found[1].partition("  #")[0].strip()


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_every_command_in_the_documentation_parses(page, line):
    argv = shlex.split(line.replace("STEP", "3").replace("…", "x").replace("\\", "/"))
    if "--doctor" in argv or "|" in argv:
        return
    read(argv)


def door_commands():
    """(door, arguments) of every line that runs another door of the package."""
    program = re.compile(r"python3? -m agent_loop\.(\w+) ([^`|]*)")
    for page in PAGES:
        if page.name == "commands.md":
            continue
        for found in program.finditer(page.read_text(encoding="utf-8")):
            line = found[2].partition("\n")[0].partition("  #")[0].strip()
            if "…" not in line:
                yield found[1], line


DOOR_LINES = sorted(set(door_commands()))


@pytest.mark.parametrize(("door", "line"), DOOR_LINES)
def test_every_door_takes_what_the_documentation_gives_it(door, line):
    pytest.importorskip("fastapi")
    from agent_loop.benchgen.options import parse
    from agent_loop.dashboard.main import _read as read_dashboard
    from agent_loop.evals import options as of_evals
    from agent_loop.mcp_server.options import parser as parser_of_tools
    from agent_loop.server.main import _read as read_server

    readers = {
        "benchgen": parse,
        "dashboard": read_dashboard,
        "evals": lambda argv: of_evals.options_of(of_evals.parser().parse_args(argv)),
        "mcp_server": parser_of_tools().parse_args,
        "server": read_server,
    }
    readers[door](shlex.split(line))


def test_there_are_commands_in_the_documentation():
    assert {door for door, _ in DOOR_LINES} >= {"benchgen", "evals", "mcp_server", "server"}
    assert len(list(commands())) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" in target:
            continue
        assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_example_of_the_readme_is_the_example_file():
    shown = next(text for page, text in blocks("yaml") if page == "README.md")
    kept = (ROOT / "examples/largest.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(shown) == yaml.safe_load(kept)


def test_the_wheel_of_the_readme_is_this_version():
    assert f"agent_loop-{__version__}-py3" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_ci_examples_run_commands_that_exist():
    flow = yaml.safe_load((ROOT / "examples/ci/github-action.yml").read_text())
    (run,) = [
        step["run"] for step in flow["jobs"]["run"]["steps"]
        if step.get("run", "").startswith("agent-loop")
    ]  # fmt: skip
    options = read(shlex.split(run)[1:])
    assert (options.thread, options.max_pauses) == ("ci", 0)
    assert flow["permissions"] == {"contents": "read"}
    assert "${{" not in run, "an input in a shell line is somebody's code"
    hooks = yaml.safe_load((ROOT / "examples/ci/pre-commit-config.yaml").read_text())
    (hook,) = hooks["repos"][0]["hooks"]
    read(shlex.split(hook["entry"])[1:])
