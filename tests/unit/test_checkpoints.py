"""The database under a run: tampered, damaged, locked, read-only, shared, and small."""

import json
import os
import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from contextlib import closing
from pathlib import Path

import ormsgpack
import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from agent_loop.errors import FaultError, StoreFault
from agent_loop.graph import drive, saver
from agent_loop.graph.state import checked, fresh
from agent_loop.store import RunStore
from tests.fakes.check import ScriptedCheck
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path / "runs")


def paused(store, thread="a"):
    made = parts([wrong(1), wrong(2), wrong(3), RIGHT], "REJECTED")
    assert drive.start(thread, job(), made, store).outcome == "paused"
    return made


def change(store, statement, *values):
    with closing(sqlite3.connect(store.checkpoints)) as conn, conn:
        assert conn.execute(statement, values).rowcount


# --- tampered


class Marker:
    """What unpickling would run: makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (Path(self.path),))


def call_by_msgpack(path):
    """A checkpoint that names a callable: `os.makedirs(path)`, as langgraph's own format has it."""
    inner = ormsgpack.packb(("os", "makedirs", str(path)))
    return ormsgpack.packb({"v": 4, "channel_values": {"plan": ormsgpack.Ext(0, inner)}})


def evil_rows(path):
    lc = {"lc": 2, "type": "constructor", "id": ["os", "makedirs"], "args": [str(path)]}
    return {
        "msgpack": ("msgpack", call_by_msgpack(path)),
        "pickle": ("pickle", pickle.dumps(Marker(str(path)))),
        "json": ("json", json.dumps({"channel_values": {"plan": lc}}).encode()),
        "ours": ("agent-loop-json", json.dumps({"channel_values": {"plan": lc}}).encode()),
        "tag": ("agent-loop-json", b'{"channel_values": {"plan": {"$": "os.makedirs"}}}'),
        "packed": ("agent-loop-json-z", b"no zlib at all"),
        "garbage": ("agent-loop-json", b"\x00\xff{"),
        "deep": ("agent-loop-json", b"[" * 200_000),
        "null": (None, None),
    }


@pytest.mark.parametrize("kind", list(evil_rows("x")))
@pytest.mark.parametrize("table", ["checkpoints", "writes"])
def test_a_tampered_database_gets_an_error_and_runs_nothing(store, tmp_path, kind, table):
    made = paused(store)
    target = tmp_path / "executed"
    name, raw = evil_rows(target)[kind]
    column = "checkpoint" if table == "checkpoints" else "value"
    change(store, f"UPDATE {table} SET type = ?, {column} = ?", name, raw)
    with pytest.raises(StoreFault, match=r"checkpoints\.sqlite"):
        drive.resume("a", made, store)
    with pytest.raises(StoreFault):
        drive.standing(store, "a")
    assert not target.exists()
    assert len(made.models["worker"].asked) == 3


@pytest.mark.filterwarnings("ignore")
def test_the_library_as_it_comes_would_run_it(tmp_path):
    """The control: the default serialiser calls what the database names."""
    target = tmp_path / "executed"
    loose = JsonPlusSerializer(allowed_msgpack_modules=True)
    loose.loads_typed(("msgpack", call_by_msgpack(target)))
    assert target.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lap", "1"), ("lap", True), ("rejection_cap", 10**30), ("laps", {"n": 1}), ("plan", 7),
        ("laps", [{"n": 1}]), ("usage", {"worker": {"calls": "x"}}), ("outcome", "won"),
        ("by", "nobody"), ("seen", [None]), ("replies", {"worker": 1.5}), ("spent_s", None),
        ("plan", "x" * 1_000_001), ("version", 2),
    ],
)  # fmt: skip
def test_a_state_of_the_wrong_shape_is_named(field, value):
    with pytest.raises(StoreFault, match=f"'?{field}"):
        checked({**fresh(rejection_cap=3, can_escalate=False), field: value})


