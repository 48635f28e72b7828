"""LangGraph's SQLite saver with our own serialiser: JSON only, long texts stored once.

SqliteSaver writes the whole state at every step; a text of 16,000 characters that three nodes carry
would be stored three times, and again in the next lap. Here a text of more than 256 characters goes
compressed into the table `texts` under its hash, and the checkpoint holds the hash.

Nothing is ever built from a name in the database, so a tampered one can only be refused.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.sqlite import SqliteSaver

from agent_loop.errors import StoreFault
from agent_loop.graph.serde import JsonSerde, texts_in, unreadable

__all__ = ["BUSY_S", "TextSaver", "opened", "read_only", "store_fault", "texts_in", "unreadable"]

BUSY_S = 30.0
"""How long a write waits for another process. Python's default of 5 s loses against a backup."""
_TABLE = """CREATE TABLE IF NOT EXISTS texts (
    thread_id TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (thread_id, hash)
)"""


class TextSaver(SqliteSaver):
    """SqliteSaver whose every commit takes the new texts along.

    They are written here, under the saver's lock, and not where a step is serialised: langgraph
    does that in other threads, and a thread that waits for a connection in use holds the
    interpreter, so the run that has the database could not go on (24 runs in one process stood
    still until every wait timed out).
    """

    def __init__(self, conn: sqlite3.Connection, thread: str) -> None:
        serde = JsonSerde(lambda name: _text(conn, thread, name))
        super().__init__(conn, serde=serde)
        self._texts = serde
        self._thread = thread

    def with_allowlist(self, extra_allowlist: object) -> "TextSaver":
        """Itself: there are no classes to allow, and the library's own answer is a warning."""
        return self

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save pauses, answers and errors; leave out what the step itself holds in a moment.

        One node runs at a time, and its step is committed right after its writes: a second commit
        for them would spare a repeated node only to a kill between the two.
        """
        if any(channel in WRITES_IDX_MAP for channel, _ in writes):
            super().put_writes(config, writes, task_id, task_path)

    @contextmanager
    def cursor(self, transaction: bool = True) -> Iterator[sqlite3.Cursor]:
        with super().cursor(transaction) as cursor:
            yield cursor
            if transaction:
                _write_texts(cursor, self._thread, self._texts)


def _text(conn: sqlite3.Connection, thread: str, name: str) -> object:
    row = conn.execute(
        "SELECT body FROM texts WHERE thread_id = ? AND hash = ?", (thread, name)
    ).fetchone()
    return row[0] if row else None


def _write_texts(cursor: sqlite3.Cursor, thread: str, texts: JsonSerde) -> None:
    """Insert the texts that steps have named since, in the transaction of their step."""
    new = texts.new_texts()
    if new:
        rows = [(thread, name, body) for name, body in new]
        cursor.executemany(
            "INSERT OR IGNORE INTO texts (thread_id, hash, body) VALUES (?, ?, ?)", rows
        )
    texts.written(name for name, _ in new)


@contextmanager
def opened(path: Path, thread: str, *, busy_s: float = BUSY_S) -> Iterator[SqliteSaver]:
    """The saver of one thread, closed at the end. Looks first whether the database takes writes.

    Raises:
        StoreFault: locked for longer than `busy_s`, read-only, damaged, or on a network folder.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        conn = sqlite3.connect(path, timeout=busy_s, check_same_thread=False)
    except (sqlite3.Error, OSError) as error:
        raise store_fault(path, error) from error
    with closing(conn):
        try:
            mode = conn.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            # A commit must be on the disk before the next node starts, power cut or not.
            conn.execute("PRAGMA synchronous=FULL")
            conn.execute(_TABLE)
            conn.execute("BEGIN IMMEDIATE")
            conn.rollback()
            saver = TextSaver(conn, thread)
            saver.setup()
        except sqlite3.Error as error:
            raise store_fault(path, error) from error
        if mode != "wal":
            raise StoreFault(
                f"{path}: this folder cannot keep a database that several processes write "
                "(a network or synced folder?). Put runs_dir on a local disk."
            )
        yield saver


@contextmanager
def read_only(path: Path, thread: str) -> Iterator[SqliteSaver | None]:
    """The saver of one thread for a look: no lock is taken and nothing is made. `None`: no file.

    Raises:
        StoreFault: it cannot be opened.
    """
    if not path.is_file():
        yield None
        return
    try:
        conn = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S, check_same_thread=False
        )
    except sqlite3.Error as error:
        raise store_fault(path, error) from error
    with closing(conn):
        saver = TextSaver(conn, thread)
        saver.is_setup = True  # its set-up writes
        yield saver


def store_fault(path: Path | str, error: Exception) -> StoreFault:
    """SQLite's own words, with what to do about them."""
    text = str(error)
    if "locked" in text or "busy" in text:
        fix = "Another process held it too long: find it, then --continue."
    elif "readonly" in text or "unable to open" in text or isinstance(error, OSError):
        fix = "Make the file and its folder writable, then --continue."
    elif "full" in text or "disk" in text:
        fix = "Free some disk space, then --continue."
    else:
        fix = "If it is damaged, move it away and start the task again."
    return StoreFault(f"{path}: {text}. {fix}")
