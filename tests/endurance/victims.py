"""What runs in processes of their own: they kill themselves at a chosen moment, or lose time."""

import os
import signal
import sqlite3
import threading
import time
from pathlib import Path

from tests.fakes.killable import drive_on

DAY_NS = 24 * 3600 * 10**9


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Countdown:
    """Kills its process at the nth call, before or after the real thing is done."""

    def __init__(self, real, n, *, after):
        self.real, self.left, self.after = real, n, after

    def __call__(self, *args, **more):
        self.left -= 1
        if self.left == 0 and not self.after:
            die()
        done = self.real(*args, **more)
        if self.left == 0:
            die()
        return done


def at_system_call(root, thread, name, n, after):
    """Dies at the nth `os.fsync`, `os.open` or `os.write`: in the middle of writing a file."""
    setattr(os, name, Countdown(getattr(os, name), n, after=after))
    drive_on(root, thread, 0.0)


class Committing(sqlite3.Connection):
    """A connection whose nth commit is underway when its process dies."""

    left = 0
    delay_s = 0.0

    def commit(self):
        Committing.left -= 1
        if Committing.left == 0:
            threading.Timer(Committing.delay_s, die).start()
        super().commit()
        if Committing.left == 0:
            time.sleep(0.05)
            die()


def at_commit(root, thread, n, delay_s):
    real = sqlite3.connect

    def connect(*args, **more):
        return real(*args, **{**more, "factory": Committing})

    sqlite3.connect = connect
    Committing.left, Committing.delay_s = n, delay_s
    drive_on(root, thread, 0.0)


def a_day_ago(root, thread, n):
    """Goes on with the clock set back by a day; dies at its nth event where n is given."""
    from tests.fakes.killable import Struck

    real = time.time_ns
    time.time_ns = lambda: real() - DAY_NS
    drive_on(root, thread, 0.0, live=Struck(n) if n else None)


def many_runs(root, first, count, threads):
    """`count` runs on one database, some at a time."""
    from agent_loop.graph import drive
    from agent_loop.store import RunStore
    from tests.fakes.check import ScriptedCheck
    from tests.fakes.runs import RIGHT, job, parts, wrong

    store, numbers = RunStore(Path(root)), iter(range(first, first + count))
    lock, bad = threading.Lock(), []

    def work():
        while True:
            with lock:
                n = next(numbers, None)
            if n is None:
                return
            made = parts([wrong(1), wrong(2), RIGHT], check=ScriptedCheck(delay_s=0.005))
            outcome = drive.start(f"p{n}", job(), made, store).outcome
            if outcome != "passed":
                bad.append(outcome)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if bad:
        raise SystemExit(f"not passed: {bad}")
