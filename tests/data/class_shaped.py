# ruff: noqa: E501 - code as a model would write it
"""Honest class-shaped tasks: a right solution, a wrong one (by replacing a piece), the tests.

`shared` tasks are those whose tests need solution and asserts in one process: found at load.
"""

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True, kw_only=True)
class Shaped:
    name: str
    code: str
    wrong: tuple[str, str]
    """A piece of the code, and what a wrong solution has in its place."""
    tests: tuple[str, ...]
    shared: bool = False

    @property
    def broken(self) -> str:
        assert self.wrong[0] in self.code, self.name
        return self.code.replace(*self.wrong)


def _task(
    name: str, code: str, wrong: tuple[str, str], tests: str, *, shared: bool = False
) -> Shaped:
    blocks = tuple(block for block in dedent(tests).strip().split("\n---\n"))
    return Shaped(name=name, code=dedent(code), wrong=wrong, tests=blocks, shared=shared)


TASKS = (
    _task("stack", """
        class Stack:
            def __init__(self): self._i = []
            def push(self, x): self._i.append(x)
            def pop(self):
                if not self._i: raise IndexError("pop from empty stack")
                return self._i.pop()
            def peek(self): return self._i[-1]
            def is_empty(self): return not self._i
            def __len__(self): return len(self._i)
            def __contains__(self, x): return x in self._i
        """, ("self._i.pop()", "self._i.pop(0)"), """
        s = Stack()
        assert s.is_empty()
        for i in range(3): s.push(i)
        ---
        assert len(s) == 3 and s.peek() == 2
        assert 1 in s
        assert 7 not in s
        ---
        assert [s.pop() for _ in range(3)] == [2, 1, 0]
        ---
        try:
            s.pop()
            assert False, "empty"
        except IndexError as e:
            assert str(e) == "pop from empty stack"
        """),
    _task("vector", """
        class Vector:
            def __init__(self, x, y): self.x, self.y = x, y
            def __add__(self, o): return Vector(self.x + o.x, self.y + o.y)
            def __sub__(self, o): return Vector(self.x - o.x, self.y - o.y)
            def __mul__(self, k): return Vector(self.x * k, self.y * k)
            __rmul__ = __mul__
            def __neg__(self): return Vector(-self.x, -self.y)
            def __eq__(self, o): return isinstance(o, Vector) and (self.x, self.y) == (o.x, o.y)
            def __hash__(self): return hash((self.x, self.y))
            def __repr__(self): return f"Vector({self.x}, {self.y})"
            def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
            def __iter__(self): return iter((self.x, self.y))
            def dot(self, o): return self.x * o.x + self.y * o.y
        """, ("self.y + o.y", "self.y - o.y"), """
        assert Vector(1, 2) + Vector(3, 4) == Vector(4, 6)
        assert (Vector(1, 2) + Vector(3, 4)).y == 6
        assert 2 * Vector(1, 2) * 3 == Vector(6, 12)
        assert -Vector(1, 2) == Vector(-1, -2) and Vector(1, 2) != Vector(2, 1)
        assert repr(Vector(1, 2)) == "Vector(1, 2)" and f"{Vector(0, 1)}" == "Vector(0, 1)"
        assert abs(Vector(3, 4)) == 5.0
        x, y = Vector(5, 6)
        assert (x, y) == (5, 6) and list(Vector(1, 2)) == [1, 2]
        assert Vector(1, 2).dot(Vector(3, 4)) == 11
        assert len({Vector(1, 2), Vector(1, 2), Vector(2, 1)}) == 2
        assert sum([Vector(1, 1), Vector(2, 2)], Vector(0, 0)).x == 3
        """),
    _task("generator", """
        def naturals(start=0):
            while True:
                yield start
                start += 1
        def take(n, it): return [x for _, x in zip(range(n), it)]
        """, ("start += 1", "start += 2"), """
        from itertools import islice
        g = naturals()
        assert next(g) == 0 and next(g) == 1
        assert list(islice(g, 3)) == [2, 3, 4]
        assert take(3, naturals(5)) == [5, 6, 7]
        assert iter(g) is g
        """),
    _task("send_generator", """
        def averager():
            total, n, avg = 0, 0, None
            while True:
                x = yield avg
                if x is None: return total
                total += x; n += 1; avg = total / n
        """, ("total / n", "total / (n + 1)"), """
        a = averager()
        assert next(a) is None
        assert a.send(10) == 10
        assert a.send(20) == 15.0
        try:
            a.send(None)
        except StopIteration as stop:
            assert stop.value == 30
        else:
            assert False
        """),
    _task("decorator", """
        import functools
        def count_calls(f):
            @functools.wraps(f)
            def inner(*a, **k):
                inner.calls += 1
                return f(*a, **k)
            inner.calls = 0
            return inner
        """, ("inner.calls += 1", "inner.calls = 1"), """
        @count_calls
        def greet(name, mark='!'):
            "says hi"
            return 'hi ' + name + mark
        ---
        assert greet('a') == 'hi a!' and greet(name='b', mark='?') == 'hi b?'
        assert greet.calls == 2
        assert greet.__name__ == 'greet' and greet.__doc__ == 'says hi'
        """),
    _task("decorator_with_arguments", """
        def retry(times, errors=(Exception,)):
            def deco(f):
                def inner(*a):
                    for left in range(times - 1, -1, -1):
                        try: return f(*a)
                        except errors:
                            if not left: raise
                return inner
            return deco
        """, ("range(times - 1, -1, -1)", "range(times, -1, -1)"), """
        tries = []
        @retry(3, errors=(ValueError,))
        def flaky(n):
            tries.append(n)
            if len(tries) < 3:
                raise ValueError('no')
            return n * 2
        assert flaky(4) == 8
        assert tries == [4, 4, 4]
        ---
        seen = []
        @retry(2, errors=(ValueError,))
        def broken():
            seen.append(1)
            raise ValueError('always')
        try:
            broken()
            assert False
        except ValueError as e:
            assert str(e) == 'always' and len(seen) == 2
        """),
    _task("enum", """
        from enum import Enum
        class Color(Enum):
            RED = 1
            GREEN = 2
            BLUE = 3
            @classmethod
            def parse(cls, text): return cls[text.upper()]
            @property
            def warm(self): return self is Color.RED
        """, ("text.upper()", "'RED'"), """
        assert Color.RED.value == 1 and Color.GREEN.name == 'GREEN'
        assert Color.parse('blue') is Color.BLUE
        assert Color(2) is Color.GREEN and Color['RED'] == Color.RED
        assert [c.name for c in Color] == ['RED', 'GREEN', 'BLUE'] and len(Color) == 3
        assert Color.RED.warm and not Color.BLUE.warm
        assert isinstance(Color.RED, Color) and Color.RED != Color.BLUE
        assert Color.RED in Color
        try:
            Color.parse('pink'); assert False
        except KeyError: pass
        """),
    _task("int_enum", """
        from enum import IntEnum
        class Level(IntEnum):
            LOW = 1
            HIGH = 3
        def louder(l): return max(Level, key=lambda x: x > l)
        """, ("HIGH = 3", "HIGH = 4"), """
        assert Level.LOW < Level.HIGH and Level.HIGH == 3
        assert sorted([Level.HIGH, Level.LOW]) == [1, 3]
        assert Level(1) is Level.LOW and Level.LOW.name == 'LOW'
        assert louder(Level.LOW) is Level.HIGH
        assert repr(Level.LOW) == '<Level.LOW: 1>'
        """),
    _task("flags", """
        from enum import Flag, auto
        class Perm(Flag):
            R = auto()
            W = auto()
            X = auto()
        """, ("W = auto()", "W = 1"), """
        rw = Perm.R | Perm.W
        assert Perm.R in rw and Perm.X not in rw
        assert (rw & Perm.W) == Perm.W
        assert bool(rw & Perm.X) is False
        assert (rw | Perm.X).value == 7
        """),
    _task("context_manager", """
        class Timer:
            def __init__(self): self.state = 'new'
            def __enter__(self):
                self.state = 'open'
                return self
            def __exit__(self, kind, value, tb):
                self.state = 'failed' if kind else 'closed'
                return kind is ValueError
        """, ("kind is ValueError", "False"), """
        with Timer() as t:
            assert t.state == 'open'
        assert t.state == 'closed'
        ---
        t = Timer()
        with t:
            raise ValueError('swallowed')
        assert t.state == 'failed'
        ---
        try:
            with Timer():
                raise KeyError('k')
            assert False
        except KeyError as e:
            assert e.args == ('k',)
        """),
    _task("contextmanager_function", """
        from contextlib import contextmanager
        @contextmanager
        def tag(name, out):
            out(f'<{name}>')
            try: yield name.upper()
            finally: out(f'</{name}>')
        """, ("</", "<"), """
        lines = []
        with tag('b', lines.append) as big:
            lines.append(big)
        assert lines == ['<b>', 'B', '</b>']
        """),
    _task("exceptions", """
        class BankError(Exception): pass
        class Insufficient(BankError):
            def __init__(self, need, have):
                super().__init__(f'need {need}, have {have}')
                self.need, self.have = need, have
        class Account:
            def __init__(self, balance=0): self.balance = balance
            def withdraw(self, n):
                if n > self.balance: raise Insufficient(n, self.balance)
                self.balance -= n
                return self.balance
        """, ("n > self.balance", "n >= self.balance"), """
        a = Account(10)
        assert a.withdraw(10) == 0
        try:
            a.withdraw(5)
            assert False
        except BankError as e:
            assert isinstance(e, Insufficient) and e.need == 5 and e.have == 0
            assert str(e) == 'need 5, have 0'
        assert issubclass(Insufficient, BankError) and issubclass(BankError, Exception)
        """),
    _task("exception_with_builtin_base", """
        class NotFound(KeyError):
            pass
        class Missing(NotFound, ValueError):
            pass
        def find(d, k):
            if k not in d: raise Missing(k)
            return d[k]
        """, ("raise Missing(k)", "raise LookupError(k)"), """
        assert find({'a': 1}, 'a') == 1
        for kind in (KeyError, ValueError, NotFound, Missing):
            try:
                find({}, 'z')
                assert False
            except kind as e:
                assert e.args == ('z',)
        """),
    _task("dataclass", """
        from dataclasses import dataclass, field
        @dataclass(order=True)
        class Item:
            price: float
            name: str = field(compare=False, default='?')
            tags: list = field(default_factory=list, compare=False)
        """, ("price: float", "price: float = 0"), """
        a, b = Item(1.5, 'a'), Item(2.5, 'b')
        assert a < b and max(a, b).name == 'b'
        assert repr(a) == "Item(price=1.5, name='a', tags=[])"
        assert Item(1.5, 'zzz') == a and a != b
        assert sorted([b, a])[0].name == 'a'
        a.price = 9
        assert a > b
        try:
            Item(); assert False
        except TypeError: pass
        """),
    _task("frozen_dataclass", """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Point:
            x: int = 0
            y: int = 0
            def moved(self, dx, dy): return Point(self.x + dx, self.y + dy)
        """, ("self.y + dy", "self.y"), """
        p = Point(1, 2)
        assert p.moved(1, 1) == Point(2, 3)
        assert {p: 'here'}[Point(1, 2)] == 'here'
        assert Point() == Point(0, 0) and p in [Point(3, 3), Point(1, 2)]
        try:
            p.x = 5
            assert False
        except AttributeError: pass
        match p:
            case Point(x=1, y=y): assert y == 2
            case _: assert False
        """),
    _task("lru", """
        from collections import OrderedDict
        class LRUCache:
            def __init__(self, size): self.size, self.d = size, OrderedDict()
            def get(self, k):
                if k not in self.d: return -1
                self.d.move_to_end(k)
                return self.d[k]
            def put(self, k, v):
                self.d[k] = v
                self.d.move_to_end(k)
                if len(self.d) > self.size: self.d.popitem(last=False)
        """, ("last=False", "last=True"), """
        c = LRUCache(2)
        c.put(1, 1); c.put(2, 2)
        assert c.get(1) == 1
        c.put(3, 3)
        assert c.get(2) == -1 and c.get(3) == 3
        """),
    _task("memoize", """
        def memoize(f):
            seen = {}
            def inner(*a):
                if a not in seen: seen[a] = f(*a)
                return seen[a]
            inner.cache = seen
            return inner
        """, ("if a not in seen: ", ""), """
        calls = []
        @memoize
        def slow(x):
            calls.append(x)
            return x * x
        assert slow(3) == 9 and slow(3) == 9 and slow(4) == 16
        assert calls == [3, 4]
        assert slow.cache == {(3,): 9, (4,): 16}
        """),
    _task("memoize_as_a_class", """
        class memoize:
            def __init__(self, f): self.f, self.seen = f, {}
            def __call__(self, *a):
                if a not in self.seen: self.seen[a] = self.f(*a)
                return self.seen[a]
        """, ("if a not in self.seen: ", ""), """
        calls = []
        @memoize
        def slow(x):
            calls.append(x)
            return x * x
        assert slow(3) == 9 and slow(3) == 9 and slow(4) == 16
        assert calls == [3, 4]
        """),
    _task("iterator", """
        class Countdown:
            def __init__(self, n): self.n = self.left = n
            def __iter__(self):
                self.left = self.n
                return self
            def __next__(self):
                if self.left <= 0: raise StopIteration
                self.left -= 1
                return self.left + 1
        """, ("self.left <= 0", "self.left < 0"), """
        c = Countdown(3)
        assert list(c) == [3, 2, 1]
        assert list(c) == [3, 2, 1]
        assert isinstance(c, Countdown) and iter(c) is c
        it = iter(Countdown(1))
        assert next(it) == 1
        try:
            next(it); assert False
        except StopIteration: pass
        assert next(it, 'over') == 'over'
        """),
    _task("property", """
        class Temperature:
            def __init__(self, c=0): self.celsius = c
            @property
            def celsius(self): return self._c
            @celsius.setter
            def celsius(self, v):
                if v < -273.15: raise ValueError('below absolute zero')
                self._c = v
            @property
            def fahrenheit(self): return self._c * 9 / 5 + 32
            @fahrenheit.setter
            def fahrenheit(self, v): self.celsius = (v - 32) * 5 / 9
        """, ("* 9 / 5 + 32", "* 9 / 5"), """
        t = Temperature(100)
        assert t.fahrenheit == 212
        t.fahrenheit = 32
        assert t.celsius == 0
        assert abs(Temperature(37).fahrenheit - 98.6) < 1e-9
        for bad in (-300, -274):
            try:
                t.celsius = bad; assert False
            except ValueError as e: assert 'absolute zero' in str(e)
        """),
    _task("operators", """
        from functools import total_ordering
        from math import gcd
        @total_ordering
        class Ratio:
            def __init__(self, n, d=1):
                g = gcd(n, d) or 1
                self.n, self.d = n // g, d // g
            def __add__(self, o):
                o = o if isinstance(o, Ratio) else Ratio(o)
                return Ratio(self.n * o.d + o.n * self.d, self.d * o.d)
            __radd__ = __add__
            def __eq__(self, o): return (self.n, self.d) == (o.n, o.d)
            def __lt__(self, o): return self.n * o.d < o.n * self.d
            def __float__(self): return self.n / self.d
            def __int__(self): return self.n // self.d
            def __bool__(self): return self.n != 0
            def __str__(self): return f'{self.n}/{self.d}'
        """, ("self.n * o.d + o.n * self.d", "self.n + o.n"), """
        assert Ratio(1, 2) + Ratio(1, 3) == Ratio(5, 6)
        assert str(Ratio(2, 4)) == '1/2'
        assert (Ratio(1, 2) + 1).n == 3
        assert Ratio(1, 2) + 1 == Ratio(3, 2) and 1 + Ratio(1, 2) == Ratio(3, 2)
        assert Ratio(1, 3) < Ratio(1, 2) <= Ratio(1, 2)
        assert float(Ratio(1, 4)) == 0.25 and int(Ratio(7, 2)) == 3
        assert not Ratio(0) and Ratio(1)
        """),
    _task("linked_list", """
        class Node:
            def __init__(self, value, next=None): self.value, self.next = value, next
        class LinkedList:
            def __init__(self, items=()):
                self.head = None
                for x in reversed(list(items)): self.head = Node(x, self.head)
            def __iter__(self):
                n = self.head
                while n: yield n.value; n = n.next
            def __len__(self): return sum(1 for _ in self)
            def reverse(self):
                prev, n = None, self.head
                while n: n.next, prev, n = prev, n, n.next
                self.head = prev
                return self
            def __getitem__(self, i): return list(self)[i]
        """, ("self.head = prev", "pass"), """
        l = LinkedList([1, 2, 3])
        assert list(l) == [1, 2, 3] and len(l) == 3
        assert list(l.reverse()) == [3, 2, 1]
        assert l.head.value == 3 and l.head.next.value == 2
        assert l.head.next.next.next is None
        assert l[0] == 3 and l[-1] == 1 and l[0:2] == [3, 2]
        assert 2 in l and 9 not in l
        """),
    _task("tree", """
        class Tree:
            def __init__(self, value, *children): self.value, self.children = value, list(children)
            def depth(self): return 1 + max((c.depth() for c in self.children), default=0)
            def walk(self):
                yield self.value
                for c in self.children: yield from c.walk()
            def map(self, f): return Tree(f(self.value), *(c.map(f) for c in self.children))
        """, ("1 + max", "max"), """
        t = Tree(1, Tree(2, Tree(4)), Tree(3))
        assert t.depth() == 3
        assert list(t.walk()) == [1, 2, 4, 3]
        assert list(t.map(lambda v: v * 10).walk()) == [10, 20, 40, 30]
        assert [c.value for c in t.children] == [2, 3]
        assert t.children[0].children[0].value == 4
        """),
    _task("observer", """
        class Signal:
            def __init__(self): self._slots = []
            def connect(self, f):
                self._slots.append(f)
                return lambda: self._slots.remove(f)
            def emit(self, *a, **k): return [f(*a, **k) for f in list(self._slots)]
        """, ("self._slots.remove(f)", "None"), """
        got = []
        s = Signal()
        off = s.connect(got.append)
        s.connect(lambda x: x + 1)
        assert s.emit(1) == [None, 2]
        off()
        assert s.emit(5) == [6]
        assert got == [1]
        """),
    _task("abstract", """
        from abc import ABC, abstractmethod
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
            def describe(self): return f'{type(self).__name__} of {self.area():.2f}'
        class Circle(Shape):
            def __init__(self, r): self.r = r
            def area(self): return 3.141592653589793 * self.r ** 2
        class Square(Shape):
            def __init__(self, s): self.s = s
            def area(self): return self.s ** 2
        """, ("self.r ** 2", "self.r"), """
        import math
        assert abs(Circle(2).area() - math.pi * 4) < 1e-9
        assert math.isclose(Circle(1).area(), math.pi)
        assert Square(3).describe() == 'Square of 9.00'
        assert all(isinstance(s, Shape) for s in (Circle(1), Square(1)))
        assert type(Square(1)).__name__ == 'Square' and type(Circle(1)) is Circle
        try:
            Shape(); assert False
        except TypeError: pass
        """),
    _task("fluent", """
        class Query:
            def __init__(self): self.parts = []
            def select(self, *c): self.parts.append('SELECT ' + ', '.join(c)); return self
            def where(self, **k):
                self.parts.append('WHERE ' + ' AND '.join(f'{a}={b!r}' for a, b in k.items()))
                return self
            def __str__(self): return ' '.join(self.parts)
        """, ("' AND '", "' OR '"), """
        q = Query()
        assert q.select('a', 'b') is q
        assert str(q.where(x=1, y='z')) == "SELECT a, b WHERE x=1 AND y='z'"
        assert q.parts[0].startswith('SELECT')
        assert q.parts.count('SELECT a, b') == 1
        """),
    _task("class_attributes", """
        class User:
            count = 0
            registry = {}
            def __init__(self, name):
                self.name = name
                User.count += 1
                User.registry[name] = self
            @classmethod
            def find(cls, name): return cls.registry.get(name)
            @staticmethod
            def valid(name): return name.isalpha()
        """, ("User.count += 1", "User.count = 1"), """
        a, b = User('ann'), User('bob')
        assert User.count == 2
        assert User.find('ann') is a and User.find('zed') is None
        assert User.valid('x') and not User.valid('x1')
        assert a.name == 'ann' and User.find('bob').name == 'bob'
        User.count = 0
        User('cy')
        assert User.count == 1
        """),
    _task("singleton", """
        class Config:
            _one = None
            def __new__(cls):
                if cls._one is None: cls._one = super().__new__(cls)
                return cls._one
        """, ("if cls._one is None: ", ""), """
        a, b = Config(), Config()
        assert a is b
        a.level = 3
        assert b.level == 3 and Config() is a
        """),
    _task("matrix", """
        class Matrix:
            def __init__(self, rows): self.rows = [list(r) for r in rows]
            def __getitem__(self, at): return self.rows[at[0]][at[1]]
            def __setitem__(self, at, v): self.rows[at[0]][at[1]] = v
            def __matmul__(self, o):
                return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
            def __eq__(self, o): return self.rows == o.rows
            @property
            def T(self): return Matrix(zip(*self.rows))
            @property
            def shape(self): return len(self.rows), len(self.rows[0])
            @classmethod
            def eye(cls, n): return cls([[int(i == j) for j in range(n)] for i in range(n)])
        """, ("zip(*o.rows)", "o.rows"), """
        m = Matrix([[1, 2], [3, 4]])
        assert m @ Matrix.eye(2) == m
        assert (m @ m).rows == [[7, 10], [15, 22]]
        assert m.T.rows == [[1, 3], [2, 4]] and m.shape == (2, 2)
        m[0, 1] = 9
        assert m[0, 1] == 9
        """),
    _task("mapping", """
        from collections.abc import MutableMapping
        class CaseDict(MutableMapping):
            def __init__(self, **k): self._d = {}; self.update(k)
            def __getitem__(self, k): return self._d[k.lower()]
            def __setitem__(self, k, v): self._d[k.lower()] = v
            def __delitem__(self, k): del self._d[k.lower()]
            def __iter__(self): return iter(self._d)
            def __len__(self): return len(self._d)
        """, ("self._d[k.lower()] = v", "self._d[k] = v"), """
        d = CaseDict(A=1)
        d['Bee'] = 2
        assert d['a'] == 1 and d['BEE'] == 2
        assert 'BEE' in d and 'x' not in d
        assert sorted(d) == ['a', 'bee'] and len(d) == 2
        assert d.get('nope', 5) == 5
        del d['A']
        assert list(d.items()) == [('bee', 2)]
        assert d.pop('bee') == 2 and not d
        """),
    _task("named_tuple", """
        from typing import NamedTuple
        class Point(NamedTuple):
            x: int
            y: int = 0
            def norm1(self): return abs(self.x) + abs(self.y)
        """, ("abs(self.y)", "self.y"), """
        p = Point(3, -4)
        assert p.norm1() == 7
        assert p.x == 3 and p[1] == -4 and Point(1).y == 0
        x, y = p
        assert x + y == -1
        assert p._replace(y=9).y == 9
        assert isinstance(p, Point) and isinstance(p, tuple)
        assert sorted([Point(2, 1), Point(1, 5)])[0].x == 1
        """),
    _task("callable_object", """
        class Pipeline:
            def __init__(self, *steps): self.steps = steps
            def __call__(self, value):
                for step in self.steps: value = step(value)
                return value
            def __or__(self, step): return Pipeline(*self.steps, step)
        """, ("*self.steps, step", "step, *self.steps"), """
        p = Pipeline(lambda x: x + 1) | (lambda x: x * 10)
        assert p(1) == 20
        assert (p | str)(2) == '30'
        assert callable(p)
        """),
    _task("closures", """
        def make_counter(start=0):
            n = start
            def step(by=1):
                nonlocal n
                n += by
                return n
            def reset():
                nonlocal n
                n = start
            step.reset = reset
            return step
        def compose(*fs):
            def run(x):
                for f in reversed(fs): x = f(x)
                return x
            return run
        """, ("reversed(fs)", "fs"), """
        a, b = make_counter(), make_counter(10)
        assert a() == 1 and a(5) == 6 and b() == 11
        a.reset()
        assert a() == 1
        assert compose(lambda x: x + 1, lambda x: x * 2)(5) == 11
        assert compose(str, abs)(-3) == '3'
        """),
    _task("queue_with_priority", """
        import heapq
        class PriorityQueue:
            def __init__(self): self.h, self.n = [], 0
            def push(self, item, priority):
                heapq.heappush(self.h, (priority, self.n, item)); self.n += 1
            def pop(self):
                if not self.h: raise IndexError('empty')
                return heapq.heappop(self.h)[2]
            def __bool__(self): return bool(self.h)
        """, ("(priority, self.n, item)", "(-priority, self.n, item)"), """
        q = PriorityQueue()
        assert not q
        q.push('b', 2); q.push('a', 1); q.push('c', 2)
        assert q.pop() == 'a'
        order = []
        while q: order.append(q.pop())
        assert order == ['b', 'c']
        """),
    _task("graph", """
        class Graph:
            def __init__(self): self.edges = {}
            def add_edge(self, a, b, w=1):
                self.edges.setdefault(a, {})[b] = w
                self.edges.setdefault(b, {})
            def neighbors(self, a): return sorted(self.edges[a])
            def bfs(self, start):
                seen, todo = [start], [start]
                for a in todo:
                    for b in self.neighbors(a):
                        if b not in seen: seen.append(b); todo.append(b)
                return seen
        """, ("seen.append(b); todo.append(b)", "seen.append(b)"), """
        g = Graph()
        for a, b in [(1, 2), (1, 3), (2, 4)]: g.add_edge(a, b)
        assert g.neighbors(1) == [2, 3]
        assert g.bfs(1) == [1, 2, 3, 4]
        try:
            g.neighbors(9); assert False
        except KeyError: pass
        """),
    _task("descriptor", """
        class Positive:
            def __set_name__(self, owner, name): self.name = '_' + name
            def __get__(self, obj, owner=None): return self if obj is None else getattr(obj, self.name)
            def __set__(self, obj, v):
                if v <= 0: raise ValueError(f'{self.name[1:]} must be positive')
                setattr(obj, self.name, v)
        class Box:
            width = Positive()
            height = Positive()
            def __init__(self, width, height): self.width, self.height = width, height
            def area(self): return self.width * self.height
        """, ("v <= 0", "v < 0"), """
        b = Box(2, 3)
        b.width = 5
        assert b.area() == 15
        for make in (lambda: Box(0, 1), lambda: Box(1, -1)):
            try:
                make(); assert False
            except ValueError as e:
                assert str(e).endswith('must be positive')
        """),
    _task("copies", """
        import copy
        class Doc:
            def __init__(self): self.lines = []
            def write(self, line): self.lines.append(line); return self
            def clone(self): return copy.deepcopy(self)
            def __len__(self): return len(self.lines)
        """, ("copy.deepcopy(self)", "self"), """
        import copy
        a = Doc().write('x')
        b = a.clone()
        b.write('y')
        assert len(a) == 1 and len(b) == 2
        c = copy.deepcopy(b)
        c.write('z')
        assert len(b) == 2 and len(c) == 3 and c is not b
        """),
_task("account","""
class BankAccount:
    interest = 0.02
    def __init__(self, owner, balance=0.0):
        self.owner = owner; self._balance = balance; self.history = []
    @property
    def balance(self): return self._balance
    def deposit(self, amount):
        if amount <= 0: raise ValueError("Deposit must be positive")
        self._balance += amount; self.history.append(('deposit', amount))
    def __iadd__(self, amount): self.deposit(amount); return self
    def __lt__(self, other): return self._balance < other._balance
""",("self._balance += amount","self._balance = amount"),"""
acc = BankAccount("Ann")
acc.deposit(50)
acc += 25
assert acc.balance == 75.0
assert acc.history == [('deposit', 50), ('deposit', 25)]
assert acc.history[-1][1] == 25
assert acc.owner == "Ann"
assert BankAccount.interest == 0.02
try:
    acc.balance = 5
except AttributeError:
    pass
else:
    raise AssertionError("balance must be read-only")
assert BankAccount("x", 1) < acc
"""),
_task("undo","""
class Editor:
    def __init__(self): self.text = ''; self._undo = []; self._redo = []
    def type(self, s): self._undo.append(self.text); self._redo.clear(); self.text += s
    def undo(self):
        if self._undo: self._redo.append(self.text); self.text = self._undo.pop()
    def redo(self):
        if self._redo: self._undo.append(self.text); self.text = self._redo.pop()
""",("self._redo.clear();","") ,"""
e = Editor()
e.type('a'); e.type('b'); e.undo()
assert e.text == 'a'
e.redo()
assert e.text == 'ab'
e.undo(); e.type('c'); e.redo()
assert e.text == 'ac'
"""),
_task("range_like","""
class Span:
    def __init__(self, a, b): self.a, self.b = a, b
    def __len__(self): return max(0, self.b - self.a)
    def __getitem__(self, i):
        if isinstance(i, slice): return [self[j] for j in range(*i.indices(len(self)))]
        if i < 0: i += len(self)
        if not 0 <= i < len(self): raise IndexError(i)
        return self.a + i
    def __reversed__(self): return iter(range(self.b - 1, self.a - 1, -1))
    def __contains__(self, x): return self.a <= x < self.b
""",("self.a <= x < self.b","True"),"""
r = Span(2, 6)
assert len(r) == 4
assert r[0] == 2 and r[-1] == 5
assert r[1:3] == [3, 4]
assert list(r) == [2, 3, 4, 5]
assert list(reversed(r)) == [5, 4, 3, 2]
assert 3 in r and 6 not in r
try:
    r[10]
    assert False, 'no IndexError'
except IndexError:
    pass
a, *rest = r
assert a == 2 and rest == [3, 4, 5]
assert max(r) == 5 and sum(r) == 14 and sorted(r, reverse=True)[0] == 5
"""),
_task("trie","""
class Trie:
    def __init__(self): self.root = {}
    def insert(self, w):
        n = self.root
        for c in w: n = n.setdefault(c, {})
        n['$'] = True
    def search(self, w): n = self._walk(w); return n is not None and '$' in n
    def starts_with(self, p): return self._walk(p) is not None
    def _walk(self, w):
        n = self.root
        for c in w:
            if c not in n: return None
            n = n[c]
        return n
""",("and '$' in n",""),"""
t = Trie()
for w in ('apple', 'app'): t.insert(w)
assert t.search('app') is True
assert t.search('appl') is False
assert t.starts_with('appl') is True
assert not t.starts_with('b')
"""),
_task("state_machine","""
from enum import Enum, auto
class State(Enum):
    IDLE = auto(); RUNNING = auto(); DONE = auto()
class Job:
    def __init__(self): self.state = State.IDLE
    def start(self):
        if self.state is not State.IDLE: raise RuntimeError(f"cannot start from {self.state.name}")
        self.state = State.RUNNING
    def finish(self): self.state = State.DONE
""",("self.state = State.DONE","self.state = State.IDLE"),"""
j = Job()
assert j.state == State.IDLE
j.start()
assert j.state is State.RUNNING
try:
    j.start()
except RuntimeError as err:
    assert 'RUNNING' in str(err)
else:
    assert False
j.finish()
assert j.state is State.DONE and j.state != State.IDLE
assert State.IDLE.value < State.DONE.value
"""),
_task("tokens","""
from dataclasses import dataclass
import re
@dataclass
class Token:
    kind: str
    text: str
def tokenize(src):
    out = []
    for m in re.finditer(r'(\\d+)|([a-z]+)|(\\S)', src):
        out.append(Token(('num','name','op')[m.lastindex - 1], m.group()))
    return out
""",("m.lastindex - 1","m.lastindex - 2"),"""
toks = tokenize('x = 42')
assert [t.kind for t in toks] == ['name', 'op', 'num']
assert toks[2].text == '42'
assert toks[0] == Token('name', 'x')
assert toks == [Token('name', 'x'), Token('op', '='), Token('num', '42')]
assert tokenize('') == []
assert isinstance(toks[0], Token)
"""),
_task("employees","""
class Employee:
    def __init__(self, name, pay): self.name, self.pay = name, pay
    def __repr__(self): return f'<{self.name}>'
class Manager(Employee):
    def __init__(self, name, pay, team=None): super().__init__(name, pay); self.team = team or []
    def add(self, e): self.team.append(e)
    def total(self): return self.pay + sum(e.pay for e in self.team)
def highest(staff): return max(staff, key=lambda e: e.pay)
def by_name(staff): return {e.name: e for e in staff}
def group(staff):
    out = {}
    for e in staff: out.setdefault(type(e).__name__, []).append(e)
    return out
""",("self.pay + sum","sum"),"""
a, b = Employee('a', 10), Employee('b', 30)
m = Manager('m', 20)
m.add(a); m.add(b)
assert m.total() == 60
assert isinstance(m, Employee) and not isinstance(a, Manager)
assert highest([a, b, m]) is b
assert by_name([a, b])['a'] is a
assert [e.name for e in m.team] == ['a', 'b']
assert m.team[1] is b
assert str(m.team) == '[<a>, <b>]'
assert {k: len(v) for k, v in group([a, b, m]).items()} == {'Employee': 2, 'Manager': 1}
assert sorted([b, m, a], key=lambda e: e.pay) == [a, m, b]
"""),
_task("cached","""
from functools import cached_property, lru_cache
class Circle:
    def __init__(self, r): self.r = r; self.computed = 0
    @cached_property
    def area(self): self.computed += 1; return round(3.14159 * self.r ** 2, 3)
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
""",("@cached_property","@property"),"""
c = Circle(2)
assert c.area == 12.566
assert c.area == 12.566
assert c.computed == 1
assert fib(50) == 12586269025
assert fib.cache_info().currsize == 51
fib.cache_clear()
assert fib.cache_info().hits == 0
"""),
_task("slots_and_getattr","""
class Slim:
    __slots__ = ('x',)
    def __init__(self, x): self.x = x
class Proxy:
    def __init__(self, data): self._data = data
    def __getattr__(self, name):
        if name in self._data: return self._data[name]
        raise AttributeError(f'no {name}')
""",("__slots__ = ('x',)",""),"""
s = Slim(1)
try:
    s.y = 2
    raise SystemError('allowed')
except AttributeError:
    pass
p = Proxy({'color': 'red', 'count': 3})
assert p.color == 'red' and p.count == 3
assert not hasattr(p, 'missing') and hasattr(p, 'color')
assert getattr(p, 'missing', 7) == 7
try:
    p.nope
except AttributeError as e:
    assert 'no nope' in str(e)
else:
    assert False
"""),
_task("not_implemented","""
class Length:
    def __init__(self, m): self.m = m
    def __add__(self, o):
        if not isinstance(o, Length): return NotImplemented
        return Length(self.m + o.m)
    def __eq__(self, o):
        if not isinstance(o, Length): return NotImplemented
        return self.m == o.m
""",("Length(self.m + o.m)","Length(self.m)"),"""
x = Length(2) + Length(3)
assert x.m == 5
assert x == Length(5)
assert not (x == Length(4))
try:
    Length(1) + 'a'
except TypeError:
    pass
else:
    assert False, 'must raise TypeError'
try:
    {Length(1)}
    assert False
except TypeError:
    pass
"""),
_task("metaclass_registry","""
class Plugin:
    registry = {}
    def __init_subclass__(cls, **kw): super().__init_subclass__(**kw); Plugin.registry[cls.__name__.lower()] = cls
class Csv(Plugin):
    ext = '.csv'
    def load(self): return 'csv!'
class Json(Plugin):
    ext = '.json'
    def load(self): return 'json!'
def create(name): return Plugin.registry[name]()
""",("Plugin.registry[name]()","Csv()"),"""
assert set(Plugin.registry) == {'csv', 'json'}
assert create('json').load() == 'json!'
assert Plugin.registry['csv'] is Csv
assert Plugin.registry['json'].ext == '.json'
assert issubclass(Csv, Plugin)
assert isinstance(create('csv'), Csv)
"""),
_task("exitstack","""
class Res:
    live = 0
    def __init__(self, n, fail=False): self.n, self.fail = n, fail
    def __enter__(self):
        if self.fail: raise OSError(5, 'bad')
        Res.live += 1; return self
    def __exit__(self, *a): Res.live -= 1
""",("Res.live -= 1","pass"),"""
from contextlib import ExitStack, suppress
with ExitStack() as stack:
    rs = [stack.enter_context(Res(i)) for i in range(3)]
    assert Res.live == 3
    assert [r.n for r in rs] == [0, 1, 2]
assert Res.live == 0
with suppress(OSError):
    with Res(1), Res(2, fail=True):
        assert False
assert Res.live == 0
try:
    with Res(0, fail=True): pass
    assert False
except OSError as e:
    assert e.errno == 5
"""),
_task("coroutine_pipeline","""
def grep(word):
    found = []
    while True:
        line = yield found
        if line is None: return found
        if word in line: found.append(line)
def flatten(x):
    for y in x:
        if isinstance(y, (list, tuple)): yield from flatten(y)
        else: yield y
def chunks(xs, n):
    for i in range(0, len(xs), n): yield xs[i:i + n]
""",("yield from flatten(y)","yield y"),"""
g = grep('a')
next(g)
assert g.send('cat') == ['cat']
assert g.send('dog') == ['cat']
g.close()
assert list(flatten([1, [2, (3, [4])]])) == [1, 2, 3, 4]
assert list(chunks([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
assert ''.join(flatten([['a'], 'b'])) == 'ab'
import types
assert isinstance(flatten([]), types.GeneratorType)
assert next(flatten([]), None) is None
"""),
_task("polynomial","""
class Polynomial:
    def __init__(self, *c):
        c = list(c)
        while len(c) > 1 and c[-1] == 0: c.pop()
        self.coeffs = tuple(c)
    def __call__(self, x): return sum(a * x ** i for i, a in enumerate(self.coeffs))
    def __add__(self, o):
        n = max(len(self.coeffs), len(o.coeffs))
        p = lambda t: list(t.coeffs) + [0] * (n - len(t.coeffs))
        return Polynomial(*(a + b for a, b in zip(p(self), p(o))))
    def __mul__(self, o):
        if isinstance(o, (int, float)): return Polynomial(*(a * o for a in self.coeffs))
        r = [0] * (len(self.coeffs) + len(o.coeffs) - 1)
        for i, a in enumerate(self.coeffs):
            for j, b in enumerate(o.coeffs): r[i + j] += a * b
        return Polynomial(*r)
    def __eq__(self, o): return self.coeffs == o.coeffs
    def degree(self): return len(self.coeffs) - 1
    def derivative(self): return Polynomial(*[i * a for i, a in enumerate(self.coeffs)][1:] or [0])
""",("r[i + j] += a * b","r[i + j] = a * b"),"""
p, q = Polynomial(1, 2), Polynomial(0, 1, 3)
assert p(2) == 5
assert (p + q).coeffs == (1, 3, 3)
assert (p * q)(2) == p(2) * q(2)
assert p * 2 == Polynomial(2, 4)
assert (p * q).degree() == 3
assert q.derivative() == Polynomial(1, 6)
assert Polynomial(1, 0, 0) == Polynomial(1)
"""),
_task("inventory","""
class OutOfStock(Exception):
    def __init__(self, sku): super().__init__(f'{sku} is out of stock'); self.sku = sku
class Inventory:
    def __init__(self, **stock): self._s = dict(stock)
    def __getitem__(self, sku): return self._s.get(sku, 0)
    def __setitem__(self, sku, n): self._s[sku] = n
    def __delitem__(self, sku): del self._s[sku]
    def __iter__(self): return iter(sorted(self._s))
    def __bool__(self): return any(self._s.values())
    def take(self, sku, n=1):
        if self[sku] < n: raise OutOfStock(sku)
        self._s[sku] -= n
        return self[sku]
""",("self[sku] < n","self[sku] <= n"),"""
inv = Inventory(a=2, b=0)
assert inv['a'] == 2 and inv['zzz'] == 0
inv['c'] = 7
assert inv['c'] == 7
assert list(inv) == ['a', 'b', 'c']
assert inv.take('a', 2) == 0
err = None
try:
    inv.take('a')
except OutOfStock as e:
    err = e
assert err is not None and err.sku == 'a'
assert 'out of stock' in str(err)
assert isinstance(err, Exception)
del inv['c']
assert not inv
"""),
_task("events","""
class Emitter:
    def __init__(self): self._h = {}
    def on(self, name, fn=None):
        if fn is None: return lambda f: self.on(name, f)
        self._h.setdefault(name, []).append(fn); return fn
    def emit(self, name, *a): return sum(1 for f in self._h.get(name, ()) if f(*a) is not False)
""",("sum(1 for f","sum(2 for f"),"""
e = Emitter()
seen = []
@e.on('x')
def handler(v): seen.append(v)
e.on('x', lambda v: False)
assert e.emit('x', 5) == 1
assert seen == [5]
assert e.emit('nothing') == 0
"""),
_task("interval_sets","""
class Interval:
    def __init__(self, lo, hi): self.lo, self.hi = lo, hi
    def __and__(self, o):
        lo, hi = max(self.lo, o.lo), min(self.hi, o.hi)
        return Interval(lo, hi) if lo < hi else None
    def __or__(self, o): return Interval(min(self.lo, o.lo), max(self.hi, o.hi))
    def __contains__(self, x): return self.lo <= (x.lo if isinstance(x, Interval) else x) and (x.hi if isinstance(x, Interval) else x) <= self.hi
    def __eq__(self, o): return isinstance(o, Interval) and (self.lo, self.hi) == (o.lo, o.hi)
    def __repr__(self): return f'[{self.lo}, {self.hi})'
""",("max(self.lo, o.lo)","min(self.lo, o.lo)"),"""
a, b = Interval(0, 5), Interval(3, 9)
assert a & b == Interval(3, 5)
assert (a | b).hi == 9
assert Interval(0, 1) & Interval(2, 3) is None
assert 4 in a and 7 not in a
assert Interval(1, 2) in a
assert str(a & b) == '[3, 5)'
"""),
_task("binary_tree","""
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
class BST:
    def __init__(self): self.root = None; self._n = 0
    def insert(self, k):
        self._n += 1
        if not self.root: self.root = Node(k); return
        n = self.root
        while True:
            side = 'left' if k < n.key else 'right'
            nxt = getattr(n, side)
            if nxt is None: setattr(n, side, Node(k)); return
            n = nxt
    def __iter__(self):
        def go(n):
            if n: yield from go(n.left); yield n.key; yield from go(n.right)
        return go(self.root)
    def __len__(self): return self._n
    def height(self):
        h = lambda n: 0 if n is None else 1 + max(h(n.left), h(n.right))
        return h(self.root)
""",("k < n.key","k > n.key"),"""
t = BST()
for k in [5, 2, 8, 1]: t.insert(k)
assert list(t) == [1, 2, 5, 8]
assert len(t) == 4
assert t.height() == 3
assert t.root.key == 5 and t.root.left.left.key == 1
assert t.root.right.left is None
"""),
_task("validator_decorator","""
import functools
def typed(**types):
    def deco(fn):
        @functools.wraps(fn)
        def inner(**kw):
            for k, t in types.items():
                if k in kw and not isinstance(kw[k], t): raise TypeError(f'{k} must be {t.__name__}')
            return fn(**kw)
        return inner
    return deco
""",("not isinstance","isinstance"),"""
@typed(x=int, y=(str))
def join(x, y='a'):
    return y * x
assert join(x=2, y='z') == 'zz'
assert join.__name__ == 'join'
try:
    join(x='2')
    assert False
except TypeError as e:
    assert str(e) == 'x must be int'
"""),
_task("json_like","""
class Model:
    def __init__(self, **f): self.__dict__.update(f)
    def to_dict(self): return {k: (v.to_dict() if isinstance(v, Model) else v) for k, v in vars(self).items()}
    @classmethod
    def from_dict(cls, d): return cls(**{k: (cls.from_dict(v) if isinstance(v, dict) else v) for k, v in d.items()})
""",("v.to_dict() if isinstance(v, Model) else v","v"),"""
m = Model.from_dict({'a': 1, 'b': {'c': [1, 2]}})
assert m.a == 1
assert m.b.c == [1, 2]
assert m.to_dict() == {'a': 1, 'b': {'c': [1, 2]}}
assert isinstance(m.b, Model)
import json
assert json.loads(json.dumps(m.to_dict())) == m.to_dict()
"""),
_task("mixins","""
class ReprMixin:
    def __repr__(self): return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in sorted(vars(self).items()))})"
class EqMixin:
    def __eq__(self, o): return type(self) is type(o) and vars(self) == vars(o)
    __hash__ = None
class Book(ReprMixin, EqMixin):
    def __init__(self, title, year): self.title, self.year = title, year
""",("type(self) is type(o) and ",""),"""
b = Book('T', 1999)
assert repr(b) == "Book(title='T', year=1999)"
assert b == Book('T', 1999) and b != Book('T', 2000)
assert issubclass(Book, ReprMixin)
class_name = type(b).__name__
assert class_name == 'Book'
assert not (b == 5)
""", shared=True),
_task("circular_buffer","""
class RingBuffer:
    def __init__(self, cap): self.cap, self.d = cap, []
    def append(self, x):
        self.d.append(x)
        if len(self.d) > self.cap: self.d.pop(0)
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
    def clear(self): self.d.clear()
""",("self.d.pop(0)","self.d.pop()"),"""
r = RingBuffer(2)
r.append(1); r.append(2); r.append(3)
assert list(r) == [2, 3]
assert len(r) == 2
r.clear()
assert list(r) == []
"""),
_task("time_sleep","""
import time
class Stopwatch:
    def __init__(self, clock=time.monotonic): self.clock = clock; self.t = None; self.total = 0
    def start(self): self.t = self.clock()
    def stop(self): self.total += self.clock() - self.t; return self.total
""",("+= self.clock()","= self.clock() - 1"),"""
ticks = iter([1, 4, 10, 11])
w = Stopwatch(clock=lambda: next(ticks))
w.start()
assert w.stop() == 3
w.start()
assert w.stop() == 4
"""),
_task("default_dict_like","""
class Counter2:
    def __init__(self, items=()):
        self.c = {}
        for i in items: self[i] += 1
    def __getitem__(self, k): return self.c.get(k, 0)
    def __setitem__(self, k, v): self.c[k] = v
    def most_common(self, n=None): return sorted(self.c.items(), key=lambda kv: (-kv[1], kv[0]))[:n]
    def __add__(self, o):
        r = Counter2()
        for d in (self, o):
            for k, v in d.c.items(): r[k] += v
        return r
""",("(-kv[1], kv[0])","kv"),"""
c = Counter2('banana')
assert c['a'] == 3 and c['z'] == 0
assert c.most_common(1) == [('a', 3)]
assert c.most_common() == [('a', 3), ('n', 2), ('b', 1)]
d = c + Counter2('zz')
assert d['z'] == 2 and d['a'] == 3
assert c['z'] == 0
"""),
_task("date_class","""
import datetime as dt
class Event:
    def __init__(self, title, when): self.title, self.when = title, when
    def days_until(self, today): return (self.when - today).days
    def shifted(self, **kw): return Event(self.title, self.when + dt.timedelta(**kw))
""",("self.when - today","today - self.when"),"""
from datetime import date, timedelta
e = Event('x', date(2024, 3, 1))
assert e.days_until(date(2024, 2, 28)) == 2
assert e.shifted(days=1).when == date(2024, 3, 2)
assert e.when + timedelta(days=1) == date(2024, 3, 2)
"""),
_task("iterables_in","""
def total(xs): return sum(xs)
def joined(xs, sep='-'): return sep.join(str(x) for x in xs)
def first(pred, xs): return next((x for x in xs if pred(x)), None)
def my_sorted(xs, key=None, reverse=False): return sorted(xs, key=key, reverse=reverse)
def group_by(xs, key):
    out = {}
    for x in xs: out.setdefault(key(x), []).append(x)
    return out
""",("sum(xs)","len(list(xs))"),"""
assert total(x * x for x in range(4)) == 14
assert total(iter([5, 2])) == 7 and total(map(int, ['3', '4'])) == 7 and total(range(5)) == 10
assert joined(['a', 1], sep=', ') == 'a, 1'
assert first(lambda x: x > 2, [1, 2, 3, 4]) == 3 and first(str.isdigit, ['a']) is None
assert my_sorted(['bb', 'A', 'ccc'], key=len) == ['A', 'bb', 'ccc']
assert my_sorted(['b', 'A'], key=str.lower, reverse=True) == ['b', 'A']
from operator import itemgetter
assert my_sorted([(1, 'z'), (2, 'a')], key=itemgetter(1)) == [(2, 'a'), (1, 'z')]
assert group_by([1, 2, 3], key=lambda x: x % 2 == 0) == {False: [1, 3], True: [2]}
"""),
_task("global_counter","""
def repeat(n, fn):
    for i in range(n): fn(i)
def safely(fn, default=None):
    try: return fn()
    except Exception as e: return default if default is not None else type(e).__name__
""",("range(n)","range(n + 1)"),"""
hits = 0
def bump(i):
    global hits
    hits += i
def boom(): raise KeyError('x')
repeat(4, bump)
assert hits == 6
assert safely(boom) == 'KeyError'
assert safely(boom, 3) == 3
def outer():
    n = 0
    def inc(i):
        nonlocal n
        n += 1
    repeat(3, inc)
    return n
assert outer() == 3
"""),
_task("raises_helper","""
def parse_age(text):
    n = int(text)
    if n < 0: raise ValueError('negative age')
    if n > 150: raise OverflowError('too old')
    return n
""",("n > 150","n > 1500"),"""
def raises(exc, fn, *args):
    try:
        fn(*args)
    except exc as e:
        return str(e) or True
    return False
def test_good():
    assert parse_age('7') == 7
def test_bad():
    assert raises(ValueError, parse_age, 'x')
    assert raises(ValueError, parse_age, '-1') == 'negative age'
    assert raises((OverflowError, KeyError), parse_age, '151')
for t in [test_good, test_bad]:
    t()
"""),
_task("friends","""
class Person:
    def __init__(self, name): self.name, self.friends, self.best = name, [], None
    def befriend(self, other):
        self.friends.append(other); other.friends.append(self)
        self.best = self.best or other
        return self
    def __str__(self): return f'P({self.name})'
    def __format__(self, spec): return format(self.name, spec)
def swap(a, b): return b, a
def popular(people): return max(people, key=lambda p: len(p.friends))
""",("other.friends.append(self)","pass"),"""
a, b, c = Person('a'), Person('b'), Person('c')
a.befriend(b).befriend(c)
assert a.friends == [b, c] and b in a.friends and c.friends == [a]
assert a.best is b and b.best is None
assert a.friends.index(c) == 1
assert swap(a, b) == (b, a) and swap(a, b)[0] is b
assert {a, b} == {b, a} and len({a, b, a}) == 2
assert popular([a, b, c]) is a
assert list(map(str, a.friends)) == ['P(b)', 'P(c)']
assert '%s|%s' % (a, b) == 'P(a)|P(b)' and '{}'.format(c) == 'c' and f'{a:>3}' == '  a'
assert {p.name: p for p in (a, b)}['b'].friends[0] is a
assert [p.name for p in sorted([c, b, a], key=lambda p: p.name)] == ['a', 'b', 'c']
"""),
_task("rate_limiter","""
class RateLimiter:
    def __init__(self, limit, period, clock): self.limit, self.period, self.clock, self.t = limit, period, clock, []
    def allow(self):
        now = self.clock()
        self.t = [x for x in self.t if now - x < self.period]
        if len(self.t) >= self.limit: return False
        self.t.append(now); return True
""",("< self.period","<= self.period"),"""
t = [0]
rl = RateLimiter(2, 10, clock=lambda: t[0])
assert rl.allow() and rl.allow() and not rl.allow()
t[0] = 10
assert rl.allow()
"""),
_task("generic_stack","""
from typing import Generic, TypeVar
T = TypeVar('T')
class Stack(Generic[T]):
    def __init__(self): self._x: list[T] = []
    def push(self, x: T) -> None: self._x.append(x)
    def pop(self) -> T: return self._x.pop()
    def count(self, x): return self._x.count(x)
""",("self._x.count(x)","len(self._x)"),"""
s = Stack[int]()
s.push(1); s.push(2); s.push(1)
assert s.count(1) == 2
assert s.pop() == 1
"""),
_task("str_enum","""
from enum import Enum
class Suit(str, Enum):
    HEARTS = 'h'
    SPADES = 's'
    @property
    def color(self): return 'red' if self is Suit.HEARTS else 'black'
    def __str__(self): return self.name.title()
""",("self.name.title()","self.name"),"""
assert Suit('h') is Suit.HEARTS
assert Suit.SPADES.color == 'black'
assert str(Suit.HEARTS) == 'Hearts' and f'{Suit.SPADES}' == 'Spades'
assert Suit.HEARTS == 'h' and Suit.HEARTS.value == 'h'
assert [s.value for s in Suit] == ['h', 's']
assert Suit.HEARTS.upper() == 'H'
"""),
_task("singledispatch","""
from functools import singledispatch
@singledispatch
def show(x): return f'obj {x}'
@show.register
def _(x: int): return f'int {x}'
@show.register(list)
def _(x): return f'list of {len(x)}'
""",("list of","list"),"""
assert show('a') == 'obj a' and show(3) == 'int 3' and show([1, 2]) == 'list of 2'
@show.register(float)
def _(x): return 'float!'
assert show(1.5) == 'float!'
"""),
_task("attr_dict","""
class AttrDict(dict):
    def __getattr__(self, k):
        try: return self[k]
        except KeyError: raise AttributeError(k) from None
    def __setattr__(self, k, v): self[k] = v
""",("self[k] = v","self[k] = str(v)"),"""
d = AttrDict(a=1)
assert d.a == 1
d.b = 2
assert d['b'] == 2 and sorted(d) == ['a', 'b']
assert 'a' in d and len(d) == 2
assert list(d.keys()) == ['a', 'b'] and dict(d) == {'a': 1, 'b': 2}
assert {**d} == {'a': 1, 'b': 2}
assert d.get('zz', 0) == 0 and not hasattr(d, 'zz')
"""),
_task("named_tuple_result","""
from collections import namedtuple
Stats = namedtuple('Stats', 'mean median')
def stats(xs):
    xs = sorted(xs)
    return Stats(sum(xs) / len(xs), xs[len(xs) // 2])
""",("len(xs) // 2","0"),"""
s = stats([1, 2, 9])
assert s == (4.0, 2)
assert s.mean == 4.0 and s.median == 2 and s[0] == 4
m, md = stats([5])
assert m == md == 5
assert s._fields == ('mean', 'median') and s._asdict() == {'mean': 4.0, 'median': 2}
assert isinstance(s, tuple) and Stats(1, 2) == Stats(1, 2)
"""),
_task("class_state","""
class Config:
    DEFAULTS = {'a': 1}
    def __init__(self, **kw): self.values = {**self.DEFAULTS, **kw}
    def __getitem__(self, k): return self.values[k]
""",("**self.DEFAULTS, ",""),"""
assert Config()['a'] == 1
Config.DEFAULTS['a'] = 5
assert Config()['a'] == 5
""", shared=True),
_task("module_cache","""
CACHE = {}
def square(x):
    if x not in CACHE: CACHE[x] = x * x
    return CACHE[x]
""",("CACHE[x] = x * x","CACHE[x] = x"),"""
assert square(3) == 9
assert CACHE == {3: 9}
CACHE.clear()
assert square(2) == 4 and CACHE == {2: 4}
""", shared=True),
_task("module_cache_read","""
CACHE = {}
LIMIT = 10
def square(x):
    if x not in CACHE: CACHE[x] = x * x
    return CACHE[x]
""",("CACHE[x] = x * x","CACHE[x] = x"),"""
assert square(3) == 9
assert CACHE == {3: 9} and LIMIT == 10 and 3 in CACHE
"""),
_task("context_decorator","""
from contextlib import ContextDecorator
class tracked(ContextDecorator):
    depth = 0
    def __enter__(self): tracked.depth += 1; return self
    def __exit__(self, *exc): tracked.depth -= 1; return False
""",("tracked.depth -= 1","pass"),"""
@tracked()
def work():
    return tracked.depth
assert work() == 1
assert tracked.depth == 0
with tracked():
    assert tracked.depth == 1
"""),
_task("number_like","""
import math
class Angle:
    def __init__(self, d): self.d = d % 360
    def __float__(self): return float(self.d)
    def __int__(self): return int(self.d)
    def __round__(self, n=None): return round(self.d, n)
    def __floor__(self): return math.floor(self.d)
    def __abs__(self): return abs(self.d)
    def __neg__(self): return Angle(-self.d)
    def __eq__(self, o): return isinstance(o, Angle) and abs(self.d - o.d) < 1e-9
    def __mod__(self, k): return Angle(self.d % k)
    def __divmod__(self, k): return divmod(self.d, k)
    def __index__(self): return int(self.d)
""",("d % 360","d"),"""
import math
a = Angle(370.25)
assert float(a) == 10.25 and int(a) == 10 and round(a, 1) == 10.2 and round(a) == 10
assert math.floor(a) == 10 and abs(a) == 10.25
assert -Angle(10) == Angle(350)
assert Angle(95) % 90 == Angle(5)
assert divmod(Angle(95), 90) == (1, 5)
assert [0, 1, 2, 3][Angle(2)] == 2 and hex(Angle(16)) == '0x10'
assert math.isclose(math.sin(math.radians(Angle(90))), 1.0)
"""),
_task("bank_errors","""
class Bank:
    def __init__(self): self.accounts = {}
    def open(self, name, start=0):
        if name in self.accounts: raise KeyError(f'{name} exists')
        self.accounts[name] = start
        return self
    def transfer(self, a, b, n):
        if a not in self.accounts or b not in self.accounts: raise LookupError('no such account')
        if self.accounts[a] < n: raise ValueError('insufficient funds')
        self.accounts[a] -= n; self.accounts[b] += n
    def balance(self, name): return self.accounts[name]
""",("self.accounts[b] += n","pass"),"""
bank = Bank().open('a', 100).open('b')
bank.transfer('a', 'b', 30)
assert (bank.balance('a'), bank.balance('b')) == (70, 30)
assert bank.accounts == {'a': 70, 'b': 30}
errors = []
for args in (('a', 'z', 1), ('a', 'b', 1000)):
    try:
        bank.transfer(*args)
    except Exception as e:
        errors.append((type(e).__name__, str(e)))
assert errors == [('LookupError', 'no such account'), ('ValueError', 'insufficient funds')]
assert bank.balance('a') == 70, 'failed transfers change nothing'
"""),
_task("visitor","""
class Num:
    def __init__(self, v): self.v = v
    def accept(self, visit): return visit(self)
class Add:
    def __init__(self, l, r): self.l, self.r = l, r
    def accept(self, visit): return visit(self)
def evaluate(n): return n.v if isinstance(n, Num) else evaluate(n.l) + evaluate(n.r)
""",("+ evaluate(n.r)","- evaluate(n.r)"),"""
tree = Add(Num(1), Add(Num(2), Num(3)))
assert evaluate(tree) == 6
def depth(n):
    return 1 if isinstance(n, Num) else 1 + max(n.l.accept(depth), n.r.accept(depth))
assert tree.accept(depth) == 3
assert tree.r.l.v == 2
"""),
_task("deque_and_sets","""
from collections import deque, Counter, defaultdict, OrderedDict
from decimal import Decimal
from fractions import Fraction
import datetime as dt
def window(xs, n): return deque(xs, maxlen=n)
def letters(s): return Counter(s)
def index(ws):
    d = defaultdict(list)
    for w in ws: d[w[0]].append(w)
    return d
def uniq(xs): return frozenset(xs)
def money(x): return Decimal(x).quantize(Decimal('0.01'))
def half(n): return Fraction(n, 2)
def nextday(d): return d + dt.timedelta(days=1)
def encode(s): return s.encode(), bytearray(s.encode()), memoryview
""",("maxlen=n","maxlen=n + 1"),"""
from collections import deque, Counter
from decimal import Decimal
from fractions import Fraction
from datetime import date
assert window([1, 2, 3], 2) == deque([2, 3]) and window([], 5).maxlen == 5
assert letters('aab') == Counter(a=2, b=1) and letters('aab').most_common(1) == [('a', 2)]
assert index(['ab', 'ac', 'b'])['a'] == ['ab', 'ac'] and index([])['q'] == []
assert uniq([1, 1, 2]) == {1, 2} and isinstance(uniq([]), frozenset)
assert money('2.345') == Decimal('2.34') and str(money('1')) == '1.00'
assert half(3) == Fraction(3, 2) and half(4) == 2
assert nextday(date(2024, 2, 28)) == date(2024, 2, 29)
assert encode('a')[:2] == (b'a', bytearray(b'a'))
"""),
_task("reentrant","""
class Parser:
    def __init__(self, text): self.t, self.i = text.replace(' ', ''), 0
    def parse(self):
        v = self.term()
        while self.i < len(self.t) and self.t[self.i] in '+-':
            op = self.t[self.i]; self.i += 1
            w = self.term(); v = v + w if op == '+' else v - w
        return v
    def term(self):
        v = self.atom()
        while self.i < len(self.t) and self.t[self.i] in '*/':
            op = self.t[self.i]; self.i += 1
            w = self.atom(); v = v * w if op == '*' else v / w
        return v
    def atom(self):
        if self.t[self.i] == '(':
            self.i += 1; v = self.parse(); self.i += 1; return v
        j = self.i
        while j < len(self.t) and self.t[j].isdigit(): j += 1
        v = int(self.t[self.i:j]); self.i = j
        return v
""",("v * w","v + w"),"""
assert Parser('1 + 2 * 3').parse() == 7
assert Parser('(1 + 2) * 3').parse() == 9
assert Parser('8 / 4 - 1').parse() == 1
assert abs(Parser('1 / 3').parse() - 0.3333333) < 1e-6
"""),
_task("lazy_pipeline","""
class Stream:
    def __init__(self, src): self.src = src
    def map(self, f): return Stream(f(x) for x in self.src)
    def filter(self, f): return Stream(x for x in self.src if f(x))
    def take(self, n):
        def go():
            for i, x in enumerate(self.src):
                if i >= n: return
                yield x
        return Stream(go())
    def __iter__(self): return iter(self.src)
    def to_list(self): return list(self)
""",("if f(x)","if not f(x)"),"""
import itertools
assert Stream(itertools.count()).filter(lambda x: x % 2).map(lambda x: x * 10).take(3).to_list() == [10, 30, 50]
assert list(Stream([1, 2])) == [1, 2]
assert sum(Stream('123').map(int)) == 6
"""),
_task("optional_and_unions","""
class Maybe:
    def __init__(self, v=None): self.v = v
    def bind(self, f): return self if self.v is None else Maybe(f(self.v))
    def or_else(self, d): return d if self.v is None else self.v
    def __bool__(self): return self.v is not None
    def __eq__(self, o): return isinstance(o, Maybe) and self.v == o.v
""",("self if self.v is None else ",""),"""
assert Maybe(3).bind(lambda x: x + 1).or_else(0) == 4
assert Maybe().bind(lambda x: x + 1).or_else(9) == 9
assert not Maybe() and Maybe(0)
assert Maybe(2) == Maybe(1).bind(lambda x: x * 2)
"""),
    # --- these need one process ------------------------------------------------------------
    _task("subclass_in_tests", """
        class Base:
            def run(self): return self.step() + 1
            def step(self): raise NotImplementedError
        """, ("+ 1", "+ 2"), """
        class Mine(Base):
            def step(self): return 41
        assert Mine().run() == 42
        """, shared=True),
    _task("object_of_the_tests", """
        def total(shapes): return sum(s.area() for s in shapes)
        """, ("s.area()", "1"), """
        class Sq:
            def __init__(self, a): self.a = a
            def area(self): return self.a ** 2
        assert total([Sq(2), Sq(3)]) == 13
        """, shared=True),
    _task("list_subclass", """
        class Bag(list):
            def distinct(self): return len(set(self))
        """, ("len(set(self))", "len(self)"), """
        b = Bag([1, 1, 2])
        assert b == [1, 1, 2]
        assert b.distinct() == 2
        """, shared=True),
    _task("equals_plain", """
        class Money:
            def __init__(self, n): self.n = n
            def __eq__(self, o): return self.n == (o.n if isinstance(o, Money) else o)
        """, ("self.n == (", "self.n != ("), """
        assert Money(5) == 5
        assert Money(5) == Money(5)
        """, shared=True),
    _task("async", """
        async def double(x): return x * 2
        """, ("x * 2", "x"), """
        import asyncio
        assert asyncio.run(double(4)) == 8
        """, shared=True),
    _task("printed", """
        def hello(n): print('hi ' * n)
        """, ("'hi ' * n", "'hi'"), """
        import io, contextlib
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            hello(2)
        assert out.getvalue() == 'hi hi \\n'
        """, shared=True),
    _task("signature", """
        def f(a, b=2, *, c): return a + b + c
        """, ("b=2", "b=3"), """
        import inspect
        assert str(inspect.signature(f)) == '(a, b=2, *, c)'
        """, shared=True),
    _task("kept_list", """
        class Watch:
            def __init__(self, items): self.items = items
            def size(self): return len(self.items)
        """, ("= items", "= list(items)"), """
        data = [1]
        w = Watch(data)
        data.append(2)
        assert w.size() == 2
        """, shared=True),
    _task("inner_container", """
        class Store:
            def __init__(self): self.d = {}
            def total(self): return sum(self.d.values())
        """, ("sum(self.d.values())", "0"), """
        s = Store()
        s.d['a'] = 3
        assert s.total() == 3
        """, shared=True),
    _task("log_filled_later", """
        class Tracker:
            def __init__(self, log): self.log = log
            def hit(self, x): self.log.append(x)
        """, ("self.log.append(x)", "pass"), """
        log = []
        t = Tracker(log)
        t.hit(1); t.hit(2)
        assert log == [1, 2]
        """, shared=True),
    _task("copy_that_getter_gives", """
        class Team:
            def __init__(self): self._m = ['a']
            def members(self): return list(self._m)
        """, ("list(self._m)", "self._m"), """
        t = Team()
        m = t.members()
        m.append('b')
        assert t.members() == ['a']
        """, shared=True),
    _task("default_argument", """
        def add(x, to=None):
            to = [] if to is None else to
            to.append(x)
            return to
        """, ("to = [] if to is None else to", "to = add.__dict__.setdefault('l', [])"), """
        a = add(1)
        a.append(5)
        assert add(2) == [2]
        """, shared=True),
    _task("same_plain_object", """
        _c = {}
        def settings(): return _c
        """, ("return _c", "return {}"), """
        assert settings() is settings()
        """, shared=True),
    _task("as_dict", """
        from dataclasses import dataclass
        @dataclass
        class P:
            x: int
            y: int = 3
        """, ("y: int = 3", "y: int = 4"), """
        from dataclasses import asdict
        assert asdict(P(1)) == {'x': 1, 'y': 3}
        """, shared=True),
    _task("patched_clock", """
        import time
        def stamp(): return int(time.time())
        """, ("time.time()", "time.time() + 1"), """
        import time
        time.time = lambda: 7.9
        assert stamp() == 7
        """, shared=True),
    _task("seeded", """
        import random
        def roll(): return random.randint(1, 10 ** 9)
        """, ("10 ** 9", "10 ** 8"), """
        import random
        random.seed(5)
        a = random.randint(1, 10 ** 9)
        random.seed(5)
        assert roll() == a
        """, shared=True),
)  # fmt: skip
