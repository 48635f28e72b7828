"""The demo project mended with tools in a real container, by both toolsets, and replayed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from benchmarks.library_episodes import DEMO, DEMO_EDITS, bash, structured

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.docker, pytest.mark.slow]
MAKERS = {"structured": structured, "bash": bash}


@pytest.mark.parametrize("toolset", MAKERS)
def test_the_demo_is_mended_by_an_episode(toolset, tmp_path, project_image):
    runs, script = tmp_path / "runs", tmp_path / "replies.yaml"
    worker = MAKERS[toolset](DEMO_EDITS)
    script.write_text(yaml.safe_dump({"lead": ["x"], "worker": worker, "reviewer": ["APPROVED"]}))
    command = [sys.executable, str(ROOT / "loop.py"), str(DEMO), "--quiet", "--thread", "a"]
    command += ["--model", f"all=scripted:{script}", "--set", f"runs_dir={runs}"]
    command += ["--set", "worker_mode=tools", "--set", f"toolset={toolset}", "--max-pauses", "0"]
    command += ["--set", "model_options.default.num_ctx=65536"]
    command += ["--set", "check.project_s=900", "--set", "rejection_cap=1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads((runs / "a.json").read_text())
    assert (record["outcome"], len(record["laps"])) == ("passed", 1)
    assert record["tokens"]["worker"]["calls"] == len(worker)
    patch = (runs / "a" / "changes.patch").read_text()
    assert patch.startswith("diff --git a/slugify/core.py")
    assert "+import unicodedata" in patch
    trace = (runs / "a" / "trace.jsonl").read_text().splitlines()
    ended = [json.loads(line) for line in trace if '"episode_ended"' in line]
    assert [(e["reason"], e["native_calls"]) for e in ended] == [("submitted", len(worker))]
