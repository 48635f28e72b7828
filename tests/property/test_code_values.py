"""Plain values cross with type, order and sharing kept; hostile JSON is refused, nothing else."""

import array
import collections
import contextlib
import datetime as dt
import decimal
import fractions
import json
import math
import pathlib
import re
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_loop.checks.code.inside.kinds import BY_TAG
from agent_loop.checks.code.inside.values import Codec, Exchange
from agent_loop.checks.code.inside.wire import Frames, Refused, pack

QUICK = settings(deadline=None, derandomize=True, max_examples=150)
MANY = settings(deadline=None, derandomize=True, max_examples=600)

TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
OFFSETS = st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)).map(
    lambda d: dt.timezone(dt.timedelta(minutes=d // dt.timedelta(minutes=1)))
)
ZONES = st.none() | OFFSETS
ATOMS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=10**4000, max_value=10**4001),
    st.floats(),
    st.complex_numbers(),
    TEXT,
    st.binary(max_size=8),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.timedeltas(),
    st.datetimes(timezones=ZONES, allow_imaginary=False),
    st.times(timezones=ZONES),
    OFFSETS,
    st.uuids(),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3)),
    st.builds(slice, st.none() | st.integers(-9, 9), st.integers(-9, 9)),
    st.sampled_from([pathlib.PurePosixPath("a/b"), re.compile("a+", re.I)]),
)
HASHABLE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXT, st.binary(max_size=4), st.dates()),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
PAIRS = st.lists(st.tuples(HASHABLE, ATOMS), max_size=4)
VALUES = st.recursive(
    ATOMS | HASHABLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(HASHABLE, max_size=4),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.lists(inner, max_size=4).map(lambda x: collections.deque(x, maxlen=5)),
        st.lists(st.tuples(HASHABLE, inner), max_size=4).map(collections.OrderedDict),
        st.dictionaries(HASHABLE, st.integers(0, 9), max_size=4).map(collections.Counter),
        PAIRS.map(lambda x: collections.defaultdict(None, x)),
        st.binary(max_size=6).map(bytearray),
        st.lists(st.integers(-9, 9), max_size=4).map(lambda x: array.array("h", x)),
    ),
    max_leaves=12,
)


def cross(value):
    coded = json.loads(json.dumps(Codec().encode(value, Exchange())))
    return Codec().decode(coded, Exchange())


