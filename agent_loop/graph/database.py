"""Which database the steps of a run are in: a file in `runs/`, or a PostgreSQL server."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from agent_loop.errors import StoreFault
from agent_loop.graph import saver
from agent_loop.store import RunStore

Saver = BaseCheckpointSaver[Any]


@contextmanager
def opened(store: RunStore, thread: str) -> Iterator[Saver]:
    """The steps of one thread, to be driven.

    Raises:
        StoreFault: the database cannot be used.
        ThreadError: another machine drives the thread.
        MissingExtra: PostgreSQL is wanted and its packages are not installed.
    """
    if store.database is None:
        with saver.opened(store.checkpoints, thread) as found:
            yield found
        return
    from agent_loop.graph import postgres  # noqa: PLC0415 - an extra

    with postgres.opened(store.database, thread) as kept:
        yield kept


@contextmanager
def read_only(store: RunStore, thread: str) -> Iterator[Saver | None]:
    """The steps of one thread for a look. `None`: there is no database yet.

    Raises:
        StoreFault: the database cannot be used.
    """
    if store.database is None:
        with saver.read_only(store.checkpoints, thread) as found:
            yield found
        return
    from agent_loop.graph import postgres  # noqa: PLC0415 - an extra

    with postgres.read_only(store.database, thread) as kept:
        yield kept


def fault_of(error: Exception) -> StoreFault | None:
    """A database's own error as ours; `None` for an error that is none of a database."""
    if isinstance(error, sqlite3.Error):
        return saver.store_fault("checkpoints.sqlite", error)
    if type(error).__module__.partition(".")[0] != "psycopg":
        return None
    from agent_loop.graph import postgres  # noqa: PLC0415 - it is installed: it raised

    return postgres.database_fault(error)
