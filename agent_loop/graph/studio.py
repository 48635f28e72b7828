"""The graph for LangGraph Studio: drawn and clicked through with parts that ask no model.

`langgraph.json` names `make_graph`. It is compiled without a checkpointer: the server has its own.
"""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START

from agent_loop.graph.build import build
from agent_loop.graph.nodes import Run
from agent_loop.graph.parts import Control, Limits, Parts
from agent_loop.graph.state import State, fresh
from agent_loop.ports import (
    Cancel,
    Candidate,
    Fingerprint,
    Json,
    Message,
    OwnerCall,
    OwnerReply,
    Reply,
    SystemClock,
    ToolSpec,
    Usage,
    Verdict,
)
from agent_loop.prompts import Brief, load


class SameReply:
    """A Model that always says the same."""

    native_tools = False

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text

    def preflight(self) -> None:
        """Always there."""

    def ask(
        self,
        messages: Sequence[Message],
        *,
        on_text: Callable[[str], None] | None = None,
        cancel: Cancel | None = None,
        tools: Sequence[ToolSpec] = (),
    ) -> Reply:
        return Reply(text=self._text, usage=Usage(calls=1), answered=self.name)

    def fingerprint(self) -> Fingerprint:
        return Fingerprint(name=self.name, answered=self.name)

    def close(self) -> None:
        """Nothing is held."""


class NothingHolds:
    """A Check that judges nothing, so nothing passes: Studio is for looking."""

    def parse(self, reply: Reply) -> Candidate:
        return Candidate(answer=reply.text, digest=hashlib.sha256(reply.text.encode()).hexdigest())

    def judge(self, candidate: Candidate) -> Verdict:
        return Verdict(passed=False, isolation="none", reason="nothing is judged in Studio")

    def prepare(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing is held."""


class Nobody:
    """An owner who is not there, and an audience that does not listen."""

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        return None

    def emit(self, kind: str, fields: dict[str, Json] | Any) -> None:  # noqa: ANN401 - dropped unread
        """Nobody listens."""


def demo_run() -> Run:
    """A run whose parts are all stand-ins."""
    nobody = Nobody()
    parts = Parts(
        models={
            "lead": SameReply("studio:lead", "1. Write it."),
            "worker": SameReply("studio:worker", "```python\npass\n```"),
            "reviewer": SameReply("studio:reviewer", "REJECTED: nothing was judged."),
            "escalation": SameReply("studio:escalation", "```python\nreturn\n```"),
        },
        check=NothingHolds(),
        owner=nobody,
        clock=SystemClock(),
    )
    return Run(
        brief=Brief(kind="code", task="Write f()."),
        prompts=load("code"),
        parts=parts,
        events=nobody,
        control=Control(),
        limits=Limits(),
    )


def make_graph(config: RunnableConfig) -> Any:  # noqa: ANN401 - langgraph's compiled type has four parameters
    """What `langgraph dev` opens. Its input may be empty: `begin` fills the state."""
    graph = build(demo_run())
    graph.edges.discard((START, "lead"))
    graph.add_node("begin", begin)
    graph.add_edge(START, "begin")
    graph.add_edge("begin", "lead")
    return graph.compile()


def begin(state: State) -> dict[str, Any]:
    """Fields that nobody gave get their first value."""
    return {**fresh(rejection_cap=3, can_escalate=True), **state}