def identical(a, b) -> bool:
    """Equal in type, order and every part; floats by their bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (
            a == b and math.copysign(1, a) == math.copysign(1, b)
        )
    if isinstance(a, complex):
        return identical(a.real, b.real) and identical(a.imag, b.imag)
    if isinstance(a, decimal.Decimal):
        return str(a) == str(b)
    if isinstance(a, set | frozenset):
        return len(a) == len(b) and a == b
    if isinstance(a, dict):
        return identical(list(a.items()), list(b.items()))
    if isinstance(a, list | tuple | collections.deque):
        maxlens = getattr(a, "maxlen", 0) == getattr(b, "maxlen", 0)
        return maxlens and len(a) == len(b) and all(map(identical, a, b))
    if isinstance(a, dt.datetime | dt.time):
        return a.isoformat() == b.isoformat() and a.fold == b.fold
    return a == b


@QUICK
@given(VALUES)
def test_every_value_crosses_exactly(value) -> None:
    assert identical(cross(value), value)


@pytest.mark.parametrize("tag", sorted(BY_TAG))
def test_every_kind_of_the_table_has_an_example(tag) -> None:
    examples = {
        "dk": {1: 2}.keys(), "dv": {1: 2}.values(), "di": {1: 2}.items(), "B": bytearray(b"x"),
        "b": b"x", "c": 1j, "t": (1,), "F": frozenset((1,)), "ra": range(3), "sl": slice(2),
        "dec": decimal.Decimal("1.10"), "fr": fractions.Fraction(1, 3), "da": dt.date(2024, 2, 29),
        "td": dt.timedelta(3, 4, 5), "dt": dt.datetime(2024, 1, 1, fold=1, tzinfo=dt.UTC),
        "ti": dt.time(3, fold=1),
        "tz": dt.timezone(dt.timedelta(hours=1), "x"),
        "u": uuid.UUID(int=7),
        "pp": pathlib.PurePosixPath("/a"), "re": re.compile(b"x"), "l": [1], "S": {1}, "d": {1: 2},
        "q": collections.deque([1], 3), "C": collections.Counter("aab"),
        "O": collections.OrderedDict(a=1), "D": collections.defaultdict(None, {1: 2}),
        "a": array.array("d", [1.5]),
    }  # fmt: skip
    if tag == "p":
        examples["p"] = pathlib.Path("a/b")
    if tag == "zi":
        zoneinfo = pytest.importorskip("zoneinfo")
        try:
            examples["zi"] = zoneinfo.ZoneInfo("UTC")
        except zoneinfo.ZoneInfoNotFoundError:
            pytest.skip("no time zone data here")
    value = examples[tag]
    back = cross(value)
    assert type(back) is type(value)
    assert list(back) == list(value) if tag in ("dk", "dv", "di") else back == value


def test_sharing_is_kept() -> None:
    inner = [1]
    value = [inner, inner, {"a": inner}]
    back = cross(value)
    assert back[0] is back[1] is back[2]["a"]


def test_two_lone_surrogates_stay_two_characters() -> None:
    value = "\ud83d" + "\ude00"
    assert len(cross(value)) == 2
    assert cross(value) == value


def test_what_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(Refused, match="contains itself"):
        Codec().encode(loop, Exchange())


def test_subclasses_and_look_alikes_are_no_plain_values() -> None:
    class List(list):
        pass

    Liar = type("OrderedDict", (dict,), {"__module__": "collections"})
    for value in (List([1]), Liar(), type("X", (), {"__class__": list})()):
        with pytest.raises(Refused):
            Codec().encode(value, Exchange())


@pytest.mark.parametrize(
    "value",
    [[[[]]] * 1 and eval("[" * 120 + "]" * 120), list(range(200_001)), print, object()],
    ids=["deep", "long", "function", "object"],
)
def test_what_cannot_cross_is_refused(value) -> None:
    with pytest.raises(Refused):
        Codec().encode(value, Exchange())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats() | st.text(max_size=6),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
        st.tuples(st.sampled_from([*BY_TAG, "&", "i", "f", "s", "H", "g", "zz"]), inner, inner).map(
            list
        ),
        st.tuples(st.sampled_from([*BY_TAG, "&", "i", "f", "s"]), inner).map(list),
        st.sampled_from([*BY_TAG]).map(lambda tag: [tag]),
    ),
    max_leaves=20,
)


@MANY
@given(JSON)
def test_hostile_json_is_read_or_refused(coded) -> None:
    with contextlib.suppress(Refused):
        Codec().decode(coded, Exchange())


@MANY
@given(st.lists(st.tuples(st.integers(-2, 3), JSON), max_size=3))
def test_hostile_changes_are_applied_or_refused(changes) -> None:
    exchange, codec = Exchange(), Codec()
    codec.encode([[1], {2: 3}], exchange)
    for number, content in changes:
        with contextlib.suppress(Refused):
            codec.change(number, content, exchange)


@MANY
@given(st.binary(max_size=40))
def test_hostile_bytes_are_frames_or_refused(data) -> None:
    frames = Frames()
    frames.feed(data)
    try:
        while frames.take() is not None:
            pass
    except Refused:
        pass


def test_frames_come_out_as_they_went_in() -> None:
    frames, message = Frames(), {"n": "ü", "v": [1, "\n"]}
    for byte in pack(message):
        assert frames.take() is None
        frames.feed(bytes([byte]))
    assert frames.take() == message


def test_a_frame_larger_than_the_cap_is_refused_before_it_is_read() -> None:
    frames = Frames()
    frames.feed(b"\xff\xff\xff\xff")
    with pytest.raises(Refused, match="larger than the cap"):
        frames.take()
