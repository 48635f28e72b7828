"""Hostile and odd text in the project gate: nothing but the expected answers comes out."""

import ast
import json
import re

from hypothesis import given
from hypothesis import strategies as st

from agent_loop.checks.project.command import parse_command
from agent_loop.checks.project.protected import Protection, translate
from agent_loop.checks.project.records import Answer, read
from agent_loop.checks.project.source.changes import compare
from agent_loop.checks.project.source.sabotage import Marker, sabotage
from agent_loop.checks.project.source.shape import functions
from agent_loop.checks.project.source.text import Source, Spans
from agent_loop.checks.project.twins.alter import Alterer
from agent_loop.checks.project.twins.copies import WantedFile
from agent_loop.checks.project.twins.place import NodeId

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=8,
)
KINDS = ["ids", "report", "raised", "collect", "line", "look", "end", "replaced", "x"]
FIELDS = [
    "id",
    "ids",
    "when",
    "outcome",
    "xfail",
    "sub",
    "text",
    "names",
    "code",
    "test",
    "path",
    "line",
    "installed",
]
RECORD = st.fixed_dictionaries(
    {"t": st.sampled_from(KINDS)}, optional={name: JSON for name in FIELDS}
)
PLAIN = (
    st.text(max_size=12)
    | st.integers()
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.none()
    | st.binary(max_size=6)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.text(max_size=300), st.integers(-1, 5))
def test_any_text_as_records_is_read_and_never_clean(text, code):
    assert not read(Answer(code=code, records=text)).clean


@given(st.lists(RECORD, max_size=6), st.integers(0, 2))
def test_records_of_any_shape_are_read(records, code):
    text = "".join(json.dumps(one) + "\n" for one in records)
    run = read(Answer(code=code, records=text))
    assert not run.clean or records[-1]["t"] == "end"


@given(VALUES)
def test_an_altered_value_is_another_one_in_one_line(value):
    text = f"assert f() == {value!r}\n"
    tree = ast.parse(text)
    spans = Spans(text)
    edits = Alterer(spans).value(tree.body[0].test.comparators[0])
    changed = spans.replace(edits)
    assert changed.count("\n") == 1
    other = eval(changed.partition("==")[2], {"inf": float("inf")})
    assert other != value
    assert type(other) is type(value) or value is None or isinstance(other, tuple | float)


@given(st.text(max_size=40), st.text(alphabet="abc def:\n()=1#\"'\\\t", max_size=40))
def test_any_two_texts_are_compared_or_refused_as_unparsable(old, new):
    try:
        found = compare(Source(text=old), Source(text=new))
    except SyntaxError:
        return
    assert old != new or not found.any


NAMES = st.sampled_from(["a", "b", "type", "é"])
BODIES = st.sampled_from(
    [
        "return 1",
        "yield 1",
        "pass",
        "x = (\n        1\n    )",
        "'doc'",
        "x = '''a\nb'''",
        "if x:\n        y",
        "del a;",
    ]
)


@given(st.lists(st.tuples(NAMES, BODIES, st.booleans()), min_size=1, max_size=4))
def test_sabotage_compiles_and_keeps_every_line(parts):
    text = "".join(
        f"{'async ' if later else ''}def {name}():\n    {body}\n\n" for name, body, later in parts
    )
    source = Source(text=text)
    keys = [one.key for one in functions(source.tree())]
    changed = sabotage(source, keys, Marker.draw("/tmp/run"))
    assert changed.text.count("\n") == text.count("\n")
    assert [one.key for one in functions(changed.tree())] == keys


@given(st.text(max_size=60))
def test_any_path_has_an_answer(path):
    rules = Protection(known=frozenset({"a.py"}), globs=("docs/**",), roots=("src",))
    assert rules.why(path) is None or isinstance(rules.why(path), str)


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_glob_is_a_pattern(glob, path):
    re.compile(translate(glob)).fullmatch(path)


@given(st.text(max_size=60))
def test_any_command_is_pytest_or_not(command):
    assert parse_command(command) is None or "py" in command


@given(st.text(max_size=60))
def test_an_id_is_put_together_again(text):
    assert NodeId.parse(f"t.py::{text}").at("t.py") == f"t.py::{text}"


@given(st.text(max_size=120))
def test_any_test_file_gives_copies_that_parse_or_is_refused(text):
    body = "".join(f"    {line}\n" for line in text.split("\n"))
    data = f"def test_a():\n{body}    pass\n".encode(errors="replace")
    try:
        file = WantedFile("t.py", data, ["t.py::test_a"])
    except SyntaxError:
        return
    for copy in file.twins(("test_a",)):
        ast.parse(copy.data)
