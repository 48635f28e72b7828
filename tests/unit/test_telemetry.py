"""Spans of real runs through the SDK's own in-memory exporter: shape, counts, and no text."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agent_loop.config import OtelSettings
from agent_loop.doctor.looks import telemetry
from agent_loop.errors import FaultError
from agent_loop.graph import drive
from agent_loop.store import RunStore
from agent_loop.telemetry import Telemetry
from tests.fakes.check import ScriptedCheck
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a sentence that only the prompt holds"


def run(tmp_path, *, prompts=False, exporter=None, **more):
    exporter = exporter or InMemorySpanExporter()
    sender = Telemetry(OtelSettings(enabled=True, prompts=prompts), exporter)
    more.setdefault("owner", ScriptedOwner(["do it right"]))
    made = parts(
        [wrong(1), wrong(2), wrong(3), RIGHT],
        ["REJECTED"] * 3 + ["APPROVED"],
        live=sender.listener("t"),
        **more,
    )
    result = drive.start("t", job(task=SECRET), made, RunStore(tmp_path))
    sender.close()
    return result, exporter


def test_a_run_its_nodes_and_its_calls(tmp_path):
    result, exporter = run(tmp_path)
    assert result.outcome == "passed"
    spans = {span.context.span_id: span for span in exporter.get_finished_spans()}
    (root,) = [span for span in spans.values() if span.parent is None]
    assert root.name == "invoke_agent agent-loop"
    assert root.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert root.attributes["gen_ai.conversation.id"] == "t"
    assert root.attributes["agent_loop.outcome"] == "passed"
    calls = [span for span in spans.values() if span.kind is SpanKind.CLIENT]
    assert len(calls) == 1 + 4 + 4
    for call in calls:
        assert call.attributes["gen_ai.operation.name"] == "chat"
        assert call.attributes["gen_ai.provider.name"] == "scripted"
        assert call.name == f"chat {call.attributes['gen_ai.request.model']}"
        assert call.attributes["gen_ai.response.finish_reasons"] == ("stop",)
        node = spans[call.parent.span_id]
        assert node.attributes["agent_loop.node"] in ("lead", "worker", "reviewer")
        assert node.parent.span_id == root.context.span_id
        assert node.start_time <= call.start_time <= call.end_time <= node.end_time
    events = [event for span in spans.values() for event in span.events]
    labels = [
        e.attributes["gen_ai.evaluation.score.label"]
        for e in events
        if "score" in str(e.attributes)
    ]
    assert labels == ["fail", "fail", "fail", "pass"]
    assert {"paused", "owner_replied"} <= {event.name for event in events}


def everything(exporter):
    return "".join(span.to_json() for span in exporter.get_finished_spans())


def test_no_text_leaves_unless_it_is_asked_for(tmp_path):
    said = everything(run(tmp_path / "without")[1])
    for text in (SECRET, "return 'right'", "assert f()", "REJECTED", "do it right"):
        assert text not in said
    said = everything(run(tmp_path / "with", prompts=True)[1])
    assert SECRET in said
    assert "return 'right'" in said


def test_keys_are_taken_out_of_what_is_sent(tmp_path):
    key = "sk-ant-api03-" + "A" * 40
    exporter = InMemorySpanExporter()
    sender = Telemetry(OtelSettings(enabled=True, prompts=True), exporter)
    made = parts([RIGHT], lead=[f"1. use {key}"], live=sender.listener("t"))
    drive.start("t", job(), made, RunStore(tmp_path))
    sender.close()
    assert key not in everything(exporter)


def test_unknown_counts_are_left_out(tmp_path):
    spans = run(tmp_path)[1].get_finished_spans()
    exporter = InMemorySpanExporter()
    sender = Telemetry(OtelSettings(enabled=True), exporter)
    listener = sender.listener("t")
    usage = {"calls": 1, "unmeasured_calls": 1, "input_tokens": 0, "output_tokens": 0}
    listener.emit("run_started", {"task": "x"})
    listener.emit("model_asked", {"node": "worker", "role": "worker", "model": "ollama:q:7b"})
    listener.emit("model_replied", {"answered": "ollama:q:7b", "finish": "stop", "usage": usage})
    listener.emit("run_ended", {"outcome": "passed"})
    sender.close()
    (call,) = [s for s in exporter.get_finished_spans() if s.kind is SpanKind.CLIENT]
    assert "gen_ai.usage.input_tokens" not in call.attributes
    assert call.attributes["gen_ai.response.model"] == "q:7b"
    assert spans


def test_a_tool_call_is_a_span_of_its_own(tmp_path):
    exporter = InMemorySpanExporter()
    sender = Telemetry(OtelSettings(enabled=True), exporter)
    listener = sender.listener("t")
    listener.emit("run_started", {"task": "x"})
    listener.emit("node_started", {"node": "worker", "lap": 1})
    step = {"call": {"id": "1", "name": "run_tests", "arguments": {"x": SECRET}}, "seconds": 0.5,
            "observation": {"text": SECRET, "ok": False}}  # fmt: skip
    listener.emit("episode_step", step)
    listener.emit("node_finished", {"node": "worker"})
    listener.emit("run_ended", {"outcome": "passed"})
    sender.close()
    tool = next(s for s in exporter.get_finished_spans() if s.name == "execute_tool run_tests")
    assert tool.attributes["gen_ai.operation.name"] == "execute_tool"
    assert 0.49e9 < tool.end_time - tool.start_time < 0.51e9
    assert tool.status.status_code is StatusCode.ERROR
    assert SECRET not in tool.to_json()


def test_a_fault_is_an_error_on_node_and_run(tmp_path):
    check = ScriptedCheck(fault=lambda: FaultError(f"the engine is gone: {SECRET}"))
    result, exporter = run(tmp_path, check=check)
    assert result.outcome == "error"
    failed = [s for s in exporter.get_finished_spans() if s.status.status_code is StatusCode.ERROR]
    assert {s.name for s in failed} == {"check", "invoke_agent agent-loop"}
    assert SECRET not in everything(exporter)


class Broken(SpanExporter):
    """A collector that fails at everything."""

    def export(self, spans):
        return SpanExportResult.FAILURE

    def shutdown(self):
        """Nothing to give back."""


def test_a_dead_collector_costs_no_run(tmp_path):
    assert run(tmp_path, exporter=Broken())[0].outcome == "passed"


def test_odd_events_do_no_harm():
    sender = Telemetry(OtelSettings(enabled=True), InMemorySpanExporter())
    listener = sender.listener("t")
    for kind in ("run_ended", "node_finished", "model_replied", "verdict", "fault", "paused",
                 "episode_step", "owner_replied", "unheard_of"):  # fmt: skip
        listener.emit(kind, {})
    listener.emit("model_asked", {})
    listener.emit("model_asked", {"messages": 7})
    listener.emit("run_started", {})
    listener.emit("run_ended", {})
    sender.close()


OFF = """
import sys
from agent_loop.config import Config
from agent_loop.telemetry import Telemetry
sender = Telemetry(Config().otel)
assert sender.listener("t") is None
sender.close()
assert not any(name.startswith("opentelemetry") for name in sys.modules), "imported"
"""


def test_off_is_off_and_imports_nothing():
    subprocess.run([sys.executable, "-c", OFF], cwd=ROOT, check=True, timeout=60)


def test_the_doctor_says_where_spans_go():
    from types import SimpleNamespace

    def looked(**settings):
        config = SimpleNamespace(otel=OtelSettings(**settings))
        return [found.detail for found in telemetry(SimpleNamespace(config=config))]

    assert looked() == ["off: otel.enabled is false"]
    said = looked(enabled=True, endpoint="http://127.0.0.1:4318/v1/traces")
    assert said == ["spans go to http://127.0.0.1:4318/v1/traces: no prompt or reply"]
    assert "prompts and replies too" in looked(enabled=True, prompts=True)[0]
