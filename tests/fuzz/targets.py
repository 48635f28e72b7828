# ruff: noqa: E501 - seeds
"""What is fuzzed: each parser of hostile bytes, with what it may raise and what must hold after.

A target takes bytes and returns; anything that escapes it is a crash. Nothing here needs atheris,
so the same targets run over the kept corpus in the ordinary tests.
"""

import ast
import contextlib
import json
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from agent_loop.checks.citations import judge
from agent_loop.checks.code.inside.values import Codec, Exchange
from agent_loop.checks.code.inside.wire import Frames, Refused
from agent_loop.checks.project.records import Answer, read
from agent_loop.edits import code_from_reply, edits_from_reply
from agent_loop.episode.protocol import NoCall, read_call
from agent_loop.episode.protocol import recovered as recovered_call
from agent_loop.errors import AgentLoopError, ReplyError, StoreFault, UserError
from agent_loop.graph.serde import JsonSerde
from agent_loop.graph.state import checked, fresh
from agent_loop.models.text import ReasoningFilter, bounded, clean, repeats
from agent_loop.ports import ToolSpec
from agent_loop.prompts import opinion
from agent_loop.research import Paper, Search, parse
from agent_loop.research.atom import FeedProblem, read_feed
from agent_loop.research.frozen import load as load_frozen
from agent_loop.store import RunStore, read_trace
from agent_loop.store.record import read_summary
from agent_loop.store.reports import parse_report
from agent_loop.tasks import load as load_task
from agent_loop.workspace.patchread import BadPatch, applied
from agent_loop.yamlfile import YamlProblem
from agent_loop.yamlfile import parse as parse_yaml

Target = Callable[[bytes], None]
FILES = {
    "pkg/a.py": b"def f():\n    return 1\n",
    "pkg/b.py": b"x = 1\r\ny = 2\r\n",
    "README.md": b"# a\n```python\nx = 1\n```\n",
}
FORMATS = ("auto", "whole", "search_replace", "diff", "json")
TOOLS = (
    ToolSpec(
        name="view", description="Shows a file.",
        parameters={"type": "object", "properties": {"path": {"type": "string"}},
                    "required": ["path"]},
    ),
    ToolSpec(
        name="bash", description="Runs a command.",
        parameters={"type": "object", "properties": {"command": {"type": "string"}},
                    "required": ["command"]},
    ),
)  # fmt: skip
SEARCH = Search(
    query="all:x", max_papers=1, base_url="https://export.arxiv.org", fetched_at="",
    papers=(
        Paper(id=parse("2401.00001v2"), title="On Things",
              abstract="We show that eﬃcient routing of 12.5% of all tokens fails in most cases."),
    ),
)  # fmt: skip


def text_of(data: bytes) -> str:
    """Any text a model's JSON could carry, lone surrogates included."""
    return data.decode("utf-8", "surrogateescape")


def code_reply(data: bytes) -> None:
    try:
        found = code_from_reply(text_of(data))
    except ReplyError:
        return
    assert found.code.strip()
    ast.parse(found.code)


def edit_reply(data: bytes) -> None:
    format = FORMATS[data[0] % len(FORMATS)] if data else "auto"
    try:
        changes = edits_from_reply(
            text_of(data[1:]), FILES, format=format, finish="stop",
            protected=lambda path: path.startswith("tests/"), symlinks={"link"},
        )  # fmt: skip
    except ReplyError:
        return
    assert changes.files
    for path in changes.files:
        parts = PurePosixPath(path).parts
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in parts
        assert parts[0] not in {".git", "link", "tests"}
        assert "\0" not in path


def model_text(data: bytes) -> None:
    text = clean(text_of(data))
    text.encode("utf-8")
    split = ReasoningFilter()
    for start in range(0, len(text), 7):
        split.feed(text[start : start + 7])
    split.finish()
    whole = ReasoningFilter()
    whole.feed(text)
    whole.finish()
    assert (split.answer, split.reasoning) == (whole.answer, whole.reasoning)
    assert len(bounded(text, 50)) <= max(50, 200)
    repeats(text)
    assert opinion(text) in ("approved", "rejected", "unclear")


def tool_call(data: bytes) -> None:
    text = text_of(data)
    for reader in (read_call, recovered_call):
        try:
            found = reader(text, TOOLS)
        except NoCall:
            continue
        assert found.name in ("view", "bash")
        assert set(found.arguments) <= {"path", "command"}


def citations(data: bytes) -> None:
    judge(text_of(data), SEARCH)


def yaml(data: bytes) -> None:
    with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
        file.write(data)
        file.flush()
        with contextlib.suppress(UserError):
            load_task(Path(file.name))
    with contextlib.suppress(YamlProblem):
        parse_yaml(data.decode("utf-8", "replace"))


def checkpoint(data: bytes) -> None:
    serde = JsonSerde(lambda name: zlib.compress(b"a text that a step names"))
    for kind in ("agent-loop-json", "agent-loop-json-z", "msgpack"):
        with contextlib.suppress(StoreFault):
            value = serde.loads_typed((kind, data))
            if isinstance(value, dict):
                checked(value)


