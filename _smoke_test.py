"""The two ways through that matter most: a scripted model, a real container, real processes.

python -m pytest _smoke_test.py
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
RIGHT = "```python\ndef is_palindrome(s):\n    return s == s[::-1]\n```"
WRONG = "```python\ndef is_palindrome(s):\n    return {}\n```"


def loop(folder, *arguments, code):
    """Run `loop.py` in a process of its own; its standard output."""
    argv = [sys.executable, str(ROOT / "loop.py"), *arguments]
    done = subprocess.run(
        argv, cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    if done.returncode == 3 and code != 3 and os.environ.get("REQUIRE_DOCKER") != "1":
        pytest.skip(done.stderr.strip())
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def script(folder, lines):
    """A model that says these lines; the option that gives it every role."""
    (folder / "script.yaml").write_text(json.dumps(lines))
    return ["--model", "all=scripted:script.yaml"]


@pytest.mark.docker
def test_happy_path(tmp_path):
    model = script(
        tmp_path,
        {
            "lead": ["Compare the text with its reverse."],
            "worker": [WRONG.format("True"), RIGHT],
            "reviewer": ["REJECTED: 'ab' is no palindrome.", "APPROVED"],
        },
    )
    out = loop(tmp_path, *model, "--thread", "smoke", code=0)
    assert "lap 1 check: not passed" in out
    assert "lap 2 check: passed" in out
    assert "proof held" in out
    record = json.loads((tmp_path / "runs" / "smoke.json").read_text())
    assert record["outcome"] == "passed"
    assert record["verdict"]["isolation"] == "separate"
    assert (tmp_path / "runs" / "smoke" / "certificate.json").exists()
    assert "passes again" in loop(tmp_path, "--verify", "smoke", code=0)


@pytest.mark.docker
def test_cap_pause_resume_in_a_new_process_and_stop(tmp_path):
    lines = {
        "lead": ["No plan."],
        "worker": [WRONG.format(n) for n in range(6)],
        "reviewer": ["REJECTED"] * 6,
    }
    model = script(tmp_path, lines)
    out = loop(tmp_path, "--cap", *model, "--thread", "smoke", code=5)
    assert "pick it up with: --continue smoke" in out
    loop(tmp_path, "--continue", "smoke", "--owner-reply", "compare both ends", code=5)
    out = loop(tmp_path, "--continue", "smoke", "--owner-reply", "Stop.", "--json", code=1)
    record = json.loads(out)
    assert (record["outcome"], record["owner_calls"], len(record["laps"])) == ("stopped", 2, 6)
    loop(tmp_path, "--continue", "smoke", code=2)
