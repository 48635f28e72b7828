"""The pool by itself, with sessions that cost nothing."""

import threading
import time

from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Box, Program
from agent_loop.sandbox.pool import REST_S, Pool


class Waiting:
    """As much of a session as the pool looks at."""

    def __init__(self):
        self.lives = True
        self.closed = False

    def alive(self):
        return self.lives

    def close(self):
        self.closed = True


class Starter:
    def __init__(self, *, gate=None, failures=0):
        self.made = []
        self.failures = failures
        self.gate = gate

    def __call__(self, box):
        if self.gate:
            self.gate.wait(60)
        if self.failures:
            self.failures -= 1
            raise SandboxUnavailable("no engine")
        self.made.append(Waiting())
        return self.made[-1]


def box(name="a"):
    return Box(program=Program(name=name, modules=(), entry=""))


def until(done):
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.005)


def pool(start, **changes):
    return Pool(start, **({"per_box": 2, "in_all": 4, "look_s": 0.02} | changes))


def test_ready_ones_are_taken_once_and_refilled():
    start = Starter()
    made = pool(start)
    made.want(box(), 2)
    until(lambda: made.ready(box()) == 2)
    first, second = made.take(box()), made.take(box())
    assert first is not second
    until(lambda: made.ready(box()) == 2)
    made.close()
    assert not first.closed
    assert sum(one.closed for one in start.made) == len(start.made) - 2


def test_the_count_is_bounded_for_one_kind_and_for_all():
    start = Starter()
    made = pool(start)
    for name in "abcd":
        made.want(box(name), 9)
        until(lambda name=name: made.ready(box(name)) == 2)
    assert [made.ready(box(name)) for name in "abcd"] == [0, 0, 2, 2]
    made.close()
    assert all(one.closed for one in start.made)


def test_a_kind_nobody_wanted_is_started_by_its_taker():
    made = pool(Starter())
    assert made.take(box()) is None
    made.close()


def test_the_dead_and_the_stale_are_replaced():
    start = Starter()
    made = pool(start, stale_s=0.5)
    made.want(box(), 1)
    until(lambda: made.ready(box()) == 1)
    start.made[0].lives = False
    until(lambda: start.made[0].closed and made.ready(box()) == 1)
    until(lambda: start.made[1].closed and made.ready(box()) == 1)
    made.close()


def test_a_taker_waits_for_the_one_being_started():
    gate = threading.Event()
    start = Starter(gate=gate)
    made = pool(start)
    made.want(box(), 1)
    until(lambda: made._shelves[box()].starting == 1)
    got = []
    taker = threading.Thread(target=lambda: got.append(made.take(box())))
    taker.start()
    until(lambda: made._shelves[box()].claims == 1)
    # The second one starts its own: there is only one on its way.
    assert made.take(box()) is None
    gate.set()
    taker.join(60)
    assert got == [start.made[0]]
    made.close()


def test_a_failing_start_sends_the_taker_to_see_for_itself():
    gate = threading.Event()
    made = pool(Starter(gate=gate, failures=1))
    made.want(box(), 1)
    until(lambda: made._shelves[box()].starting == 1)
    got = []
    taker = threading.Thread(target=lambda: got.append(made.take(box())))
    taker.start()
    until(lambda: made._shelves[box()].claims == 1)
    gate.set()
    taker.join(60)
    assert got == [None]
    until(lambda: made.ready(box()) == 1)
    made.close()


def test_closing_while_one_starts_closes_that_too():
    gate = threading.Event()
    start = Starter(gate=gate)
    made = pool(start)
    made.want(box(), 2)
    until(lambda: made._shelves[box()].starting == 2)
    closer = threading.Thread(target=made.close)
    closer.start()
    gate.set()
    closer.join(60)
    assert not closer.is_alive()
    assert all(one.closed for one in start.made)
    made.want(box(), 2)
    assert made.take(box()) is None


def test_the_next_start_waits_for_the_end_of_the_one_taken():
    """A start takes the processors away from the check that has just begun."""
    start = Starter()
    made = pool(start)
    made.want(box(), 1)
    until(lambda: made.ready(box()) == 1)
    made.take(box())
    time.sleep(REST_S / 4)
    assert len(start.made) == 1
    made.used(box())
    until(lambda: len(start.made) == 2)
    # Not for ever: a session may live long.
    until(lambda: made.ready(box()) == 1)
    made.take(box())
    until(lambda: len(start.made) == 3)
    made.close()
