"""The context of a project prompt: a map of definitions, the bodies that matter, what is left out.

Same files and question, same text: prompts stay append-only from lap to lap when this text is
made once, and `bodies_of` shows later what has changed.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from agent_loop.context.ranking import Question, Ranked, rank
from agent_loop.context.sources import Cache, Skipped, sort_out
from agent_loop.context.symbols import Symbol

MAP_SHARE = 0.3
_ACCOUNT = 1200
"""What the account of files left out may take, where the budget is not tiny."""
_MAX_SYMBOLS = 60
_AROUND = 12
_WORTH = 0.01
"""A file below this share of the best score only distracts a small model."""
_SMALL_PROJECT = 12
_NAMED_WITHOUT_BODY = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A file whose text is shown."""

    path: str
    lines: str
    """`whole`, or the ranges shown: `1-20, 44-80 of 900`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The text for the prompt, and the account of it for the trace."""

    text: str
    measured: int
    """Size of the text in the unit of the budget."""
    mapped: tuple[str, ...]
    """Files in the map."""
    bodies: tuple[Body, ...]
    left_out: tuple[str, ...]
    """What is not shown, one line each, as the text says it."""


@dataclass(slots=True)
class _Page:
    """Text that grows up to a budget."""

    budget: int
    measure: Callable[[str], int]
    parts: list[str] = field(default_factory=list)
    used: int = 0

    def add(self, text: str, *, within: int | None = None) -> bool:
        size = self.measure(text)
        if self.used + size > (self.budget if within is None else within):
            return False
        self.parts.append(text)
        self.used += size
        return True

    @property
    def left(self) -> int:
        return self.budget - self.used


