"""OpenTelemetry spans of runs, from their events, by the GenAI semantic conventions.

Off unless `otel.enabled: true`. A run is an `invoke_agent` span, each node a span inside it, each
model call a `chat` span and each tool call of an episode an `execute_tool` span inside its node.
Texts (prompts, replies, observations, reasons) are left out unless `otel.prompts: true`.
A collector that does not answer costs spans, never a run.
"""

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_loop import __version__
from agent_loop.config import OtelSettings
from agent_loop.errors import UserError
from agent_loop.ports import Events, Json
from agent_loop.redact import redact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

AGENT = "agent-loop"
FLUSH_MS = 5_000
_MISSING = "otel.enabled needs OpenTelemetry. Say: pip install 'agent-loop[otel]'"
_MOMENTS = frozenset({"paused", "owner_replied", "candidate_refused", "repeated"})
_COUNTS = {
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.cache_read.input_tokens": "reused_tokens",
}


class Telemetry:
    """What sends the spans of one process; nothing is made, and nothing imported, while it is off.

    Args:
        settings: whether, where to, and how much.
        exporter: takes the spans instead of the configured collector.
    """

    def __init__(self, settings: OtelSettings, exporter: "SpanExporter | None" = None) -> None:
        self._settings = settings
        self._exporter = exporter
        self._provider: Any = None

    def listener(self, thread: str) -> Events | None:
        """Who turns the events of one drive into spans; `None` while telemetry is off.

        Raises:
            UserError: it is on and OpenTelemetry is not installed.
        """
        if not self._settings.enabled:
            return None
        if self._provider is None:
            self._provider = _provider(self._settings, self._exporter)
        tracer = self._provider.get_tracer(AGENT, __version__)
        return Spans(tracer, thread, prompts=self._settings.prompts)

    def close(self) -> None:
        """Send what waits, for a few seconds; safe to call twice."""
        provider, self._provider = self._provider, None
        if provider is not None:
            provider.force_flush(FLUSH_MS)
            provider.shutdown()


