"""How numbers and texts are said in reports: never more digits than the attempts can carry."""

from agent_loop.stats import Interval
from agent_loop.terminal.safe import one_line

UNMEASURED = "not measured"


def rate(interval: Interval | None) -> str:
    """`75 % (53 to 89)`."""
    if interval is None:
        return UNMEASURED
    low, high = (_whole(100 * end) for end in (interval.low, interval.high))
    return f"{_whole(100 * interval.value)} % ({low} to {high})"


def points(interval: Interval | None) -> str:
    """A difference of two rates: `+12 points (-3 to +25)`."""
    if interval is None:
        return UNMEASURED
    value, low, high = (_signed(100 * x) for x in (interval.value, interval.low, interval.high))
    return f"{value} points ({low} to {high})"


def amount(interval: Interval | None, unit: str) -> str:
    """`12.3 s (9.8 to 15.1)`; without a range where there is none."""
    if interval is None:
        return UNMEASURED
    text = f"{number(interval.value)} {unit}".rstrip()
    if interval.low == interval.high:
        return text
    return f"{text} ({number(interval.low)} to {number(interval.high)})"


def change(interval: Interval | None, unit: str) -> str:
    """A difference of two means: `-3.1 s (-5.0 to -1.2)`."""
    if interval is None:
        return UNMEASURED
    value, low, high = (
        ("+" if x > 0 else "") + number(x) for x in (interval.value, interval.low, interval.high)
    )
    return f"{value} {unit} ({low} to {high})"


def p_value(p: float | None) -> str:
    """`p = 0.022`, `p < 0.001`; where nothing differs there is no p value."""
    if p is None:
        return "no discordant pair"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def share(value: float | None) -> str:
    """`46 %`; `under 0.1 %` and `over 99 %` where rounding would say never or always."""
    if value is None:
        return UNMEASURED
    if 0 < value < 0.001:
        return "under 0.1 %"
    if 0.995 <= value < 1:
        return "over 99 %"
    return f"{_whole(100 * value)} %"


def number(value: float | None) -> str:
    """Three digits that matter, thousands with a comma."""
    if value is None:
        return UNMEASURED
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def plain(text: str, limit: int = 120) -> str:
    """Somebody else's text on one line, with nothing in it that acts."""
    return one_line(text, limit)


def _whole(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 0.5 or value == 0 else f"{value:.1f}"


def _signed(value: float) -> str:
    text = _whole(value)
    return text if value <= 0 else f"+{text}"
