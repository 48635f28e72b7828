"""Takes steps that nobody needs out of checkpoints.sqlite, and gives the disk its room back.

A finished run keeps its last step, so that it still says how it ended; a run that can be continued
keeps all it has. What belongs to no step any more (writes, texts) goes, and so does everything of a
thread whose folder is gone. Each thread is pruned in one transaction under its own lock: a kill in
the middle leaves whole threads, and a thread that is driven is passed over.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from agent_loop.errors import AgentLoopError, StoreFault, ThreadError
from agent_loop.graph.drive import standing
from agent_loop.graph.jobs import FILE
from agent_loop.graph.saver import BUSY_S, store_fault, texts_in
from agent_loop.store import RunStore

Kind = Literal["finished", "resumable", "foreign", "driven", "unreadable"]
_WHY: Mapping[Kind, str] = {
    "finished": "finished: keeps its last step",
    "resumable": "can be continued: keeps its steps",
    "foreign": "its folder is gone",
    "driven": "driven now: left alone",
    "unreadable": "cannot be read: left alone",
}
_TABLES = ("checkpoints", "writes", "texts")
_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """What pruning does to one thread."""

    thread: str
    kind: Kind
    last_step_too: bool = False
    """A size budget takes the last step of the oldest finished runs as well."""
    rows: int = 0
    """Rows that go, of all three tables."""
    freed_bytes: int = 0
    left_bytes: int = 0

    @property
    def why(self) -> str:
        """For people."""
        return "finished: over the size budget" if self.last_step_too else _WHY[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruning:
    """What pruning would do, or did."""

    cuts: tuple[Cut, ...]
    size_bytes: int
    """Of the database and its journal before."""
    after_bytes: int | None = None
    """`None`: nothing was done."""
    note: str = ""

    @property
    def freed_bytes(self) -> int:
        """Content of the rows that go; the file shrinks by about as much."""
        return sum(cut.freed_bytes for cut in self.cuts)


@dataclass(slots=True)
class _Rows:
    """The rows of one thread by table: what stays and what goes."""

    stay: dict[str, dict[_Key, int]]
    go: dict[str, dict[_Key, int]]


def plan(store: RunStore, *, keep_bytes: int | None = None) -> Pruning:
    """What `prune` would do; nothing is written.

    Raises:
        StoreFault: the database cannot be read.
    """
    if store.database is not None:
        return Pruning(cuts=(), size_bytes=0, note="the steps are in PostgreSQL: prune them there")
    if store.database is not None:
        note = "the steps are in PostgreSQL, which this does not prune"
        return Pruning(cuts=(), size_bytes=0, note=note)
    if not store.checkpoints.is_file():
        return Pruning(cuts=(), size_bytes=0, note=f"{store.checkpoints} is not there")
    with _connected(store) as conn:
        cuts = [_cut(conn, store, thread) for thread in _threads(conn)]
        cuts = _within(conn, cuts, store, keep_bytes)
    return Pruning(cuts=tuple(cuts), size_bytes=size_of(store))


def prune(store: RunStore, *, keep_bytes: int | None = None) -> Pruning:
    """Do it, then shrink the file and its journal.

    Raises:
        StoreFault: the database cannot be read or written; threads done before stay done.
    """
    planned = plan(store, keep_bytes=keep_bytes)
    if not planned.size_bytes:
        return planned
    with _connected(store) as conn:
        done = tuple(_carry_out(conn, store, cut) for cut in planned.cuts)
        note = _shrink(conn, busy=any(cut.kind == "driven" for cut in done))
    return replace(planned, cuts=done, after_bytes=size_of(store), note=note)


def size_of(store: RunStore) -> int:
    """Bytes on the disk, journal included."""
    paths = [store.checkpoints.with_name(store.checkpoints.name + end) for end in ("", "-wal")]
    return sum(path.stat().st_size for path in paths if path.exists())


@contextmanager
def _connected(store: RunStore) -> Iterator[sqlite3.Connection]:
    path = store.checkpoints
    try:
        with closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as conn:
            yield conn
    except sqlite3.Error as error:
        raise store_fault(path, error) from error


def _threads(conn: sqlite3.Connection) -> list[str]:
    known = {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    found: set[str] = set()
    for table in _TABLES:
        if table in known:
            query = f"SELECT DISTINCT thread_id FROM {table}"  # noqa: S608 - names of our own
            found |= {str(row[0]) for row in conn.execute(query)}
    return sorted(found)


def _kind(store: RunStore, thread: str) -> Kind:
    try:
        if store.driver(thread):
            return "driven"
        if store.read_file(thread, FILE) is None:
            return "foreign"
    except ThreadError:
        return "foreign"
    try:
        at = standing(store, thread)
        ended = not at.next and at.outcome and _recorded(store, thread) == at.outcome
    except AgentLoopError:
        return "unreadable"
    return "finished" if ended else "resumable"


def _recorded(store: RunStore, thread: str) -> object:
    try:
        return store.read_record(thread).get("outcome")
    except ThreadError:
        return None


def _cut(conn: sqlite3.Connection, store: RunStore, thread: str) -> Cut:
    kind = _kind(store, thread)
    try:
        return _measured(conn, Cut(thread=thread, kind=kind))
    except StoreFault:  # an older step than the newest is damaged
        return _measured(conn, Cut(thread=thread, kind="unreadable"))


def _measured(conn: sqlite3.Connection, cut: Cut) -> Cut:
    rows = _rows(conn, cut)
    return replace(
        cut,
        rows=sum(map(len, rows.go.values())),
        freed_bytes=sum(sum(sizes.values()) for sizes in rows.go.values()),
        left_bytes=sum(sum(sizes.values()) for sizes in rows.stay.values()),
    )


def _rows(conn: sqlite3.Connection, cut: Cut) -> _Rows:
    rows = _Rows({t: {} for t in _TABLES}, {t: {} for t in _TABLES})
    named: set[str] = set()
    kept = _kept_steps(conn, cut)
    for table in ("checkpoints", "writes"):
        body = "checkpoint" if table == "checkpoints" else "value"
        more = "length(metadata)" if table == "checkpoints" else "length(channel)"
        for rowid, ns, step, kind, raw, extra in conn.execute(
            f"SELECT rowid, checkpoint_ns, checkpoint_id, type, {body}, {more} FROM {table} "  # noqa: S608 - names of our own
            "WHERE thread_id = ?",
            (cut.thread,),
        ):
            stays = (ns, step) in kept
            side = rows.stay if stays else rows.go
            side[table][(rowid,)] = len(raw or b"") + int(extra or 0) + 100
            if stays and cut.kind not in ("driven", "unreadable"):
                named |= texts_in(kind, raw)
    untouched = cut.kind in ("driven", "unreadable")
    for name, size in conn.execute(
        "SELECT hash, length(body) FROM texts WHERE thread_id = ?", (cut.thread,)
    ):
        side = rows.stay if untouched or name in named else rows.go
        side["texts"][(name,)] = int(size) + 100
    return rows


def _kept_steps(conn: sqlite3.Connection, cut: Cut) -> set[tuple[str, str]]:
    everything = conn.execute(
        "SELECT checkpoint_ns, checkpoint_id FROM checkpoints WHERE thread_id = ?", (cut.thread,)
    ).fetchall()
    if cut.kind in ("driven", "unreadable", "resumable"):
        return set(everything)
    if cut.kind == "foreign" or cut.last_step_too:
        return set()
    newest: dict[str, str] = {}
    for ns, step in everything:
        newest[ns] = max(step, newest.get(ns, ""))
    return set(newest.items())


def _within(
    conn: sqlite3.Connection, cuts: list[Cut], store: RunStore, keep_bytes: int | None
) -> list[Cut]:
    """Take the last step of finished runs too, oldest first, until the rest fits."""
    if keep_bytes is None:
        return cuts
    started = {summary.thread: summary.started for summary in store.list()}
    finished = [cut for cut in cuts if cut.kind == "finished"]
    left = sum(cut.left_bytes for cut in cuts)
    by_thread = {cut.thread: cut for cut in cuts}
    for cut in sorted(finished, key=lambda one: (started.get(one.thread, ""), one.thread)):
        if left <= keep_bytes:
            break
        left -= cut.left_bytes
        by_thread[cut.thread] = _measured(conn, replace(cut, last_step_too=True))
    return [by_thread[cut.thread] for cut in cuts]


def _carry_out(conn: sqlite3.Connection, store: RunStore, cut: Cut) -> Cut:
    """One thread, in one transaction; what it is is looked at again under its lock."""
    if not cut.rows:
        return cut
    try:
        if cut.kind == "foreign":  # a lock would make its folder again
            return _delete(conn, store, cut)
        with store.lock(cut.thread):
            return _delete(conn, store, cut, locked=True)
    except ThreadError:
        return replace(cut, kind="driven", rows=0, freed_bytes=0)


def _delete(conn: sqlite3.Connection, store: RunStore, cut: Cut, *, locked: bool = False) -> Cut:
    conn.execute("BEGIN IMMEDIATE")
    try:
        now = cut.kind if locked else _kind(store, cut.thread)
        if now == cut.kind:
            cut = _measured(conn, cut)
            rows = _rows(conn, cut)
            for table in ("checkpoints", "writes"):
                conn.executemany(f"DELETE FROM {table} WHERE rowid = ?", list(rows.go[table]))  # noqa: S608 - names of our own
            conn.executemany(
                "DELETE FROM texts WHERE thread_id = ? AND hash = ?",
                [(cut.thread, name) for (name,) in rows.go["texts"]],
            )
        conn.execute("COMMIT")
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    return cut if now == cut.kind else replace(cut, kind=now, rows=0, freed_bytes=0)


def _shrink(conn: sqlite3.Connection, *, busy: bool) -> str:
    if busy:
        return "a run is driven now: the file shrinks at the next --prune"
    try:
        conn.execute("PRAGMA busy_timeout=5000")
        conn.execute("VACUUM")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        return f"the rows are gone, but the file could not be shrunk ({error}); prune again later"
    return ""