def show(
    files: Mapping[str, bytes],
    question: Question,
    *,
    budget: int,
    measure: Callable[[str], int] = len,
    read_only: Collection[str] = (),
    cache: Cache | None = None,
) -> Shown:
    """Write the context of a project for one question.

    Args:
        files: the project by relative path; a lazy mapping is read once.
        question: task, failing tests, test output.
        budget: the most the text may measure.
        measure: what the budget counts; characters unless a tokenizer is given.
        read_only: paths marked as not to be edited (tests, configuration).
        cache: kept by the caller for a run, so that unchanged files are read once.
    """
    kept, skipped = sort_out(files)
    ranked = rank(kept, question, cache or Cache())
    # The account of what is left out comes last and must always fit.
    page = _Page(budget - min(_ACCOUNT, budget // 5), measure)
    mapped = _map(page, ranked, kept, read_only)
    bodies = _bodies(page, ranked, kept, read_only)
    left_out = _left_out(ranked, mapped, bodies, skipped)
    page.budget = budget
    page.add("\n## Not shown\n")
    for line in left_out:
        page.add(f"- {line}\n")
    text = "".join(page.parts)
    return Shown(
        text=text,
        measured=measure(text),
        mapped=tuple(mapped),
        bodies=tuple(bodies),
        left_out=tuple(left_out),
    )


# --- map ----------------------------------------------------------------------------------------


def _map(
    page: _Page, ranked: Ranked, files: Mapping[str, bytes], read_only: Collection[str]
) -> list[str]:
    page.add("## Map of the project (most relevant first; line, definition)\n")
    within = int(page.budget * MAP_SHARE)
    mapped: list[str] = []
    for path in ranked.order:
        entry = _map_entry(path, ranked, files, read_only)
        if not page.add(entry, within=within):
            short = f"{path}{_mark(path, read_only)}\n"
            if not page.add(short, within=within):
                break
        mapped.append(path)
    return mapped


def _map_entry(
    path: str, ranked: Ranked, files: Mapping[str, bytes], read_only: Collection[str]
) -> str:
    found = ranked.symbols.get(path)
    lines = files[path].count(b"\n")
    head = f"{path}{_mark(path, read_only)}"
    if found is None or not found.definitions:
        return f"{head} ({lines} lines)\n"
    shown = _chosen(found.definitions, ranked.wanted)
    rows = [f"{one.line:>6} {'  ' * one.depth}{one.signature}\n" for one in shown]
    more = len(found.definitions) - len(shown)
    if more:
        rows.append(f"       … {more} more\n")
    return f"{head}\n" + "".join(rows)


def _chosen(symbols: tuple[Symbol, ...], wanted: set[str]) -> list[Symbol]:
    """All, or the ones asked about and the outermost ones, in order of lines."""
    if len(symbols) <= _MAX_SYMBOLS:
        return list(symbols)
    best = sorted(symbols, key=lambda one: (one.name not in wanted, one.depth, one.line))
    return sorted(best[:_MAX_SYMBOLS], key=lambda one: (one.line, one.name))


def _mark(path: str, read_only: Collection[str]) -> str:
    return " (read only)" if path in read_only else ""


# --- bodies -------------------------------------------------------------------------------------


def _bodies(
    page: _Page, ranked: Ranked, files: Mapping[str, bytes], read_only: Collection[str]
) -> list[Body]:
    page.add("\n## Files\n")
    shown: list[Body] = []
    misses = 0
    best = ranked.scores[ranked.order[0]] if ranked.order else 0.0
    for number, path in enumerate(ranked.order):
        worthless = number >= _SMALL_PROJECT and ranked.scores[path] < best * _WORTH
        if misses > 20 or page.left < 80 or worthless:
            break
        if page.add(whole(path, files[path], note=_mark(path, read_only))):
            shown.append(Body(path=path, lines="whole"))
            continue
        excerpt = _excerpt(path, files[path], ranked, page, read_only)
        if excerpt is None:
            misses += 1
        else:
            shown.append(excerpt)
    return shown


def whole(path: str, data: bytes, *, note: str = "") -> str:
    """A file under its path in a fence that its text cannot close."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return f"{path}{note}\n{_fenced(text, path)}"


def _fenced(text: str, path: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    suffix = path.rpartition(".")[2]
    language = {"py": "python", "js": "javascript", "mjs": "javascript"}.get(suffix, "")
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{language}\n{text}{end}{fence}\n"


def _excerpt(
    path: str, data: bytes, ranked: Ranked, page: _Page, read_only: Collection[str]
) -> Body | None:
    """The definitions asked about and the lines of tracebacks, as many as fit."""
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    ranges: list[tuple[int, int]] = []
    for wish in _wishes(path, ranked, len(lines)):
        more = _merged([*ranges, wish])
        if page.measure(_pieces(path, lines, more, read_only)) > page.left:
            continue
        ranges = more
    if not ranges or not page.add(_pieces(path, lines, ranges, read_only)):
        return None
    told = ", ".join(f"{first}-{last}" for first, last in ranges)
    return Body(path=path, lines=f"{told} of {len(lines)}")


def _wishes(path: str, ranked: Ranked, count: int) -> list[tuple[int, int]]:
    """Line ranges in order of worth, at most 40."""
    found = ranked.symbols.get(path)
    wishes = [
        (max(1, line - _AROUND), min(count, line + _AROUND)) for line in ranked.lines.get(path, ())
    ]
    if found is not None:
        asked = [one for one in found.definitions if one.name in ranked.wanted]
        wishes += [(one.line, min(one.last_line, one.line + 120)) for one in asked]
    return wishes[:40]


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 3:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _pieces(
    path: str, lines: list[str], ranges: list[tuple[int, int]], read_only: Collection[str]
) -> str:
    told = ", ".join(f"{first}-{last}" for first, last in ranges)
    head = f"{path}{_mark(path, read_only)} (only lines {told} of {len(lines)})\n"
    return head + "".join(
        _fenced("\n".join(lines[first - 1 : last]) + "\n", path) for first, last in ranges
    )


# --- the account --------------------------------------------------------------------------------


def _left_out(
    ranked: Ranked, mapped: list[str], bodies: list[Body], skipped: tuple[Skipped, ...]
) -> list[str]:
    full = {one.path for one in bodies if one.lines == "whole"}
    part = [f"{one.path} (lines {one.lines})" for one in bodies if one.lines != "whole"]
    in_map = set(mapped)
    only_mapped = [path for path in ranked.order if path in in_map and path not in full]
    only_mapped = [path for path in only_mapped if path not in {one.path for one in bodies}]
    neither = [path for path in ranked.order if path not in in_map and path not in full]
    told: list[str] = []
    if part:
        told.append(f"in part: {'; '.join(part)[:300]}")
    if only_mapped:
        told.append(f"{_count(only_mapped)} in the map only: {_some(only_mapped)}")
    if neither:
        told.append(f"{_count(neither)} neither in the map nor below: {_some(neither)}")
    told += [
        f"{one.count} skipped as {one.reason}: {_some(one.examples, total=one.count)}"
        for one in skipped
    ]
    return told or ["nothing: every file is above"]


def _count(paths: list[str]) -> str:
    return f"{len(paths)} file{'s' if len(paths) != 1 else ''}"


def _some(paths: Iterable[str], *, total: int | None = None) -> str:
    names = list(paths)
    shown: list[str] = []
    for name in names[:_NAMED_WITHOUT_BODY]:
        if sum(map(len, shown)) > 120:
            break
        shown.append(name[:120])
    more = (total if total is not None else len(names)) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
