"""The same checkpoints in PostgreSQL (`checkpoints: postgresql://…`): the extra `scale`.

The library keeps texts inline in every step's row; here they go into a table of their own, once, as
in SQLite. The lock of a thread is kept in the database too: its files may be on several machines.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from agent_loop.errors import MissingExtra, StoreFault, ThreadError
from agent_loop.graph.serde import LONG_CHARS, JsonSerde, Kept
from agent_loop.redact import redact

try:
    import psycopg
    from langgraph.checkpoint.postgres import PostgresSaver
    from psycopg.rows import dict_row
except ModuleNotFoundError as error:
    raise MissingExtra(
        "scale", f"{error.name}, which `checkpoints: postgresql://` needs,"
    ) from error

if TYPE_CHECKING:
    Connection = psycopg.Connection[dict[str, Any]]

CONNECT_S = 10
GONE_S = 3.0
SET_UP_S = 30.0
"""How long one process waits for another that makes the tables."""
_SETTING_UP = 0x6167656E74  # "agent": nobody else's advisory lock
_OPTIONS = "-c statement_timeout=60000 -c lock_timeout=30000 -c synchronous_commit=on"
_TABLE = """CREATE TABLE IF NOT EXISTS texts (
    thread_id TEXT NOT NULL, hash TEXT NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (thread_id, hash)
)"""


class PostgresTextSaver(PostgresSaver):
    """PostgresSaver over plain JSON, long texts stored once."""

    def __init__(self, conn: "Connection", thread: str) -> None:
        serde = JsonSerde(lambda name: _text(conn, thread, name))
        super().__init__(conn, serde=serde)
        self._texts = serde
        self._thread = thread

    def with_allowlist(self, extra_allowlist: object) -> "PostgresTextSaver":
        """Itself: there are no classes to allow."""
        return self

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        try:
            return super().get_tuple(config)
        except StoreFault as fault:
            said = str(fault).replace("checkpoints.sqlite", "PostgreSQL", 1)
            raise StoreFault(said) from fault

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Texts first: a step that is committed names only texts that are there."""
        values = {
            name: Kept(value) if isinstance(value, str) and len(value) > LONG_CHARS else value
            for name, value in checkpoint["channel_values"].items()
        }
        self._write_texts(values)
        whole = cast(Checkpoint, {**checkpoint, "channel_values": values})
        return super().put(config, whole, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Pauses, answers and errors; the step itself holds the rest in a moment (see saver)."""
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            self._write_texts([value for _, value in writes])
            super().put_writes(config, writes, task_id, task_path)

    def _write_texts(self, values: object) -> None:
        self._texts.dumps_typed(values)
        new = self._texts.new_texts()
        if not new:
            return
        with self._cursor(pipeline=True) as cursor:
            cursor.executemany(
                "INSERT INTO texts (thread_id, hash, body) VALUES (%s, %s, %s) "
                "ON CONFLICT DO NOTHING",
                [(self._thread, name, body) for name, body in new],
            )
        self._texts.written(name for name, _ in new)


@contextmanager
def opened(url: str, thread: str) -> Iterator[PostgresTextSaver]:
    """The saver of one thread, which nobody else drives meanwhile; closed at the end.

    Raises:
        ThreadError: another machine drives the thread.
        StoreFault: the server cannot be used.
    """
    with _connected(url) as conn:
        try:
            _set_up(conn, thread)
            held = _take_thread(conn, thread)
        except psycopg.Error as error:
            raise database_fault(error) from error
        if not held:
            raise ThreadError(f"thread '{thread}' is driven by another process of this database.")
        yield PostgresTextSaver(conn, thread)


@contextmanager
def read_only(url: str, thread: str) -> Iterator[PostgresTextSaver | None]:
    """The saver of one thread for a look: nothing is made. `None`: there are no tables.

    Raises:
        StoreFault: the server cannot be used.
    """
    with _connected(url) as conn:
        try:
            ready = _is_set_up(conn)
        except psycopg.Error as error:
            raise database_fault(error) from error
        yield PostgresTextSaver(conn, thread) if ready else None


def database_fault(error: Exception) -> StoreFault:
    """The server's own words, without a login, and what to do."""
    said = redact(" ".join(str(error).split()))[:300]
    return StoreFault(
        f"PostgreSQL: {said or type(error).__name__}. Look whether the server of `checkpoints:` is "
        "up and lets you in (the password may stand in PGPASSWORD or ~/.pgpass), then --continue."
    )


@contextmanager
def _connected(url: str) -> "Iterator[Connection]":
    try:
        conn = psycopg.connect(
            url,
            autocommit=True,
            prepare_threshold=0,
            row_factory=dict_row,
            connect_timeout=CONNECT_S,
            options=_OPTIONS,
            application_name="agent-loop",
        )
    except psycopg.Error as error:
        raise database_fault(error) from error
    try:
        yield conn
    finally:
        conn.close()


def _take_thread(conn: "Connection", thread: str) -> bool:
    """The right to drive a thread; a server sees late that a killed driver is gone."""
    end = time.monotonic() + GONE_S
    while True:
        row = conn.execute(
            "SELECT pg_try_advisory_lock(hashtextextended(%s, 0)) AS held", (thread,)
        ).fetchone()
        if row and row["held"]:
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.1)


def _text(conn: "Connection", thread: str, name: str) -> object:
    row = conn.execute(
        "SELECT body FROM texts WHERE thread_id = %s AND hash = %s", (thread, name)
    ).fetchone()
    return bytes(row["body"]) if row else None


def _is_set_up(conn: "Connection") -> bool:
    there = conn.execute(
        "SELECT to_regclass('checkpoint_migrations') IS NOT NULL "
        "AND to_regclass('texts') IS NOT NULL AS there"
    ).fetchone()
    if not there or not there["there"]:
        return False
    newest = conn.execute("SELECT max(v) AS newest FROM checkpoint_migrations").fetchone()
    return newest is not None and newest["newest"] == len(PostgresSaver.MIGRATIONS) - 1


def _set_up(conn: "Connection", thread: str) -> None:
    """Make the tables, one process at a time.

    Asked for and not waited for: a session that waits for a lock inside a statement holds a
    snapshot, and `CREATE INDEX CONCURRENTLY` waits for every snapshot there is.
    """
    end = time.monotonic() + SET_UP_S
    while not _is_set_up(conn):
        taken = conn.execute("SELECT pg_try_advisory_lock(%s) AS held", (_SETTING_UP,)).fetchone()
        if taken and taken["held"]:
            try:
                conn.execute(_TABLE)
                PostgresTextSaver(conn, thread).setup()
            finally:
                conn.execute("SELECT pg_advisory_unlock(%s)", (_SETTING_UP,))
        elif time.monotonic() > end:
            raise StoreFault("PostgreSQL: another process has been making the tables for 30 s.")
        else:
            time.sleep(0.05)
