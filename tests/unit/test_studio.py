"""The picture in the documentation and the door for LangGraph Studio."""

import json
from pathlib import Path

from agent_loop.graph.build import draw
from agent_loop.graph.parts import Step
from agent_loop.graph.studio import demo_run, make_graph

ROOT = Path(__file__).resolve().parents[2]


def test_the_picture_in_the_documentation_is_the_graph():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.split("```mermaid\n")[1].split("```")[0]
    assert picture.strip() == draw(demo_run()).strip(), "paste the output of build.draw() there"


def test_steps_of_other_kinds_find_their_places():
    from dataclasses import replace

    run = demo_run()
    step = Step(name="reproduce", run=lambda state: {})
    search = Step(name="search", run=lambda state: {})
    parts = replace(run.parts, first=step, before_worker=search)
    picture = draw(replace(run, parts=parts))
    for edge in (
        "__start__ --> reproduce",
        "reproduce -.-> lead",
        "lead --> search",
        "search --> worker",
    ):
        assert edge in picture


def test_studio_opens_the_graph_without_a_checkpointer():
    named = json.loads((ROOT / "langgraph.json").read_text())["graphs"]["agent_loop"]
    path, function = named.split(":")
    assert (ROOT / path).is_file()
    assert function == make_graph.__name__
    graph = make_graph({})
    assert graph.checkpointer is None
    asked = graph.invoke({"rejection_cap": 1})
    assert "__interrupt__" in asked
