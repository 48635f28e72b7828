"""The example of the README, from end to end with the real gate: wrong first, then right."""

import json
from pathlib import Path

import pytest

from agent_loop.cli import main

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.docker


def test_the_example_of_the_readme_passes_at_its_second_try(tmp_path, monkeypatch, base_image):
    monkeypatch.chdir(tmp_path)
    script = ROOT / "examples/replies/largest.yaml"
    task = str(ROOT / "examples/largest.yaml")
    assert main([task, "--thread", "x", "--quiet", f"--model=all=scripted:{script}"], {}) == 0
    record = json.loads((tmp_path / "runs/x.json").read_text(encoding="utf-8"))
    assert [lap["passed"] for lap in record["laps"]] == [False, True]
    assert not record["look"]
    picture = (ROOT / "docs/run.svg").read_text(encoding="utf-8")
    assert record["reason"].replace(" ", "&#160;") in picture, "python -m tests.release.recording"
