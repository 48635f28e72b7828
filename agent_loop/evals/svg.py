"""Matplotlib's SVG made fit to stand in a page with a strict policy, light or dark.

Inline styles become attributes, colours become classes that the page's style sheet gives a value,
and ids are kept only where something refers to them, with the plot's own prefix.
"""

import io
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from agent_loop.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Mapping[str, str] = {
    "#010101": "ink",
    "#020202": "faint",
    "#030303": "grid",
    "#040404": "paper",
    "#0a0101": "one",
    "#0a0202": "two",
    "#0a0303": "three",
    "#0a0404": "four",
    "#0a0505": "five",
}
"""What a plot draws with -> the class it becomes (`f-ink` for fill, `s-ink` for stroke)."""
PEN: Mapping[str, str] = {name: colour for colour, name in COLOURS.items()}
_RC: Mapping[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "agent-loop",
    "text.parse_math": False,
    "font.size": 10.5,
    "font.family": "DejaVu Sans",
    "text.color": PEN["ink"],
    "axes.labelcolor": PEN["ink"],
    "axes.edgecolor": PEN["faint"],
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": PEN["ink"],
    "ytick.color": PEN["ink"],
    "grid.color": PEN["grid"],
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
}
_LOCK = threading.Lock()
"""Matplotlib's settings belong to the process."""
_DROPPED = ("font-family",)
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def draw(width: int, height: int, paint: "Callable[[Figure], None]", *, prefix: str) -> str:
    """The SVG element of a plot.

    Args:
        width: in CSS pixels, at which text has its natural size.
        height: in CSS pixels.
        paint: draws on a matplotlib figure.
        prefix: set before every id, unique within the page.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        import matplotlib  # noqa: PLC0415
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("evals", "matplotlib") from None
    out = io.StringIO()
    with _LOCK, matplotlib.rc_context(dict(_RC)), warnings.catch_warnings():
        # The reader's browser has the letters that the measuring font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width / 72, height / 72), layout="constrained")
        FigureCanvasSVG(figure)
        paint(figure)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(out, format="svg", metadata=nothing, transparent=True)
    return fit(out.getvalue(), prefix=prefix)


def fit(text: str, *, prefix: str) -> str:
    """Matplotlib's SVG file as an element for a page."""
    top = ET.fromstring(text)  # noqa: S314 - matplotlib's own output
    for element in top.iter():
        element.tag = _local(element.tag)
        for name in list(element.attrib):
            element.set(_local(name), element.attrib.pop(name))
        _plain_style(element)
    wanted = _referred(top)
    for element in top.iter():
        _own_ids(element, wanted, prefix)
        for child in [c for c in element if c.tag in ("style", "metadata")]:
            element.remove(child)
    view = top.attrib["viewBox"]
    top.attrib.clear()
    top.attrib.update({"viewBox": view, "class": "plot", "aria-hidden": "true"})
    return ET.tostring(top, encoding="unicode", short_empty_elements=True)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _plain_style(element: ET.Element) -> None:
    """`style="fill: #010101"` -> `class="f-ink"`; what is no colour of ours: an attribute."""
    given = element.attrib.pop("style", "")
    pairs = [part.partition(":") for part in given.split(";") if part.strip()]
    values = {name.strip(): value.strip() for name, _, value in pairs}
    for name in ("fill", "stroke"):
        if name in element.attrib:
            values.setdefault(name, element.attrib.pop(name))
    classes = []
    for name, value in values.items():
        if name in ("fill", "stroke") and value in COLOURS:
            classes.append(f"{name[0]}-{COLOURS[value]}")
        elif name not in _DROPPED:
            element.set(name, value)
    if element.tag == "text" and "fill" not in values:
        classes.append("f-ink")
    if classes:
        element.set("class", " ".join(classes))


def _referred(top: ET.Element) -> set[str]:
    found: set[str] = set()
    for element in top.iter():
        for name, value in element.attrib.items():
            found.update(_REFERENCE.findall(value))
            if name == "href":
                found.add(value.removeprefix("#"))
    return found


def _own_ids(element: ET.Element, wanted: set[str], prefix: str) -> None:
    own = element.attrib.pop("id", None)
    if own in wanted:
        element.set("id", f"{prefix}-{own}")
    for name, value in element.attrib.items():
        if name == "href":
            element.set(name, f"#{prefix}-{value.removeprefix('#')}")
        elif "url(#" in value:
            element.set(name, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
