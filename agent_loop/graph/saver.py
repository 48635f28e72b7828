"""LangGraph's SQLite saver with our own serialiser: JSON only, long texts stored once.

SqliteSaver writes the whole state at every step; a text of 16,000 characters that three nodes carry
would be stored three times, and again in the next lap. Here a text of more than 256 characters goes
compressed into the table `texts` under its hash, and the checkpoint holds the hash.

Nothing is ever built from a name in the database, so a tampered one can only be refused.
"""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Interrupt

from agent_loop.errors import StoreFault
from agent_loop.ports import Json

LONG_CHARS = 256
BUSY_S = 30.0
"""How long a write waits for another process. Python's default of 5 s loses against a backup."""
MAX_TEXT_BYTES = 8 << 20
_MAX_DOCUMENT_BYTES = 64 << 20
_TAG = "$"
_KIND = "agent-loop-json"
_PACKED = "agent-loop-json-z"
_TABLE = """CREATE TABLE IF NOT EXISTS texts (
    thread_id TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (thread_id, hash)
)"""


class JsonSerde:
    """LangGraph's SerializerProtocol over JSON and the table of texts."""

    def __init__(self, conn: sqlite3.Connection, thread: str) -> None:
        self._conn = conn
        self._thread = thread
        self._kept: set[str] = set()
        self._new: dict[str, bytes] = {}

    def dumps_typed(self, obj: object) -> tuple[str, bytes]:
        """What langgraph stores: checkpoints, channel values, interrupts.

        Raises:
            TypeError: something that is not plain JSON got into the state.
        """
        raw = json.dumps(self._plain(obj), allow_nan=False, separators=(",", ":")).encode()
        # Mostly channel versions, 50 bytes each and alike: they pack to a fifth.
        return (_KIND, raw) if len(raw) < LONG_CHARS else (_PACKED, zlib.compress(raw, 6))

    def loads_typed(self, data: tuple[str, bytes]) -> object:
        """Raises StoreFault for what this class did not write."""
        kind, raw = data
        try:
            return self._rich(_document(kind, raw))
        except RecursionError as error:
            raise unreadable(f"a saved step is damaged ({error})") from error

    def _plain(self, value: object) -> Json:
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, str):
            return {_TAG: "text", "hash": self._keep(value)} if len(value) > LONG_CHARS else value
        if isinstance(value, dict):
            if not all(isinstance(key, str) and key != _TAG for key in value):
                raise TypeError(f"only text keys other than '{_TAG}' can be saved")
            return {key: self._plain(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._plain(item) for item in value]
        if isinstance(value, Interrupt):
            return {_TAG: "interrupt", "value": self._plain(value.value), "id": value.id}
        if isinstance(value, BaseException):
            return repr(value)[
                :1_000
            ]  # langgraph notes a failed task's error; nobody reads it back
        raise TypeError(f"a {type(value).__name__} cannot be saved: states are plain JSON")

    def _rich(self, value: Json) -> object:
        if isinstance(value, list):
            return [self._rich(item) for item in value]
        if not isinstance(value, dict):
            return value
        tag = value.get(_TAG)
        if tag is None:
            return {key: self._rich(item) for key, item in value.items()}
        if tag == "text":
            return self._text(value.get("hash"))
        if tag == "interrupt" and isinstance(value.get("id"), str):
            return Interrupt(value=self._rich(value.get("value")), id=value["id"])
        raise unreadable("a saved step holds an unknown tag")

    def _keep(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        name = hashlib.sha256(raw).hexdigest()
        if name not in self._kept and name not in self._new:
            self._new[name] = zlib.compress(raw, 6)
        return name

    def write_texts(self, cursor: sqlite3.Cursor) -> None:
        """Insert the texts that steps have named since, in the transaction of their step."""
        rows = [(self._thread, name, body) for name, body in list(self._new.items())]
        if rows:
            cursor.executemany(
                "INSERT OR IGNORE INTO texts (thread_id, hash, body) VALUES (?, ?, ?)", rows
            )
        for _, name, _ in rows:
            self._kept.add(name)
            self._new.pop(name, None)

    def _text(self, name: object) -> str:
        row = self._conn.execute(
            "SELECT body FROM texts WHERE thread_id = ? AND hash = ?", (self._thread, str(name))
        ).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise unreadable("a text that a saved step names is gone")
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(row[0], MAX_TEXT_BYTES)
        except zlib.error as error:
            raise unreadable(f"a saved text is damaged ({error})") from error
        if hashlib.sha256(raw).hexdigest() != name:
            raise unreadable("a saved text is not the one its hash names")
        return raw.decode("utf-8", "replace")


def texts_in(kind: object, raw: object) -> set[str]:
    """Hashes of the long texts that a saved document names.

    Raises:
        StoreFault: this program did not write it.
    """
    return _named(_document(kind, raw))


def _named(value: Json) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_named, value))
    if not isinstance(value, dict):
        return set()
    if value.get(_TAG) == "text":
        return {str(value.get("hash"))}
    return set().union(*map(_named, value.values()))


def _document(kind: object, raw: object) -> Json:
    if kind not in (_KIND, _PACKED) or not isinstance(raw, bytes):
        raise unreadable("a saved step is of a kind that this program does not write")
    try:
        if kind == _PACKED:
            raw = zlib.decompressobj().decompress(raw, _MAX_DOCUMENT_BYTES)
        document: Json = json.loads(raw)
    except (ValueError, RecursionError, zlib.error) as error:
        raise unreadable(f"a saved step is damaged ({error})") from error
    return document


class TextSaver(SqliteSaver):
    """SqliteSaver whose every commit takes the new texts along.

    They are written here, under the saver's lock, and not where a step is serialised: langgraph
    does that in other threads, and a thread that waits for a connection in use holds the
    interpreter, so the run that has the database could not go on (24 runs in one process stood
    still until every wait timed out).
    """

    def __init__(self, conn: sqlite3.Connection, serde: JsonSerde) -> None:
        super().__init__(conn, serde=serde)
        self._texts = serde

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
                self._texts.write_texts(cursor)


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
            saver = TextSaver(conn, JsonSerde(conn, thread))
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
        saver = TextSaver(conn, JsonSerde(conn, thread))
        saver.is_setup = True  # its set-up writes
        yield saver


def unreadable(problem: str) -> StoreFault:
    """A database that holds something this program did not write."""
    return StoreFault(
        f"checkpoints.sqlite: {problem}. Nothing was run. "
        "Start the task again under a new --thread."
    )


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
