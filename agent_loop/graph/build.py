"""The graph of DESIGN 3, flat and synchronous; drawn into docs/architecture.md by `draw`."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, cast

from langgraph.graph import END, START, StateGraph

from agent_loop.graph import answers, nodes, routes
from agent_loop.graph.nodes import Run, Timed, Update
from agent_loop.graph.owner import ask_owner
from agent_loop.graph.state import State

Graph = StateGraph[State, None, State, State]


def build(run: Run) -> Graph:
    """The state machine of one run, not compiled."""
    graph: Graph = StateGraph(State)
    add = partial(_add, graph, run)
    add("lead", nodes.lead)
    add("worker", answers.worker)
    add("check", answers.check)
    add("reviewer", nodes.review)
    add("escalate", answers.escalate)
    graph.add_node("ask_owner", ask_owner)
    _add_start(graph, run)
    if run.parts.before_worker:
        step = run.parts.before_worker
        add(step.name, nodes.outside(step))
        graph.add_edge("lead", step.name)
        graph.add_edge(step.name, "worker")
    else:
        graph.add_edge("lead", "worker")
    graph.add_edge("worker", "check")
    graph.add_edge("escalate", "check")
    graph.add_edge("check", "reviewer")
    ways: dict[Hashable, str] = {
        "worker": "worker",
        "escalate": "escalate",
        "ask_owner": "ask_owner",
        "end": END,
    }
    graph.add_conditional_edges("reviewer", routes.after_review, ways)
    graph.add_conditional_edges("ask_owner", routes.after_owner, {"worker": "worker", "end": END})
    return graph


def _add_start(graph: Graph, run: Run) -> None:
    step = run.parts.first
    if step is None:
        graph.add_edge(START, "lead")
        return
    _add(graph, run, step.name, nodes.outside(step))
    graph.add_edge(START, step.name)
    graph.add_conditional_edges(step.name, routes.after_first, {"lead": "lead", "end": END})


def _add(graph: Graph, run: Run, name: str, node: Callable[[State, Run], Update]) -> None:
    graph.add_node(name, cast(Any, Timed(name, node, run)))


def draw(run: Run) -> str:
    """The graph as mermaid text; offline and the same every time."""
    return build(run).compile().get_graph().draw_mermaid()
