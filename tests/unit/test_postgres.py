"""Graph states in PostgreSQL: the records of SQLite, through kills, with no login in them."""

import random
import signal
import sys
import threading

import pytest

from agent_loop import config
from agent_loop.errors import ConfigError, StoreFault, ThreadError
from agent_loop.graph import drive
from agent_loop.store import RunStore, read_trace
from tests.fakes.killable import drive_on, struck_child
from tests.fakes.kills import asked_again, bare, context
from tests.fakes.postgres import PASSWORD, serving
from tests.fakes.runs import RIGHT, job, parts, wrong

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(sys.platform == "win32", reason="kills by signal, runs Debian's package"),
]


@pytest.fixture(scope="module")
def database():
    with serving() as url:
        yield url


def rows(database, query, *args):
    import psycopg

    with psycopg.connect(database) as conn:
        return conn.execute(query, args).fetchall()


def long_run(database, root, thread):
    """A run whose replies are longer than what stands in a step."""
    wordy = [wrong(n) + f"\nThat is try {n}, and I explain it at length. " * 40 for n in (1, 2)]
    made = parts([*wordy, RIGHT], "APPROVED")
    return drive.start(thread, job(), made, RunStore(root, database=database)).outcome


def change(database, query, *args):
    import psycopg

    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(query, args)


def test_six_at_once_make_the_tables_once(database, tmp_path):
    """The first test of the module: each of them finds an empty database."""
    ended = []

    def run(n):
        ended.append(drive_on(str(tmp_path), f"first{n}", 0.0, database=database))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ended == ["passed"] * 6


def test_the_record_is_that_of_sqlite(database, tmp_path):
    assert drive_on(str(tmp_path), "there", 0.0, database=database) == "passed"
    assert drive_on(str(tmp_path / "sqlite"), "here", 0.0) == "passed"
    there = RunStore(tmp_path).read_record("there")
    here = RunStore(tmp_path / "sqlite").read_record("here")
    assert bare(there) == bare(here)
    assert not (tmp_path / "checkpoints.sqlite").exists()


def test_a_long_text_is_stored_once(database, tmp_path):
    assert long_run(database, tmp_path, "once") == "passed"
    (count, bytes_), *_ = rows(
        database, "SELECT count(*), sum(length(body)) FROM texts WHERE thread_id = 'once'"
    )
    (steps, longest), *_ = rows(
        database,
        "SELECT count(*), max(length(checkpoint::text)) FROM checkpoints WHERE thread_id = 'once'",
    )
    assert 2 <= count < 12
    assert bytes_ < 4_000
    assert steps > 8
    assert longest < 6_000


def test_killed_runs_go_on_in_another_process(database, tmp_path):
    store = RunStore(tmp_path, database=database)
    assert drive_on(str(tmp_path), "whole", 0.0, database=database) == "passed"
    events = len(list(read_trace(store.trace_path("whole"))))
    for n in random.Random(4).sample(range(1, events), 4):
        thread = f"k{n}"
        process = context().Process(
            target=struck_child, args=(str(tmp_path), thread, n, database)
        )  # fmt: skip
        process.start()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        process.close()
        assert drive_on(str(tmp_path), thread, 0.0, database=database) == "passed"
        assert bare(store.read_record(thread)) == bare(store.read_record("whole"))
        assert not asked_again(store.trace_path(thread))


def test_two_machines_do_not_drive_one_thread(database, tmp_path):
    """Their lock files lie in different folders: the database itself says no."""
    from agent_loop.graph import database as place

    first = RunStore(tmp_path / "one", database=database)
    with place.opened(first, "shared"):
        with pytest.raises(ThreadError, match="driven by another process"):
            drive_on(str(tmp_path / "two"), "shared", 0.0, database=database)
        assert drive_on(str(tmp_path / "two"), "other", 0.0, database=database) == "passed"
    assert drive_on(str(tmp_path / "three"), "shared", 0.0, database=database) == "passed"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("UPDATE checkpoint_blobs SET type = 'pickle' WHERE thread_id = %s", "does not write"),
        ("DELETE FROM texts WHERE thread_id = %s", "is gone"),
        ("UPDATE texts SET body = 'x' WHERE thread_id = %s", "damaged|not the one"),
    ],
)
def test_a_tampered_database_is_refused(database, tmp_path, query, problem):
    thread = f"tampered-{problem[:2]}"
    assert long_run(database, tmp_path, thread) == "passed"
    change(database, query, thread)
    with pytest.raises(StoreFault, match=problem):
        drive.standing(RunStore(tmp_path, database=database), thread)


def test_no_server_is_a_fault_without_the_login(tmp_path):
    url = f"postgresql://owner:{PASSWORD}@127.0.0.1:1/postgres"
    with pytest.raises(StoreFault, match="PostgreSQL") as caught:
        drive_on(str(tmp_path), "a", 0.0, database=url)
    assert PASSWORD not in str(caught.value)


def test_a_wrong_password_is_a_fault_without_it(database, tmp_path):
    wrong = database.replace(PASSWORD, "wr0ng-but-private")
    with pytest.raises(StoreFault, match="password authentication failed") as caught:
        drive_on(str(tmp_path), "a", 0.0, database=wrong)
    assert "wr0ng" not in str(caught.value)


@pytest.mark.parametrize("secret", ["s3cret", "p@ss/w:rd", "a'b\"c"])
def test_no_login_in_a_record(secret):
    url = f"postgresql://owner:{secret}@db.example:5432/runs"
    made = config.load(None, {}, ["checkpoints='" + url.replace("'", "''") + "'"])
    assert made.database == url
    assert made.as_record()["checkpoints"] == "postgresql://[redacted]@db.example:5432/runs"
    assert secret not in str(made.as_record())


@pytest.mark.parametrize(
    "text", ["mysql://x", "postgres", "postgresql://db/x?password=hunter2", "", "postgresql://"]
)
def test_what_is_no_database_is_refused_without_quoting_it(text):
    with pytest.raises(ConfigError) as caught:
        config.load(None, {}, [f"checkpoints='{text}'"])
    said = str(caught.value).partition(": ")[2]
    assert "hunter2" not in said
