"""The graph as an SVG picture, drawn here: nothing is fetched and nothing is installed for it.

Nodes stand under one another in the order in which a run first reaches them; an edge to the next
one is a straight line, any other bends around: forward ones on the right, those back on the left.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from agent_loop.graph.build import build
from agent_loop.graph.parts import Step
from agent_loop.graph.studio import demo_run

BOX_W, BOX_H, GAP_Y, LANE_W = 150, 38, 34, 26
_MARGIN = 20
_ORDER = (
    "__start__", "reproduce", "lead", "search", "worker", "check", "reviewer", "escalate",
    "ask_owner", "__end__",
)  # fmt: skip
_WORDS = {"__start__": "start", "__end__": "end", "ask_owner": "you (owner call)"}
_STYLE = """
text { font: 13px sans-serif; text-anchor: middle; fill: #1f2430 }
rect { fill: #eef1fb; stroke: #5b6ab0; rx: 7 }
rect.end { fill: #fff; stroke-dasharray: 3 3 }
path { fill: none; stroke: #4a5160; stroke-width: 1.4 }
path.maybe { stroke-dasharray: 5 4 }
marker path { fill: #4a5160; stroke: none }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """One edge of a graph."""

    source: str
    target: str
    maybe: bool
    """Taken by a routing function, not always."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn, in either form."""

    mermaid: str
    svg: str


def picture(kind: str = "code") -> Picture:
    """The graph of a kind of task: `code`, `project` or `research`."""
    run = demo_run()
    first = Step(name="reproduce", run=_nothing) if kind == "project" else None
    search = Step(name="search", run=_nothing) if kind == "research" else None
    parts = replace(run.parts, first=first, before_worker=search)
    drawn = build(replace(run, parts=parts)).compile().get_graph()
    arrows = [
        Arrow(source=edge.source, target=edge.target, maybe=edge.conditional)
        for edge in drawn.edges
    ]
    return Picture(mermaid=drawn.draw_mermaid(), svg=svg(list(drawn.nodes), arrows))


def svg(names: Sequence[str], arrows: Iterable[Arrow]) -> str:
    """Any such graph as SVG text; the same every time."""
    rows = {name: row for row, name in enumerate(sorted(names, key=_place))}
    edges = sorted(arrows, key=lambda a: (rows[a.source], rows[a.target]))
    lanes = _lanes(rows, edges)
    left, right = (max((n for s, n in lanes.values() if s == side), default=0) for side in (-1, 1))
    x = _MARGIN + left * LANE_W + BOX_W // 2
    width = x + BOX_W // 2 + right * LANE_W + _MARGIN
    height = 2 * _MARGIN + len(rows) * (BOX_H + GAP_Y) - GAP_Y
    body = [_box(name, x, row) for name, row in rows.items()]
    body += [_line(arrow, x, rows, lanes.get((arrow.source, arrow.target))) for arrow in edges]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-label="agent-loop graph">',
            f"<style>{_STYLE}</style>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L10 5L0 10z"/></marker></defs>',
            *body,
            "</svg>\n",
        )
    )


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER) - 1, name)


def _lanes(
    rows: Mapping[str, int], edges: Sequence[Arrow]
) -> dict[tuple[str, str], tuple[int, int]]:
    """Side (-1 left, 1 right) and lane of each edge that is no straight line; short ways inside."""
    lanes: dict[tuple[str, str], tuple[int, int]] = {}
    taken: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for arrow in sorted(edges, key=lambda a: abs(rows[a.target] - rows[a.source])):
        top, low = sorted((rows[arrow.source], rows[arrow.target]))
        if rows[arrow.target] - rows[arrow.source] == 1:
            continue
        side = 1 if rows[arrow.target] > rows[arrow.source] else -1
        lane = 1
        while any(a < low and top < b for a, b in taken.get((side, lane), [])):
            lane += 1
        taken.setdefault((side, lane), []).append((top, low))
        lanes[arrow.source, arrow.target] = (side, lane)
    return lanes


def _box(name: str, x: int, row: int) -> str:
    y = _MARGIN + row * (BOX_H + GAP_Y)
    style = ' class="end"' if name.startswith("__") else ""
    text = escape(_WORDS.get(name, name))
    return (
        f'<rect{style} x="{x - BOX_W // 2}" y="{y}" width="{BOX_W}" height="{BOX_H}"/>'
        f'<text x="{x}" y="{y + BOX_H // 2 + 5}">{text}</text>'
    )


def _line(arrow: Arrow, x: int, rows: Mapping[str, int], lane: tuple[int, int] | None) -> str:
    top, low = (_MARGIN + rows[n] * (BOX_H + GAP_Y) for n in (arrow.source, arrow.target))
    if lane is None:
        way = f"M{x} {top + BOX_H}L{x} {low}"
    else:
        side, number = lane
        edge, out = x + side * BOX_W // 2, x + side * (BOX_W // 2 + number * LANE_W)
        # Leaving low and arriving high, so that arrows of one box do not lie on one another.
        leave, arrive = top + BOX_H * 2 // 3, low + BOX_H // 3
        way = f"M{edge} {leave}C{out} {leave} {out} {leave} {out} {(leave + arrive) // 2}"
        way += f"S{out} {arrive} {edge} {arrive}"
    style = ' class="maybe"' if arrow.maybe else ""
    return f'<path{style} d="{way}" marker-end="url(#tip)"/>'


def _nothing(_: object) -> Mapping[str, str]:
    return {}
