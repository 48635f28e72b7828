"""The page's own modules: their logic in Node, and that none can make markup of a text."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "agent_loop" / "dashboard" / "static"
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment"
    r"|srcdoc|\beval\(|new Function"
)


def test_logic_in_node():
    node = shutil.which("node")
    if node is None:
        reason = "Node.js is not installed; the page's logic is not tested"
        if os.environ.get("REQUIRE_NODE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        [node, "jstests/logic.test.js"], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"^# pass [1-9]", done.stdout, re.M), done.stdout[-2000:]


def test_model_output_goes_in_as_text_nodes_only():
    modules = sorted(STATIC.glob("*.js"))
    assert len(modules) > 20
    found = {path.name: MARKUP.findall(path.read_text("utf-8")) for path in modules}
    assert {name: hits for name, hits in found.items() if hits} == {}


def test_the_page_loads_only_its_own_files():
    page = (STATIC / "index.html").read_text("utf-8")
    loaded = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert loaded
    for address in loaded:
        assert (STATIC / address.removeprefix("/static/")).is_file(), address
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*src=)", page)