def test_a_state_with_a_field_more_or_less_is_refused():
    state = fresh(rejection_cap=3, can_escalate=False)
    with pytest.raises(StoreFault, match="'more' is no field"):
        checked({**state, "more": 1})
    with pytest.raises(StoreFault, match="'lap' is missing"):
        checked({k: v for k, v in state.items() if k != "lap"})
    assert checked(state) == state


def edited(store, act):
    """Change the newest checkpoint's state in place, in our own format."""
    with closing(sqlite3.connect(store.checkpoints)) as conn, conn:
        row, raw = conn.execute(
            "SELECT checkpoint_id, checkpoint FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1"
        ).fetchone()
        document = json.loads(zlib.decompress(raw))
        act(document["channel_values"])
        conn.execute(
            "UPDATE checkpoints SET checkpoint = ? WHERE checkpoint_id = ?",
            (zlib.compress(json.dumps(document).encode()), row),
        )


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.update(lap="many"),
        lambda s: s.update(verdict='{"passed": "yes"}'),
        lambda s: s.update(verdict="not json"),
        lambda s: s["laps"].append(7),
        lambda s: s.pop("plan"),
    ],
)
def test_an_edited_state_stops_before_anything_runs(store, act):
    made = paused(store)
    edited(store, act)
    try:
        result = drive.resume("a", made, store)
    except StoreFault as fault:
        said = str(fault)
    else:
        said = result.reason
        assert result.outcome == "error"
    assert "checkpoints.sqlite" in said
    assert len(made.models["worker"].asked) == 3


def test_a_changed_text_is_noticed(store):
    made = parts(["```python\n" + "# long enough to stand apart\n" * 20 + "x = 1\n```"] * 3)
    drive.start("a", job(), made, store)
    change(store, "UPDATE texts SET body = ?", zlib.compress(b"other"))
    with pytest.raises(StoreFault, match="not the one its hash names"):
        drive.resume("a", made, store)
    change(store, "UPDATE texts SET body = ?", b"no zlib")
    with pytest.raises(StoreFault, match="damaged"):
        drive.resume("a", made, store)
    change(store, "UPDATE texts SET body = ?", zlib.compress(b"0" * (64 << 20)))
    with pytest.raises(StoreFault, match="not the one its hash names"):
        drive.resume("a", made, store)
    change(store, "DELETE FROM texts")
    with pytest.raises(StoreFault, match="gone"):
        drive.resume("a", made, store)


def test_model_text_that_looks_like_a_tag_stays_text(store):
    odd = '{"$": "text", "hash": "0"} \ud800 \x00 ' + "y" * 300
    made = parts([odd, wrong(1), wrong(2)], "REJECTED " + odd, lead=[odd])
    assert drive.start("a", job(), made, store).outcome == "paused"
    made.owner.lines.append("accept")
    assert drive.resume("a", made, store).outcome == "accepted"
    assert '{"$": "text"' in store.read_record("a")["plan"]


# --- damaged, locked, read-only


def test_a_file_that_is_no_database(store):
    store.root.mkdir()
    store.checkpoints.write_bytes(b"not a database, not at all" * 100)
    made = parts([RIGHT])
    with pytest.raises(StoreFault, match="not a database"):
        drive.start("a", job(), made, store)
    assert not made.models["lead"].asked
    assert not store.record_path("a").exists()


class Holder(threading.Thread):
    """Somebody who holds the database, at most so long."""

    def __init__(self, path, seconds):
        super().__init__()
        self.path, self.seconds = path, seconds
        self.holding, self.enough = threading.Event(), threading.Event()

    def run(self):
        with closing(sqlite3.connect(self.path, timeout=60)) as conn:
            conn.execute("BEGIN IMMEDIATE")
            self.holding.set()
            self.enough.wait(self.seconds)
            conn.rollback()

    def let_go(self):
        """True where it held until now."""
        held_on = self.is_alive()
        self.enough.set()
        self.join()
        return held_on


def held(store, seconds):
    thread = Holder(store.checkpoints, seconds)
    thread.start()
    assert thread.holding.wait(60)
    return thread


