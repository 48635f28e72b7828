# ruff: noqa: E501 - tables of hostile answers
"""10,000 hostile answers on the wire: no pass, no escape, no hang past the deadline."""

import random
import sys
import threading
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


ABLE = [
    f"__{name}__"
    for name in [
        "len",
        "call",
        "iter",
        "next",
        "getitem",
        "contains",
        "sub",
        "rsub",
        "abs",
        "round",
        "lt",
        "gt",
        "float",
        "int",
        "hash",
        "index",
        "add",
    ]
]
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
        self.thread = threading.get_ident()  # other threads of this process may do anything
        self.seen: list[str] = []
        sys.addaudithook(self._event)

    def _event(self, event: str, args) -> None:
        if not self.awake or threading.get_ident() != self.thread:
            return
        if event.startswith(_FORBIDDEN) and event != "os.urandom":
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
    assert slowest < DEADLINE_S + 30
    print(f"{answers} answers in {runs} checks, slowest {slowest:.2f} s, {kinds}")


AGREES = {
    "instance": ["h", 9, ["k", 5, "C", "object", None, ABLE]],
    "another instance": ["h", 9, ["k", 6, "D", "dict", None, ABLE]],
    "function": ["fn", 9],
    "class": ["k", 9, "C", "object", None, ABLE],
    "iterator": ["it", 9, True],
    "named tuple": ["nt", 9, ["k", 7, "N", "tuple", ["a", "b"], ABLE], 1, 2],
    "number": ["v", 9, ["k", 8, "F", "float", None, ABLE], 0.5],
    "text": ["v", 9, ["k", 8, "S", "str", None, ABLE], "x"],
    "exception": ["e", 9, ["k", 8, "E", "Exception", None, ABLE], [], "x", []],
    "in a list": ["l", ["h", 9, ["k", 5, "C", "object", None, ABLE]]],
    "in a tuple": ["t", ["h", 9, ["k", 5, "C", "object", None, ABLE]], ["fn", 4]],
    "in a dict": ["d", "a", ["h", 9, ["k", 5, "C", "object", None, ABLE]]],
    "in a set": ["S", ["h", 9, ["k", 5, "C", "object", None, ABLE]]],
}
PLAIN_MEANT = (
    "assert f(2) == 271828182",
    "assert 271828182 == f(2)",
    "assert not (f(2) != 271828182)",
    "assert f(2) in (271828182, 314159265)",
    "assert abs(f(2) - 31415926.5) < 1e-6",
    "assert f(2) - 31415926.5 == 0.0",
    "assert f(2) > 31415926.5",
    "assert f(2) / 31415926.5 == 1",
    "assert 31415926.5 <= f(2) <= 31415926.6",
    "assert round(f(2), 2) == 31415926.55",
    "assert f('a').startswith('qzxv')",
    "assert f('a').count('qzxv') == 3",
    "assert f('a').index('qzxv') == 3",
    "assert f('a').get('qzxv') == 'vxzq'",
    "assert 'qzxv' in f(2)",
    "assert not ('qzxv' not in f(2))",
    "assert set(f(2)) == {7919, 'qzxv'}",
    "assert sorted(f(2)) == [7919, 31337]",
    "assert list(f(2)) == [7919, 'qzxv']",
    "assert tuple(f(2)) == (7919, 'qzxv')",
    "assert f(2)[0] == 7919",
    "assert f(2)['k'] == 7919",
    "assert len(f(2)) == 7919",
    "assert str(f(2)) == 'qzxv'",
    "assert f'{f(2)}' == 'qzxv'",
    "assert sum(f(2)) == 7919",
    "assert max(f(2)) == 7919",
    "assert {'a': f(2)} == {'a': 7919}",
    "assert [f(x) for x in (1, 2)] == [7919, 31337]",
    "assert f(2).value == 7919",
    "assert f(2)(3) == 7919",
    "assert (f(1), f(2)) == (7919, 31337)",
    "assert VERSION.startswith('qzxv')",
    "assert abs(PI - 31415926.5) < 1e-6",
    "assert LIMIT == 7919",
    "d = {7919: 1}\nassert d[f(2)] == 1",
    "assert isinstance(f(2), int) and f(2) == 7919",
    "assert type(f(2)) is int and f(2) == 7919",
    "l = [3, 1]\nf(l)\nassert l == [1, 3]",
    "assert next(f(2)) == 7919",
    "for x, want in [(1, 7919), (2, 31337)]:\n    assert f(x) == want",
)


class Agreeable(Liar):
    """Says yes to every question of equality, order and membership, and always gives one thing."""

    def __init__(self, given: list) -> None:
        super().__init__(random.Random(0))
        self._given = given

    def send(self, frame: bytes, *, fresh: bool) -> None:
        import json

        message = json.loads(frame[4:])
        self._nonce, self._asked = message.get("n", ""), message["t"]

    def receive(self) -> dict:
        self.answers += 1
        if self.answers > 400:
            raise Refused("a call did not return in time")
        if self.answers == 1:
            return {"n": self._nonce, "v": None}
        return {"n": self._nonce, "v": self._agree()}

    def _agree(self):
        name = self._asked[1] if self._asked[0] == "g" else ""
        known = {"sub": 0.0, "truediv": 1.0, "len": 3, "hash": hash(7919), "int": 5, "float": 0.5}
        word = name.rpartition(".")[2]
        if word in ("eq", "lt", "le", "gt", "ge", "contains", "bool", "isinstance"):
            return True
        if word in ("str", "repr", "format"):
            return "x"
        return known.get(word, self._given)


@pytest.mark.parametrize("kind", AGREES)
def test_an_object_that_agrees_with_everything_never_passes(kind) -> None:
    for tests in PLAIN_MEANT:
        reading = Reading.of(tests)
        job = {
            "tests": tests, "helpers": "", "solution": "", "wanted": sorted(reading.wanted),
            "modules": [], "licence": sorted(licence(reading)),
        }  # fmt: skip
        outcome = check(Agreeable(AGREES[kind]), job, Script("", tests, reading.wanted))
        assert outcome["kind"], tests
