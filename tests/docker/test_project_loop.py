"""A project task through the command line: to a patch that git applies, and through kills."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.kills import bare

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "projects/slugify_demo"
TASK = ROOT / "tasks/fix_slugify.yaml"
NODES = ("reproduce", "lead", "worker", "check", "reviewer")
REPLIES = """
lead: ["Fold, then collapse."]
worker:
  - |
    Here is the whole of it.

    slugify/core.py
    <<<<<<< SEARCH
    _NOT_A_WORD = re.compile(r"[^a-z0-9-]")
    =======
    _NOT_A_WORD = re.compile(r"[^a-z0-9]+")
    >>>>>>> REPLACE

    slugify/core.py
    <<<<<<< SEARCH
    import re
    =======
    import re
    import unicodedata
    >>>>>>> REPLACE

    slugify/core.py
    <<<<<<< SEARCH
        text = text.lower().strip()
    =======
        text = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()
    >>>>>>> REPLACE
reviewer: ["APPROVED"]
"""

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture
def loop(tmp_path, project_image):
    script = tmp_path / "replies.yaml"
    script.write_text(REPLIES)

    def command(*words):
        fixed = ["--model", f"all=scripted:{script}", "--set", f"runs_dir={tmp_path / 'runs'}"]
        return [sys.executable, str(ROOT / "loop.py"), *words, *fixed]

    return command


def run(command):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=280)


def digest_of(folder):
    lines = [
        f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return "\n".join(lines)


def test_the_demo_is_mended_by_a_patch_and_stays_as_it_was(loop, tmp_path):
    before = digest_of(DEMO)
    done = run(loop(str(TASK), "--thread", "t"))
    assert done.returncode == 0, done.stdout + done.stderr
    copy = tmp_path / "copy"
    shutil.copytree(DEMO, copy, ignore=shutil.ignore_patterns("__pycache__"))
    red = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=copy)
    assert red.returncode == 1
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    patch = tmp_path / "runs/t/changes.patch"
    subprocess.run(["git", "apply", str(patch)], cwd=copy, check=True)
    green = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=copy
    )
    assert green.returncode == 0
    assert digest_of(DEMO) == before
    paper = json.loads((tmp_path / "runs/t/certificate.json").read_text())
    assert paper["image"].startswith("sha256:")
    assert len(paper["executed"]) == 10
    assert {"test_tree_hash", "tree_hash", "wanted"} <= paper["sandbox"].keys()
    again = run(loop("--verify", "t"))
    assert again.returncode == 0, again.stdout + again.stderr
    assert "problem:" not in again.stdout


def test_a_green_project_ends_as_nothing_to_fix(loop, tmp_path):
    (tmp_path / "green").mkdir()
    (tmp_path / "green/test_a.py").write_text("def test_a():\n    assert 1 == 1\n")
    task = tmp_path / "green.yaml"
    task.write_text("type: project\ntask: Mend it.\nproject: green\n")
    done = run(loop(str(task), "--thread", "g"))
    assert done.returncode == 1
    assert "nothing_to_fix" in done.stdout + done.stderr or "nothing to fix" in done.stdout


def finished(trace):
    """Names of the nodes that have finished."""
    if not trace.exists():
        return []
    lines = trace.read_text(encoding="utf-8", errors="replace").split("\n")
    events = [json.loads(line) for line in lines[:-1] if line]
    return [one["node"] for one in events if one["kind"] == "node_finished"]


def test_killed_at_every_node_it_goes_on_to_the_same_record(loop, tmp_path):
    assert run(loop(str(TASK), "--thread", "whole")).returncode == 0
    runs = tmp_path / "runs"
    whole = bare(json.loads((runs / "whole.json").read_text()))
    for node in NODES:
        thread = f"after-{node}"
        child = subprocess.Popen(
            loop(str(TASK), "--thread", thread),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while node not in finished(runs / thread / "trace.jsonl") and child.poll() is None:
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        record = runs / f"{thread}.json"
        if record.exists() and json.loads(record.read_text()).get("outcome") == "passed":
            continue
        done = run(loop("--continue", thread))
        assert done.returncode == 0, (node, done.stdout + done.stderr)
        assert bare(json.loads(record.read_text())) == whole, node
