"""No bytes in the mailbox, the trace or the database break a run."""

import contextlib
import json
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.errors import StoreFault
from agent_loop.graph import saver
from agent_loop.graph.state import checked, fresh
from agent_loop.ports import SystemClock
from agent_loop.store import RunStore, read_trace
from agent_loop.store.record import encode, read_summary
from tests.unit.test_store import summary

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=400)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
KEYS = TEXT.filter(lambda key: key != "$")
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "nonce": st.sampled_from(["n1", "n2", None, 5]),
        "kind": st.sampled_from(["stop", "accept", "guidance", "go", None]),
        "text": st.one_of(st.text(max_size=60), st.none(), st.just("stop"), st.just("x" * 3_000)),
    },
)


@given(raw=st.one_of(st.binary(max_size=6_000), FIELDS.map(lambda f: json.dumps(f).encode())))
@settings(deadline=None, max_examples=60)
def test_whatever_lies_in_the_mailbox_is_an_answer_or_is_moved_aside(raw):
    with tempfile.TemporaryDirectory() as name:
        box = RunStore(Path(name)).mailbox("a")
        box.path.parent.mkdir()
        box.path.write_bytes(raw)
        reply = box.take("n1")
        assert not box.path.exists()
        if reply is not None:
            assert json.loads(raw)["nonce"] == "n1"
            assert 1 <= len(reply.text) <= 2_000
            assert box.answered("n1") == reply


@given(value=PLAIN)
@settings(deadline=None, max_examples=60)
def test_plain_values_come_back_from_the_database(value):
    with tempfile.TemporaryDirectory() as name, saver.opened(Path(name) / "x.sqlite", "a") as made:
        kind, raw = made.serde.dumps_typed({"value": value})
        with made.cursor():
            pass  # a commit takes the texts along
        assert made.serde.loads_typed((kind, raw)) == {"value": value}


@given(
    kind=st.sampled_from(["agent-loop-json", "agent-loop-json-z", "msgpack"]),
    raw=st.binary(max_size=300),
)
@settings(deadline=None, max_examples=60)
def test_any_bytes_in_the_database_are_a_value_or_a_fault(kind, raw):
    with (
        tempfile.TemporaryDirectory() as name,
        saver.opened(Path(name) / "x.sqlite", "a") as made,
        contextlib.suppress(StoreFault),
    ):
        made.serde.loads_typed((kind, raw))


@given(field=st.sampled_from(sorted(fresh(rejection_cap=3, can_escalate=False))), value=PLAIN)
def test_any_value_in_a_state_is_taken_or_named(field, value):
    with contextlib.suppress(StoreFault):
        checked({**fresh(rejection_cap=3, can_escalate=False), field: value})


@given(lines=st.lists(st.binary(max_size=80), max_size=6))
@settings(deadline=None, max_examples=60)
def test_any_bytes_in_a_trace_are_passed_over_and_written_on(lines):
    with tempfile.TemporaryDirectory() as name:
        store = RunStore(Path(name))
        store.folder("a").mkdir()
        store.trace_path("a").write_bytes(b"\n".join(lines))
        store.trace("a", SystemClock()).emit("review", {"lap": 9})
        assert list(read_trace(store.trace_path("a")))[-1]["lap"] == 9


@given(
    record=st.dictionaries(st.text(alphabet="abc", max_size=4), PLAIN, max_size=4),
    task=st.text(max_size=50),
)
@settings(deadline=None, max_examples=60)
def test_a_record_is_json_and_its_summary_is_read_from_its_head(record, task):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "a.json"
        path.write_bytes(encode(record, summary(task=task)))
        whole = json.loads(path.read_bytes())
        assert {k: whole[k] for k in record} == record
        assert read_summary(path) == summary(task=task)
