"""A run in other forms: mini-swe-agent's, ATIF, and one page in which no text is markup."""

import base64
import hashlib
import json
import re
import signal
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from agent_loop.cli.main import main
from agent_loop.graph import drive
from agent_loop.models import Line
from agent_loop.store import RunStore
from agent_loop.trajectories import atif, page, read_story, traj
from tests.fakes.episode_run import WORKER, go, parts, project_job
from tests.fakes.episodes import does

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "</script></pre><script>alert(1)</script><img src=x onerror=alert(2)>"
    "<meta http-equiv=refresh content='0;url=http://evil'> \u202e\x1b[31m\x07 &amp; {policy} {js}"
)


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def told(store):
    go(store, boxes=[])
    return read_story(store, "a")


# --- mini-swe-agent -----------------------------------------------------------------------------


def test_traj_is_the_workers_last_conversation(store):
    made = traj(told(store))
    assert made["trajectory_format"] == "mini-swe-agent-1.1"
    info = made["info"]
    assert (info["exit_status"], info["model_stats"]["api_calls"]) == ("Submitted", 4)
    assert "return 'right'" in info["submission"]
    roles = [m["role"] for m in made["messages"]]
    assert roles == ["system", "user", *["assistant", "tool"] * 4, "exit"]
    last = made["messages"][-1]
    assert last["extra"] == {"exit_status": "Submitted", "submission": info["submission"]}
    first = made["messages"][2]
    assert json.loads(first["tool_calls"][0]["function"]["arguments"]) == {"path": "a.py"}
    assert first["tool_calls"][0]["id"] == made["messages"][3]["tool_call_id"]
    assert first["extra"]["actions"][0]["tool_call_id"] == first["tool_calls"][0]["id"]
    json.dumps(made, allow_nan=False)


def test_traj_says_how_else_an_episode_ended(store):
    lines = [does("view", path=f"{n}.py") for n in range(9)]
    from tests.fakes.episode_run import worker

    made = parts([], lines=lines, episode=worker([], max_steps=2))
    drive.start("a", project_job(rejection_cap=1), made, store)
    assert traj(read_story(store, "a"))["info"]["exit_status"] == "LimitsExceeded"


def test_an_unknown_cost_is_no_cost_of_nothing(store):
    lines = [
        Line(text=one.text, tool_calls=one.tool_calls, usage=one is not WORKER[3])
        for one in WORKER[3:]
    ]
    drive.start("a", project_job(), parts([], lines=lines), store)
    story = read_story(store, "a")
    assert traj(story)["info"]["model_stats"]["instance_cost"] is None
    made = atif(story)
    assert "total_prompt_tokens" not in made["final_metrics"]
    assert [("metrics" in s) for s in made["steps"] if s["source"] == "agent"].count(False) == 1


# --- ATIF ---------------------------------------------------------------------------------------


def test_atif_keeps_the_rules_of_its_format(store):
    made = atif(told(store))
    assert (made["schema_version"], made["session_id"]) == ("ATIF-v1.7", "a")
    assert made["agent"]["name"] == "agent-loop"
    assert [s["step_id"] for s in made["steps"]] == list(range(1, len(made["steps"]) + 1))
    for step in made["steps"]:
        assert step["source"] in {"system", "user", "agent"}
        assert isinstance(step["message"], str)
        if step["source"] != "agent":
            assert not set(step) & {"tool_calls", "metrics", "reasoning_content", "model_name"}
        ids = {call["tool_call_id"] for call in step.get("tool_calls", [])}
        for result in step.get("observation", {}).get("results", []):
            assert result.get("source_call_id") in ids
        for call in step.get("tool_calls", []):
            assert set(call) == {"tool_call_id", "function_name", "arguments"}
    totals = made["final_metrics"]
    agents = [s["metrics"] for s in made["steps"] if s["source"] == "agent"]
    assert totals["total_prompt_tokens"] == sum(m["prompt_tokens"] for m in agents)
    assert (totals["total_steps"], totals["total_cost_usd"]) == (len(made["steps"]), 0.0)
    verdicts = [s["message"] for s in made["steps"] if s["message"].startswith("verdict")]
    assert verdicts == [
        "verdict: not passed: assert 1 failed",
        "verdict: passed: 1 of 1 asserts held",
    ]
    json.dumps(made, allow_nan=False)