def test_a_database_locked_for_eight_seconds_is_waited_for(store):
    """Longer than Python's own 5 s, which the control below shows to lose."""
    made = paused(store)
    made.owner.lines.append("accept")
    begun = time.monotonic()
    holder = held(store, 8)
    assert drive.resume("a", made, store).outcome == "accepted"
    assert time.monotonic() - begun > 8
    holder.join()


def test_a_look_waits_for_no_writer(store):
    paused(store)
    holder = held(store, 60)
    assert drive.standing(store, "a").next == "ask_owner"
    assert holder.let_go()


def test_a_look_makes_nothing(store):
    paused(store)
    for path in store.root.glob("checkpoints.sqlite*"):
        path.unlink()
    assert drive.standing(store, "a").next == "start"
    assert not store.checkpoints.exists()


def test_a_database_locked_too_long_stops_resumably(store):
    paused(store)
    holder = held(store, 60)
    with pytest.raises(StoreFault, match="Another process held it too long"), saver.opened(
        store.checkpoints, "a", busy_s=0.3
    ):  # fmt: skip
        pass
    assert holder.let_go()


def test_a_lock_in_the_middle_of_a_run_stops_it_resumably(store, monkeypatch):
    monkeypatch.setattr(saver.opened, "__kwdefaults__", None, raising=False)
    holders = []

    def grab():
        if not holders:
            holders.append(held(store, 60))

    check = ScriptedCheck(fault=grab)
    made = parts([RIGHT], check=check)
    with saver.opened(store.checkpoints, "a", busy_s=0.3):
        pass
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saver, "BUSY_S", 0.3)
        patch.setattr(saver.opened.__wrapped__, "__kwdefaults__", {"busy_s": 0.3})
        result = drive.start("a", job(), made, store)
    assert result.outcome == "error"
    assert "locked" in result.reason
    assert holders[0].let_go()
    assert drive.resume("a", made, store).outcome == "passed"
    assert len(made.models["worker"].asked) == 1


READ_ONLY = """
import os, sys
from pathlib import Path
from agent_loop.errors import AgentLoopError
from agent_loop.graph import drive
from agent_loop.store import RunStore
from tests.fakes.runs import RIGHT, job, parts
made = parts([RIGHT])
if os.getuid() == 0:
    os.setuid(65534)
try:
    drive.resume("a", made, RunStore(Path(sys.argv[1])))
except AgentLoopError as error:
    print(type(error).__name__, error)
print(len(made.models["worker"].asked))
"""


STRICT = """
import sys
from pathlib import Path
from agent_loop.graph import drive
from agent_loop.store import RunStore
from tests.fakes.runs import RIGHT, job, parts
print(drive.start("a", job(), parts([RIGHT]), RunStore(Path(sys.argv[1]))).outcome)
"""


def test_the_strict_setting_of_the_library_is_met_without_a_word(tmp_path):
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", STRICT, str(tmp_path)],
        cwd=root, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(root), "LANGGRAPH_STRICT_MSGPACK": "true"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("passed\n", "")


