"""Which files matter for a task: what is named, what its tests import, whose words it shares.

Two passes, so that ten thousand files take seconds: every file is scored by its words; the best few
hundred, and every file that is named, are parsed, and relevance flows along their references as in
PageRank. Scores are rounded and ties go by path: equal inputs give equal orders.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent_loop.context.mentions import Paths, files_named, imported, lines_named, names_of_tests
from agent_loop.context.sources import Cache, content_key, parts_of, words_in
from agent_loop.context.symbols import Symbols

_NAME = re.compile(r"[A-Za-z_]\w{1,60}")
_CODE = re.compile(r"`(\w{1,60})(?:\(\))?`|\b([A-Za-z_]\w{1,60})\(")
MAX_TASK_CHARS = 20_000
MAX_EVIDENCE_CHARS = 40_000
MAX_IDS = 300
MAX_ID_CHARS = 300
PARSED_FILES = 300
_ROUNDS = 12
_TEST = 0.5
"""A test shares all words with its subject; unless it fails, the subject comes first."""
_FLOW = 0.35
"""Share of a file's relevance that comes from the files that refer to it."""
_COMMON = 0.2
"""A name defined in more than this share of the parsed files says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the context is for."""

    task: str
    failing: Sequence[str] = ()
    """Ids of failing tests."""
    evidence: str = ""
    """Test output with tracebacks."""

    def clipped(self) -> "Question":
        """The same, no longer than anybody needs: output may be megabytes."""
        return Question(
            task=self.task[:MAX_TASK_CHARS],
            failing=tuple(node[:MAX_ID_CHARS] for node in self.failing[:MAX_IDS]),
            evidence=self.evidence[-MAX_EVIDENCE_CHARS:],
        )


@dataclass(slots=True)
class Ranked:
    """Files by relevance, best first."""

    order: list[str] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)
    symbols: dict[str, Symbols] = field(default_factory=dict)
    """Of the files that were parsed."""
    lines: dict[str, list[int]] = field(default_factory=dict)
    """Lines that tracebacks name."""
    wanted: set[str] = field(default_factory=set)
    """Names in the task or the evidence that some file defines."""


def rank(files: Mapping[str, bytes], question: Question, cache: Cache) -> Ranked:
    """Order the files of a project by what they matter for the question."""
    question = question.clipped()
    paths = Paths(files)
    named = _named(files, question, paths)
    first = _by_words(files, question, cache)
    top = sorted(files, key=lambda path: (-named.get(path, 0.0), -first[path], path))
    chosen = top[: max(PARSED_FILES, sum(1 for path in top if named.get(path)))]
    symbols = {path: cache.symbols_of(path, files[path]) for path in chosen}
    wanted = _wanted_names(symbols, question)
    seed = {
        path: named.get(path, 0.0)
        + (first[path] + 2.0 * _defines(symbols[path], wanted)) * (_TEST if is_test(path) else 1.0)
        for path in chosen
    }
    scores = _flow(symbols, seed)
    ranked = Ranked(symbols=symbols, wanted=wanted)
    ranked.lines = lines_named(question.evidence, paths)
    ranked.scores = {path: round(scores.get(path, 0.0), 6) for path in files}
    ranked.order = sorted(files, key=lambda path: (-ranked.scores[path], -first[path], path))
    return ranked


def _named(files: Mapping[str, bytes], question: Question, paths: Paths) -> dict[str, float]:
    """Points for files that somebody names."""
    points: dict[str, float] = dict.fromkeys(files_named(question.task, paths), 10.0)
    tests = {path for node in question.failing if (path := paths.find(node.split("::")[0]))}
    for test in tests:
        for path in (test, *imported(test, files[test], files)):
            points[path] = points.get(path, 0.0) + 6.0
    for path in lines_named(question.evidence, paths):
        points[path] = points.get(path, 0.0) + 4.0
    return points


