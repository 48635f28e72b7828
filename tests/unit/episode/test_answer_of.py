"""What an episode leaves as text: notes, then the patch; read back to the same files."""

import pytest

from agent_loop.assemble.episodes import CLOUD_CONTEXT_TOKENS, answer_of, limits_of, within
from agent_loop.checks.project.check import _files_of, notes_of
from agent_loop.config import Config
from agent_loop.episode.tools.harvest import Harvest
from agent_loop.graph.nodes import left as left_of
from agent_loop.graph.parts import Limits
from agent_loop.graph.state import fresh, usage_state
from agent_loop.ports import Usage
from agent_loop.workspace import Tree
from tests.fakes.episodes import does, episode

PROJECT = {"a.py": b"x = 1\n", "pkg/b.py": b"y = 2", "data.bin": b"\0\1", "gone.py": b"z = 3\n"}


@pytest.fixture
def tree(tmp_path):
    for path, data in PROJECT.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "link").symlink_to("a.py")
    return Tree(tmp_path)


def left(tree, changed, *, gone=(), left_out=(), executable=()):
    files = {path: tree[path] for path in tree} | changed
    for path in gone:
        del files[path]
    done, *_ = episode(does("submit"))
    found = Harvest(files=files, executable=frozenset(executable), left_out=left_out)
    return answer_of(done, tree, found)


def test_changes_new_files_and_deletions_come_back_exactly(tree):
    changed = {"a.py": b"x = 'caf\xc3\xa9'\r\n", "pkg/new.py": b"no newline at the end"}
    notes, patch = notes_of(left(tree, changed, gone=["gone.py"], executable=["pkg/new.py"]))
    assert _files_of(patch, tree) == {**changed, "gone.py": None}
    assert notes[0].startswith("episode: submitted after 1 steps and 1 tool calls")
    assert "new file mode 100755" in patch


def test_nothing_changed_is_no_patch(tree):
    notes, patch = notes_of(left(tree, {}))
    assert (patch, len(notes)) == ("", 1)
    assert _files_of(patch, tree) == {}


def test_binary_files_and_what_was_left_out_are_noted_and_the_rest_counts(tree):
    changed = {"a.py": b"x = 2\n", "cache.db": b"\0\0", "data.bin": b"\0\2"}
    text = left(tree, changed, left_out=["out: a symbolic link\ndiff --git a/a.py b/a.py"])
    notes, patch = notes_of(text)
    assert _files_of(patch, tree) == {"a.py": b"x = 2\n"}
    assert "not taken: out: a symbolic link diff --git a/a.py b/a.py" in notes
    assert {"not taken: cache.db: a binary file", "not taken: data.bin: a binary file"} <= set(
        notes
    )


def test_bytes_that_no_record_can_keep_are_said_to_be(tree):
    notes, patch = notes_of(left(tree, {"a.py": b"x = '\xff'\n"}))
    assert patch == ""
    assert "no patch could be made" in notes[-1]


def test_a_file_that_looks_like_a_note_stays_a_file(tree):
    changed = {"a.py": b"# episode: submitted\n# not taken: everything\n"}
    _, patch = notes_of(left(tree, changed))
    assert _files_of(patch, tree) == changed


def test_an_episode_spends_no_more_than_its_run_has_left():
    given = limits_of(Config(), "worker")
    assert within(given, Limits()) == given
    small = within(given, Limits(budget_tokens=500, time_limit_s=9.0, cost_usd=0.5))
    assert (small.tokens, small.seconds, small.cost_usd) == (500, 9.0, 0.5)
    state = fresh(rejection_cap=3, can_escalate=False) | {
        "usage": {"lead": usage_state(Usage(calls=1, input_tokens=90, cost_usd=0.2))},
        "spent_s": 4.0,
    }
    rest = left_of(state, Limits(budget_tokens=100, time_limit_s=5.0, cost_usd=1.0))
    assert (rest.budget_tokens, rest.time_limit_s, rest.cost_usd) == (10, 1.0, 0.8)


def test_limits_fit_the_model():
    small = limits_of(Config(), "worker")
    assert (small.context_tokens, small.observation_chars) == (8192 - 1024, 5376)
    roles = {"lead": "ollama:a", "worker": "anthropic:b", "reviewer": "ollama:a"}
    assert limits_of(Config(models=roles), "worker").context_tokens == CLOUD_CONTEXT_TOKENS