def test_a_place_where_processes_cannot_share_a_database_is_refused():
    """Network and synced folders keep no shared memory; one in memory has the same lack of it."""
    with (
        pytest.raises(StoreFault, match=r"network or synced folder.*Put runs_dir on a local disk"),
        saver.opened(Path(":memory:"), "a"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
def test_a_read_only_database_stops_before_any_model_is_asked(store, tmp_path):
    paused(store)
    for path in store.root.glob("checkpoints.sqlite*"):
        path.chmod(0o444)
    for path in store.folder("a").iterdir():
        path.chmod(0o666)
    store.folder("a").chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    store.root.chmod(0o555)
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY, str(store.root)],
        cwd=root, capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    store.root.chmod(0o755)
    assert done.stdout.startswith("StoreFault"), done.stdout + done.stderr
    assert "writable" in done.stdout
    assert done.stdout.rstrip().endswith("0")


def test_the_state_survives_a_pruned_record_of_who_locked(store):
    """A lock file with nonsense in it is still a lock."""
    made = paused(store)
    (store.folder("a") / "lock").write_bytes(b"\xff\xfe nonsense")
    made.owner.lines.append("stop")
    assert drive.resume("a", made, store).outcome == "stopped"


# --- shared and small


def test_twenty_four_runs_on_one_database(store):
    outcomes = []

    def go(n):
        made = parts([wrong(1), RIGHT], check=ScriptedCheck(delay_s=0.01))
        outcomes.append(drive.start(f"t{n}", job(), made, store).outcome)

    threads = [threading.Thread(target=go, args=(n,)) for n in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == ["passed"] * 24
    assert len(store.list()) == 24
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def at_the_bound(n, letters):
    """Code of 16,000 characters that packs badly, as text of this alphabet."""
    import random

    rng = random.Random(n)
    return "".join(rng.choice(letters) for _ in range(15_950))


@pytest.mark.parametrize("letters", ["abcdefghijklmnopqrstuvwxyz_ =+()"], ids=["ascii"])
def test_a_lap_at_the_bound_stays_under_100_kB(store, letters):
    laps = 8
    replies = [f"```python\n{at_the_bound(n, letters)}\n```" for n in range(laps)]
    feedback = at_the_bound(99, letters)
    made = parts(
        replies,
        [f"REJECTED {at_the_bound(n + 50, letters)}" for n in range(laps)],
        lead=[at_the_bound(77, letters)],
        check=ScriptedCheck(feedback=feedback),
    )
    assert drive.start("a", job(rejection_cap=laps), made, store).outcome == "paused"
    assert bytes_in(store) / laps < 100_000


def bytes_in(store):
    with closing(sqlite3.connect(store.checkpoints)) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        pages, size = (
            conn.execute(f"PRAGMA {p}").fetchone()[0] for p in ("page_count", "page_size")
        )
        return pages * size


def test_the_saver_as_it_comes_grows_with_steps_times_state(tmp_path):
    """The control: the same texts through the plain saver, three nodes a lap."""
    with closing(sqlite3.connect(tmp_path / "x.sqlite", check_same_thread=False)) as conn:
        plain = SqliteSaver(conn)
        laps = []
        for lap in range(8):
            laps.append({"reply": at_the_bound(lap, "abc def"), "review": at_the_bound(lap, "xyz")})
            for node in range(3):
                plain.put(
                    {"configurable": {"thread_id": "a", "checkpoint_ns": ""}},
                    {"v": 4, "id": f"{lap}{node}", "ts": "", "channel_values": {"laps": laps},
                     "channel_versions": {}, "versions_seen": {}, "updated_channels": None},
                    {"source": "loop", "step": lap, "parents": {}}, {},
                )  # fmt: skip
    assert (tmp_path / "x.sqlite").stat().st_size / 8 > 300_000


def test_what_is_no_json_cannot_get_into_a_state(tmp_path):
    with saver.opened(tmp_path / "x.sqlite", "a") as made:
        for value in ({1: "x"}, {"$": "text"}, {"a": object()}, b"raw", {"a", "b"}):
            with pytest.raises(TypeError):
                made.serde.dumps_typed(value)
        with pytest.raises(ValueError, match="Out of range"):
            made.serde.dumps_typed({"a": float("nan")})


def test_a_fault_while_finishing_is_not_swallowed(store):
    made = parts([RIGHT])
    store.root.mkdir()
    (store.root / "a.json").mkdir()
    with pytest.raises(FaultError, match="cannot be written"):
        drive.start("a", job(), made, store)
    (store.root / "a.json").rmdir()
    assert drive.resume("a", made, store).outcome == "passed"


def test_owner_lines_are_used_up(store):
    made = parts([wrong(1), wrong(2), wrong(3)], "REJECTED", owner=ScriptedOwner(["stop"]))
    assert drive.start("a", job(), made, store).outcome == "stopped"
    assert made.owner.lines == []
