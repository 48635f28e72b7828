"""Python's parser is asked one text at a time."""

import ast
import threading
from pathlib import Path

import pytest

from agent_loop import syntax

ROOT = Path(__file__).parents[2]


def test_the_host_parses_through_one_door():
    # Texts for containers stand alone, each in a process of its own.
    found = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "agent_loop").rglob("*.py")
        if "inside" not in path.as_posix() and "ast.parse(" in path.read_text(encoding="utf-8")
    ]
    assert found == ["agent_loop/syntax.py"]


def test_warnings_about_the_text_are_nobody_s():
    with pytest.warns((DeprecationWarning, SyntaxWarning)):  # the control
        ast.parse('"\\d"')
    assert isinstance(syntax.parse('"\\d"'), ast.Module)


def test_many_threads_get_the_right_trees():
    texts = [f"x = {'(' * 40}{n}{')' * 40}" for n in range(8)]
    found = dict[str, str]()

    def work(text):
        for _ in range(200):
            found[text] = ast.unparse(syntax.parse(text))

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {text: f"x = {n}" for n, text in enumerate(texts)}