def test_what_a_kill_cut_off_is_in_no_export(store):
    command = [sys.executable, "-m", "tests.fakes.episode_run", str(store.root), "2"]
    assert subprocess.run(command, cwd=ROOT, timeout=60, check=False).returncode == -signal.SIGKILL
    story = told(store)
    assert len([t for t in story.turns if t.asked["node"] == "worker"]) == 7
    assert len(atif(story)["steps"]) == len(atif(told(RunStore(store.root / "other")))["steps"])


# --- the page -----------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def tags_of(text):
    tags = Tags()
    tags.feed(text)
    return tags.seen


def hostile_run(store):
    trick = does("create", path=HOSTILE, content=HOSTILE)
    lines = [
        replace(trick, text=HOSTILE, reasoning=HOSTILE),
        does("create", path="a.py", content=f"right {HOSTILE}"),
        does("submit"),
    ]
    made = parts([], lines=lines)
    drive.start("a", project_job(task=HOSTILE), made, store)
    return page(read_story(store, "a"))


def test_no_text_becomes_markup_and_hidden_characters_are_shown(store):
    text = hostile_run(store)
    tags = tags_of(text)
    assert [tag for tag, _ in tags].count("script") == 1
    assert not {"img", "iframe", "a", "link", "object", "base"} & {tag for tag, _ in tags}
    assert [attrs.get("http-equiv") for tag, attrs in tags if tag == "meta"].count("refresh") == 0
    assert not any(name.startswith("on") for _, attrs in tags for name in attrs)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "\\u202e" in text
    assert "alert(1)" in text


def test_nothing_but_its_own_style_and_script_may_run(store):
    text = hostile_run(store)
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    script = re.search(r"<script>(.*?)</script>", text, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    for body in (script, style):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"(?:src|href)=", text.replace(HOSTILE, "").split("<main>")[0])


def test_every_step_is_on_the_page(store):
    text = page(told(store))
    summaries = [tag for tag, _ in tags_of(text)].count("summary")
    assert summaries >= 3 + 7 * 2 + 2
    for word in (
        "step 1: view",
        "step 3: submit",
        "loop" if "loop" in text else "verdict",
        "episode ended",
    ):
        assert word in text
    assert "return &#x27;right&#x27;" in text


def test_a_huge_text_is_cut_with_a_marker(store):
    lines = [does("create", path="big.txt", content="x" * 300_000), does("submit")]
    drive.start("a", project_job(rejection_cap=1), parts([], lines=lines), store)
    text = page(read_story(store, "a"))
    assert len(text) < 200_000
    assert "characters more stand in the trace" in text


# --- the command --------------------------------------------------------------------------------


def command(store, *words):
    return main(["--set", f"runs_dir={store.root}", *words], {})


def test_the_command_writes_all_three_beside_the_run(store, capsys):
    told(store)
    for form, name in (("html", "run.html"), ("traj", "a.traj.json"), ("atif", "a.atif.json")):
        assert command(store, "--export-run", "a", "--format", form) == 0
        assert (store.folder("a") / name).stat().st_size > 1000
    assert "exported to" in capsys.readouterr().out


def test_bad_input_gets_a_message(store, tmp_path, capsys):
    told(store)
    assert command(store, "--export-run", "nobody") == 2
    assert "is unknown" in capsys.readouterr().err
    assert command(store, "--export-run", "a", "--out", str(tmp_path)) == 2
    assert "Say --out FILE" in capsys.readouterr().err
    assert command(store, "--export-run", "../a") == 2
    assert command(store, "--format", "traj") == 2
    store.trace_path("a").unlink()
    assert command(store, "--export-run", "a") == 2
    assert "has no trace" in capsys.readouterr().err
