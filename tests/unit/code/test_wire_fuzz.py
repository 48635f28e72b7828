# ruff: noqa: E501 - tables of hostile answers
"""10,000 hostile answers on the wire: no pass, no escape, no hang past the deadline."""

import random
import sys
import time

import pytest

from agent_loop.checks.code.inside.judge import check
from agent_loop.checks.code.inside.kinds import BY_TAG
from agent_loop.checks.code.inside.marks import Script
from agent_loop.checks.code.inside.wire import Refused
from agent_loop.checks.code.licence import licence
from agent_loop.checks.code.reading import Reading

ANSWERS = 10_000
DEADLINE_S = 1.0
TESTS = (
    "assert f(2) == 271828182",
    "assert abs(f(2) - 31415926.5) < 1e-6",
    "assert f('a').startswith('qzxv')",
    "assert 'qzxv' in f(2)",
    "assert f([1, 2]) == [7919, 'qzxv']",
    "for x, y in zip(map(f, [1, 2]), [7919, 'qzxv']):\n    assert x == y",
    "s = Stack()\ns.push('qzxv')\nassert s.pop() == 'qzxv'\nassert len(s) == 7919",
    "for x in f(3):\n    assert x == 7919",
    "try:\n    f(-1)\n    assert False\nexcept MyError as e:\n    assert e.code == 7919",
    "with f(1) as g:\n    assert g.name == 'qzxv'",
    "assert f(lambda x: x.name)('b') == 'qzxv'",
    "l = [3, 1]\nf(l)\nassert l == [1, 3, 7919]",
    "assert Vec(1, 2) + Vec(3, 4) == 7919",
    "assert isinstance(f(1), Shape) and f(1).area == 7919",
)
_FORBIDDEN = ("open", "os.", "subprocess.", "socket.", "shutil.", "ctypes.", "pty.", "urllib.")


GOOD_CLASS = ("k", 5, "C", "object", None, ["__len__", "__call__", "__enter__", "__exit__"])


class Liar:
    """Answers for a solution that has taken its side over."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._nonce = ""
        self._named = False
        self._until = time.monotonic() + DEADLINE_S
        self.answers = 0
        self.unread = False

    def send(self, frame: bytes, *, fresh: bool) -> None:
        import json

        message = json.loads(frame[4:])
        self._nonce = message.get("n", "")
        self._named = message.get("t") == ["g", "builtins.getattr"]

    def receive(self) -> dict:
        if time.monotonic() > self._until:
            raise Refused("a call did not return in time")  # what the host says then
        self.answers += 1
        rng = self._rng
        if self.answers == 1:
            return {"n": self._nonce, "v": None}  # loading went well
        if self._named and rng.random() < 0.8:  # or most checks would end at the first name
            return {"n": self._nonce, "v": rng.choice([["fn", 3], ["fn", 4], list(GOOD_CLASS)])}
        kind = rng.random()
        if kind < 0.15:
            return {"n": self._nonce, "t": self._value(), "a": [self._value()], "k": {}}
        if kind < 0.18:
            return self._broken()
        answer = {
            "n": self._nonce if rng.random() < 0.97 else "0",
            rng.choice("vvvvvxr"): self._value(),
        }
        if rng.random() < 0.2:
            answer["m"] = [[rng.randrange(-1, 3), [self._value()]] for _ in range(rng.randrange(3))]
        return answer

    def _broken(self) -> dict:
        rng = self._rng
        return rng.choice([{}, {"n": None}, {"n": self._nonce}, {"m": 3, "n": self._nonce, "v": 1},
                           {"n": self._nonce, "m": [[0]], "v": 1}, {"t": None, "n": 1, "a": 2}])  # fmt: skip

    def _value(self, depth: int = 0):
        rng = self._rng
        if depth > 4 or rng.random() < 0.25:
            return rng.choice(
                [None, True, False, 0, -1, 1.5, 2**70, "", "x", "\ud800", float("inf"), {}]
            )
        more = [self._value(depth + 1) for _ in range(rng.randrange(4))]
        number = rng.choice([0, 1, 2, 3, -1, -2, 10**9, None, "0", True])
        return rng.choice([
            more, [rng.choice([*BY_TAG]), *more], ["&", number], ["H", number], ["g", self._name()],
            ["i", "f" * rng.randrange(40)], ["f", "7ff8000000000000"], ["s", "eda080"], ["zz", *more],
            ["h", number, self._class(depth)], ["v", number, self._class(depth), *more],
            ["nt", number, self._class(depth), *more], ["it", number, True], ["fn", number],
            ["e", number, rng.choice([self._class(depth), ["builtins", "ValueError", "ValueError"],
                                      ["os", "error", "OSError"], ["builtins", "StopIteration", "Exception"],
                                      [self._name(), "x", "object"]]), more, "text", [[1, "f"]]],
            self._class(depth),
        ])  # fmt: skip

    def _class(self, depth: int):
        rng = self._rng
        base = rng.choice(
            ["object", "int", "str", "Exception", "KeyError", "tuple", "type", "nope", 5]
        )
        able = rng.sample(
            ["__len__", "__call__", "__iter__", "__sub__", "__eq__", "-__hash__", "x"], 3
        )
        fields = rng.choice([None, None, ["a", "b"], ["__eq__"], ["a b"], "ab", []])
        bases = [self._value(depth + 2) for _ in range(rng.randrange(2))]
        return [
            "k",
            rng.choice([5, 6, 7, -1, None]),
            rng.choice(["C", "", "a\0", None]),
            base,
            fields,
            able,
            *bases,
        ]

    def _name(self):
        return self._rng.choice(["builtins.eval", "builtins.open", "builtins.len", "operator.add",
                                 "builtins.print", "str.format", "os.system", "", None, "builtins.next"])  # fmt: skip


class Watch:
    """Notes what no decoding may ever do; audit hooks cannot be taken away again, so it sleeps."""

    def __init__(self) -> None:
        self.awake = False
        self.seen: list[str] = []
        sys.addaudithook(self._event)

    def _event(self, event: str, args) -> None:
        if self.awake and event.startswith(_FORBIDDEN) and event != "os.urandom":
            self.seen.append(f"{event} {args!r:.80}")


@pytest.fixture(scope="module")
def jobs():
    made = []
    for tests in TESTS:
        reading = Reading.of(tests)
        job = {
            "tests": tests, "helpers": "", "solution": "", "wanted": sorted(reading.wanted),
            "modules": [], "licence": sorted(licence(reading)),
        }  # fmt: skip
        made.append((job, Script("", tests, reading.wanted)))
    return made


def test_ten_thousand_hostile_answers(jobs) -> None:
    rng, answers, runs, slowest = random.Random(12), 0, 0, 0.0
    watch = Watch()
    kinds: dict[str, int] = {}
    while answers < ANSWERS:
        job, script = jobs[runs % len(jobs)]
        liar = Liar(random.Random(rng.random()))
        began = time.monotonic()
        watch.awake = True
        try:
            outcome = check(liar, job, script)
        finally:
            watch.awake = False
        slowest = max(slowest, time.monotonic() - began)
        assert outcome["kind"], (job["tests"], outcome)
        kinds[outcome["kind"]] = kinds.get(outcome["kind"], 0) + 1
        answers += liar.answers - 1
        runs += 1
    assert not watch.seen
    assert slowest < DEADLINE_S + 4
    print(f"{answers} answers in {runs} checks, slowest {slowest:.2f} s, {kinds}")