def _by_words(files: Mapping[str, bytes], question: Question, cache: Cache) -> dict[str, float]:
    """Words of the question in a file, rare ones counting more; at most about 5 points."""
    asked = words_in(question.task)
    for word, count in words_in(question.evidence).items():
        asked[word] += min(count, 2)
    per_file = {path: _parts(path, files[path], cache) for path in files}
    spread: Counter[str] = Counter()
    for parts in per_file.values():
        spread.update(asked.keys() & parts.keys())
    total = max(len(files), 1)
    scores: dict[str, float] = {}
    for path, parts in per_file.items():
        shared = asked.keys() & parts.keys()
        raw = sum(
            math.log(1 + total / spread[word]) * min(asked[word], 3) * _damped(parts[word])
            for word in sorted(shared)
        )
        scores[path] = round(5.0 * raw / (raw + 20.0), 6)
    return scores


def _damped(count: int) -> float:
    return count / (count + 1.5)


def _parts(path: str, data: bytes, cache: Cache) -> Mapping[str, int]:
    words = dict(cache.words_of(content_key(path, data), data))
    for word in words_in(path.replace("/", " ").replace(".", " ")):
        words[word] = words.get(word, 0) + 3
    return words


def _wanted_names(symbols: Mapping[str, Symbols], question: Question) -> set[str]:
    """Defined names that the question speaks of, as a name or by all its words.

    `thread_name` is meant by "the name of a thread"; a plain word like `read` only where few files
    use it or the task writes it as code.
    """
    text = question.task + "\n" + question.evidence
    raw = set(_NAME.findall(text))
    as_code = {name for pair in _CODE.findall(question.task) for name in pair if name}
    asked = words_in(question.task)
    tests = names_of_tests(question.failing)
    users = Counter(name for found in symbols.values() for name in found.references)
    rare = max(3, len(symbols) // 20)
    wanted: set[str] = set()
    for name in {one.name for found in symbols.values() for one in found.definitions}:
        parts = parts_of(name) - {name.lower()}
        telling = "_" in name.strip("_") or not name.islower() or users[name] <= rare
        if (
            name in tests
            or name in as_code
            or (name in raw and telling and len(name) > 2)
            or (len(parts) > 1 and all(part in asked for part in parts))
        ):
            wanted.add(name)
    return wanted


def is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return "tests" in path.split("/")[:-1] or name.startswith("test_") or ".test." in name


def _defines(found: Symbols, wanted: set[str]) -> float:
    hits = {one.name for one in found.definitions} & wanted
    return min(len(hits), 4)


def _flow(symbols: Mapping[str, Symbols], seed: Mapping[str, float]) -> dict[str, float]:
    """Personalised PageRank: who refers to a name passes relevance to the file that defines it."""
    homes: dict[str, list[str]] = {}
    for path in sorted(symbols):
        for name in {one.name for one in symbols[path].definitions}:
            homes.setdefault(name, []).append(path)
    limit = max(3, int(len(symbols) * _COMMON))
    users = Counter(name for found in symbols.values() for name in found.references)
    worth = {
        name: math.log(1 + len(symbols) / users[name]) / len(places)
        for name, places in homes.items()
        if len(places) <= limit and users[name] and not name.startswith("__")
    }
    edges = {path: _edges(path, symbols[path], homes, worth) for path in symbols}
    total = sum(seed.values()) or 1.0
    start = {path: seed[path] / total for path in symbols}
    score = dict(start)
    for _ in range(_ROUNDS):
        passed = dict.fromkeys(symbols, 0.0)
        for path in sorted(symbols):
            for other, share in edges[path].items():
                passed[other] += score[path] * share
        score = {path: (1 - _FLOW) * start[path] + _FLOW * passed[path] for path in symbols}
    return score


def _edges(
    path: str, found: Symbols, homes: Mapping[str, list[str]], worth: Mapping[str, float]
) -> dict[str, float]:
    """Where a file's relevance goes: to the homes of the rare names it uses."""
    weights: dict[str, float] = {}
    for name in sorted(found.references.keys() & worth.keys()):
        if path in homes[name]:
            continue
        weight = math.sqrt(found.references[name]) * worth[name]
        for home in homes[name]:
            weights[home] = weights.get(home, 0.0) + weight
    total = sum(weights.values())
    return {home: weight / total for home, weight in weights.items()} if total else {}
