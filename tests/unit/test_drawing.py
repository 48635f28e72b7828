"""`--graph` and `--completion`: made offline, from the graph and the parser themselves."""

import shutil
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from agent_loop.cli.completion import SHELLS, flags, script
from agent_loop.cli.main import main
from agent_loop.cli.options import parser
from agent_loop.graph.build import draw
from agent_loop.graph.picture import Arrow, picture, svg
from agent_loop.graph.studio import demo_run

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("kind", "more"), [("code", set()), ("project", {"reproduce"}), ("research", {"search"})]
)
def test_every_node_and_edge_is_in_the_picture(kind, more):
    drawn = picture(kind)
    root = ET.fromstring(drawn.svg)
    names = {text.text for text in root.iter(f"{SVG}text")}
    nodes = {"start", "lead", "worker", "check", "reviewer", "escalate", "end"}
    assert names == nodes | {"you (owner call)"} | more
    edges = [
        line
        for line in drawn.mermaid.splitlines()
        if "-->" in line or "-.->" in line or ". &nbsp" in line
    ]
    ways = [path for path in root.iter(f"{SVG}path") if path.get("marker-end")]
    assert len(ways) == len(edges)
    assert drawn == picture(kind)


def test_the_mermaid_is_that_of_the_documentation():
    assert picture().mermaid == draw(demo_run())


def test_no_two_arrows_lie_on_one_another():
    arrows = [Arrow(source="a", target=t, maybe=False) for t in "bcdef"]
    arrows += [Arrow(source=s, target="a", maybe=True) for s in "bcdef"]
    root = ET.fromstring(svg("abcdef", arrows))
    ways = [p.get("d") for p in root.iter(f"{SVG}path") if p.get("marker-end")]
    assert len(set(ways)) == len(arrows)


def test_names_are_escaped():
    assert "<b>" not in svg(["<b>"], [])


def test_nothing_is_fetched(tmp_path, monkeypatch, capsys):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.chdir(tmp_path)
    assert main(["--graph"], {}) == 0
    assert "graph TD" in capsys.readouterr().out
    for name in ("g.svg", "g.mmd", "g.md"):
        assert main(["--graph", name], {}) == 0
        assert Path(name).stat().st_size > 500
    assert main([str(ROOT / "tasks" / "fix_slugify.yaml"), "--graph", "p.svg"], {}) == 0
    assert "reproduce" in Path("p.svg").read_text()


@pytest.mark.parametrize("name", ["g.png", "g", "task.yaml", "no/such/../..", "."])
def test_a_name_that_says_no_form_is_refused(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    assert main(["--graph", name], {}) == 2
    assert "End it in .svg" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# --- completion


def complete(shell_text, words, folder):
    """What bash offers at the end of these words."""
    ask = (
        f"{shell_text}\nCOMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}\n"
        '[ "${COMP_WORDS[-1]}" = "@" ] && COMP_WORDS[-1]=""\n'
        '_agent_loop; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_offers_options_choices_runs_and_tasks(tmp_path):
    (tmp_path / "runs").mkdir()
    for name in ("one-1", "two-2"):
        (tmp_path / "runs" / f"{name}.json").write_text("{}")
    (tmp_path / "task.yaml").write_text("")
    (tmp_path / "notes.txt").write_text("")
    text = script("bash", flags(parser()))
    assert "--prune" in complete(text, ["agent-loop", "--pr"], tmp_path)
    assert complete(text, ["agent-loop", "--show", "@"], tmp_path) == ["one-1", "two-2"]
    assert complete(text, ["agent-loop", "--fork", "tw"], tmp_path) == ["two-2"]
    assert set(complete(text, ["agent-loop", "--completion", "@"], tmp_path)) == set(SHELLS)
    assert complete(text, ["agent-loop", "ta"], tmp_path) == ["task.yaml"]
    assert complete(text, ["agent-loop", "no"], tmp_path) == []
    assert complete(text, ["agent-loop", "--budget", "@"], tmp_path) == []


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_an_empty_folder_offers_no_runs(tmp_path):
    assert complete(script("bash", flags(parser())), ["agent-loop", "--show", "@"], tmp_path) == []


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_every_script(shell, capsys):
    assert main(["--completion", shell], {}) == 0
    said = capsys.readouterr().out
    for flag in flags(parser()):
        for name in flag.names:
            long = name.startswith("--")
            fish = f" -l {name[2:]} " if long else f" -s {name[1:]} "
            assert (fish if shell == "fish" else name) in said


def test_another_shell_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "agent_loop", "--completion", "cmd"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