def stored_files(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        store = RunStore(Path(name))
        store.folder("t").mkdir()
        store.trace_path("t").write_bytes(data)
        for event in read_trace(store.trace_path("t")):
            assert isinstance(event["n"], int)
        store.record_path("t").write_bytes(data)
        read_summary(store.record_path("t"))
        store.list()
        for reader in (
            lambda: store.read_record("t"),
            lambda: store.mailbox("t").answered("n"),
            lambda: parse_report(data, where="x"),
            lambda: load_frozen(store.record_path("t")),
        ):
            with contextlib.suppress(AgentLoopError):
                reader()
        store.mailbox("t").path.write_bytes(data)
        store.mailbox("t").take("n")


def patch(data: bytes) -> None:
    before = {path: (content, False) for path, content in FILES.items()}
    with contextlib.suppress(BadPatch):
        applied(data, before)


def project_records(data: bytes) -> None:
    run = read(Answer(code=0, records=data.decode("utf-8", "replace")))
    if run.problems:
        assert not run.clean


def code_wire(data: bytes) -> None:
    frames = Frames()
    frames.feed(data)
    try:
        while frames.take() is not None:
            pass
    except Refused:
        pass
    try:
        coded = json.loads(data)
    except (ValueError, RecursionError):
        return
    with contextlib.suppress(Refused):
        Codec().decode(coded, Exchange())


def feed(data: bytes) -> None:
    with contextlib.suppress(AgentLoopError, FeedProblem):
        read_feed(data)


TARGETS: dict[str, Target] = {
    "code_reply": code_reply,
    "edit_reply": edit_reply,
    "model_text": model_text,
    "tool_call": tool_call,
    "citations": citations,
    "yaml": yaml,
    "checkpoint": checkpoint,
    "stored_files": stored_files,
    "patch": patch,
    "project_records": project_records,
    "code_wire": code_wire,
    "feed": feed,
}
SEEDS: dict[str, tuple[bytes, ...]] = {
    "code_reply": (
        b"Here:\n```python\ndef f():\n    return 1\n```\n", b'{"code": "def f():\\n    return 1"}',
        b"```\n```python\nx = 1\n", b"def f():\n    return 1\n\nThat is all.",
    ),
    "edit_reply": (
        b"\0pkg/a.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n>>>>>>> REPLACE\n",
        b"\x01pkg/a.py\n```python\ndef f():\n    return 2\n```\n",
        b"\x03--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2\n",
        b'\x04{"edits": [{"path": "pkg/a.py", "search": "return 1", "replace": "return 2"}]}',
    ),
    "model_text": (
        b"<think>\nhm\n</think>\nAPPROVED", b"ab" * 60, b"```\n<think>\n```\nREJECTED: no",
    ),
    "tool_call": (
        b"```tool view\npath: pkg/a.py\n```\n", b'{"name": "view", "arguments": {"path": "x"}}',
        b'<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>',
        b"<function=bash>ls</function>",
    ),
    "citations": (
        b'They say "efficient routing of 12.5% of all tokens fails" [arXiv:2401.00001].',
        b"See arXiv:2401.00001v1 and \xe2\x80\x9cefficient ... fails in most cases\xe2\x80\x9d.",
    ),
    "yaml": (
        b"task: x\ntests: ['assert f() == 1']\n", b"type: research\ntask: x\nquery: 'all:x'\n",
        b"a: &x [1]\nb: *x\n", b"type: project\ntask: x\nproject: .\n",
    ),
    "checkpoint": (
        json.dumps(fresh(rejection_cap=3, can_escalate=True)).encode(),
        b'{"channel_values": {"plan": {"$": "text", "hash": "0"}}}', b'{"$": "interrupt", "id": "1"}',
        b"x\x9c\xabV\x02\x00\x00\xfa\x00\xa0",
    ),
    "stored_files": (
        b'{"v": 1, "n": 1, "kind": "x"}\n{"n":', b'{\n"version": 1,\n"summary": {"thread": "t"},\n}',
        b'{"nonce": "n", "kind": "stop", "text": "stop"}', b'{"version": 1, "plan": {}, "attempts": []}',
    ),
    "patch": (
        b"diff --git a/pkg/a.py b/pkg/a.py\n--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -1,2 +1,2 @@\n"
        b" def f():\n-    return 1\n+    return 2\n",
        b"diff --git a/n.py b/n.py\nnew file mode 100644\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n",
    ),
    "project_records": (
        b'{"t": "ids", "ids": [["a::b", "f"]]}\n{"t": "report", "id": "a::b", "when": "call", '
        b'"outcome": "passed", "xfail": "", "sub": "", "text": ""}\n{"t": "end", "code": 0}',
    ),
    "code_wire": (b"\0\0\0\x02{}", b'["i", "0x10"]', b'["l", [1], ["&", 0]]', b'["f", "7ff0"]'),
    "feed": (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2401.00001v1</id>'
        b"<title>t</title><summary>s</summary></entry></feed>",
        b'<!DOCTYPE x [<!ENTITY a "b">]><feed>&a;</feed>',
    ),
}  # fmt: skip