class Spans:
    """The events of one drive as spans."""

    def __init__(self, tracer: "Tracer", thread: str, *, prompts: bool) -> None:
        self._tracer = tracer
        self._thread = thread
        self._prompts = prompts
        self._open: list[tuple[str, Span]] = []
        """Run, node, call: each inside the one before."""

    def emit(self, kind: str, fields: Mapping[str, Json]) -> None:
        """Take one event; what this does not know passes by."""
        handle = {
            "run_started": self._run_started,
            "node_started": self._node_started,
            "node_finished": self._node_finished,
            "model_asked": self._asked,
            "model_replied": self._replied,
            "episode_step": self._tool,
            "verdict": self._verdict,
            "fault": self._fault,
            "run_ended": self._run_ended,
        }.get(kind)
        if handle is not None:
            handle(fields)
        elif kind in _MOMENTS:
            self._moment(kind, fields)

    # --- spans

    def _run_started(self, fields: Mapping[str, Json]) -> None:
        self._begin(
            "run",
            f"invoke_agent {AGENT}",
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": AGENT,
                "gen_ai.agent.version": __version__,
                "gen_ai.conversation.id": self._thread,
                "agent_loop.task": str(fields.get("task")),
                "agent_loop.task_kind": str(fields.get("task_kind")),
                "agent_loop.task_hash": str(fields.get("task_hash")),
                "agent_loop.resumed": fields.get("resumed") is True,
            },
        )

    def _node_started(self, fields: Mapping[str, Json]) -> None:
        self._end("node")
        name, again = str(fields.get("node")), fields.get("again") is True
        facts = {"agent_loop.node": name, "agent_loop.again": again, **_lap(fields)}
        self._begin("node", name, facts)

    def _node_finished(self, _: Mapping[str, Json]) -> None:
        self._end("node")

    def _asked(self, fields: Mapping[str, Json]) -> None:
        self._end("call")
        provider, _, model = str(fields.get("model")).partition(":")
        facts = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.conversation.id": self._thread,
            "agent_loop.role": str(fields.get("role")),
            **_lap(fields),
        }
        self._begin("call", f"chat {model}", facts, client=True)
        if self._prompts:
            self._text("gen_ai.input.messages", _messages(fields.get("messages")))

    def _replied(self, fields: Mapping[str, Json]) -> None:
        if not self._open or self._open[-1][0] != "call":
            return
        span = self._open[-1][1]
        span.set_attribute("gen_ai.response.model", str(fields.get("answered")).partition(":")[2])
        span.set_attribute("gen_ai.response.finish_reasons", [str(fields.get("finish"))])
        usage = fields.get("usage")
        known = usage if isinstance(usage, Mapping) else {}
        if not known.get("unmeasured_calls"):  # unknown is not zero
            for name, key in _COUNTS.items():
                if isinstance(value := known.get(key), int):
                    span.set_attribute(name, value)
        if isinstance(retries := known.get("retries"), int):
            span.set_attribute("agent_loop.retries", retries)
        if self._prompts:
            said = [{"role": "assistant", "content": fields.get("text")}]
            self._text("gen_ai.output.messages", _messages(said))
        self._end("call")

    def _tool(self, fields: Mapping[str, Json]) -> None:
        call, seen = fields.get("call"), fields.get("observation")
        if not isinstance(call, Mapping) or not isinstance(seen, Mapping):
            return
        self._end("call")
        name, seconds = str(call.get("name")), fields.get("seconds")
        ended = time.time_ns()
        took = int(seconds * 1e9) if isinstance(seconds, int | float) else 0
        facts = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": str(call.get("id")),
        }
        self._begin("call", f"execute_tool {name}", facts, start=ended - took)
        if self._prompts:
            self._text("gen_ai.tool.call.arguments", json.dumps(call.get("arguments")))
            self._text("gen_ai.tool.call.result", str(seen.get("text")))
        if seen.get("ok") is not True:
            self._failed("tool_error")
        self._end("call", at=ended)

    def _verdict(self, fields: Mapping[str, Json]) -> None:
        passed = fields.get("passed") is True
        facts: dict[str, Any] = {
            "gen_ai.evaluation.name": "check",
            "gen_ai.evaluation.score.label": "pass" if passed else "fail",
            "gen_ai.evaluation.score.value": 1.0 if passed else 0.0,
            "agent_loop.isolation": str(fields.get("isolation")),
        }
        if self._prompts:
            facts["gen_ai.evaluation.explanation"] = redact(str(fields.get("reason")))
        self._add("gen_ai.evaluation.result", facts)

    def _moment(self, kind: str, fields: Mapping[str, Json]) -> None:
        facts: dict[str, Any] = _lap(fields)
        if isinstance(answer := fields.get("answer"), str):
            facts["agent_loop.answer"] = answer
        self._add(kind, facts)

    def _fault(self, fields: Mapping[str, Json]) -> None:
        self._failed("fault", str(fields.get("problem")) if self._prompts else "")

    def _run_ended(self, fields: Mapping[str, Json]) -> None:
        self._end("node")
        if self._open:
            self._open[0][1].set_attribute("agent_loop.outcome", str(fields.get("outcome")))
            if fields.get("outcome") == "error":
                self._failed("fault")
        self._end("run")

    # --- the stack

    def _begin(
        self,
        level: str,
        name: str,
        facts: Mapping[str, Any],
        *,
        client: bool = False,
        start: int | None = None,
    ) -> None:
        from opentelemetry import trace  # noqa: PLC0415 - an extra

        around = trace.set_span_in_context(self._open[-1][1]) if self._open else None
        kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
        span = self._tracer.start_span(
            name, context=around, kind=kind, attributes=dict(facts), start_time=start
        )
        self._open.append((level, span))

    def _end(self, level: str, at: int | None = None) -> None:
        """End the span of that level and all inside it; nothing where none is open."""
        if level in (one for one, _ in self._open):
            while True:
                found, span = self._open.pop()
                span.end(at)
                if found == level:
                    return

    def _add(self, name: str, facts: Mapping[str, Any]) -> None:
        if self._open:
            self._open[-1][1].add_event(name, dict(facts))

    def _text(self, name: str, text: str) -> None:
        self._open[-1][1].set_attribute(name, redact(text))

    def _failed(self, kind: str, detail: str = "") -> None:
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415 - an extra

        if self._open:
            span = self._open[-1][1]
            span.set_attribute("error.type", kind)
            span.set_status(Status(StatusCode.ERROR, redact(detail) or None))


def _provider(settings: OtelSettings, exporter: "SpanExporter | None") -> Any:  # noqa: ANN401 - of an extra
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra
    except ImportError:
        raise UserError(_MISSING) from None
    resource = Resource.create({"service.name": AGENT, "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    # Without an address the exporter reads OpenTelemetry's own OTEL_EXPORTER_OTLP_* variables.
    chosen = exporter or OTLPSpanExporter(endpoint=settings.endpoint or None)
    provider.add_span_processor(BatchSpanProcessor(chosen))
    return provider


def _lap(fields: Mapping[str, Json]) -> dict[str, Any]:
    lap = fields.get("lap")
    return {"agent_loop.lap": lap} if isinstance(lap, int) else {}


def _messages(value: Json) -> str:
    """By the conventions: role and parts of each message, as JSON text."""
    given = value if isinstance(value, list | tuple) else []
    return json.dumps(
        [
            {"role": one.get("role"), "parts": [{"type": "text", "content": one.get("content")}]}
            for one in given
            if isinstance(one, Mapping)
        ]
    )
