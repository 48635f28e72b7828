"""What each run of a candidate proves. Pure: records in, proofs out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_loop.checks.project.command import TREE
from agent_loop.checks.project.frozen import Frozen, expand
from agent_loop.checks.project.records import BAD, TestRun
from agent_loop.checks.project.source.sabotage import Marker
from agent_loop.checks.project.twins.copies import CopiedTest
from agent_loop.ports import LinesRan, Look, Proof

RED_FIRST = "red first"
SAME_TESTS = "same tests"
RED_AGAIN = "red again"
LINES_RAN = "lines ran"
TWINS_FAIL = "twins fail"
RENAMED = "renamed passes"
ALONE = "alone passes"
PATHS = "path rules"
NOTHING_REPLACED = "nothing replaced"
HIDDEN = "hidden tests"
_SHOWN = 5
Reached = frozenset[tuple[str, str, int]] | None
"""(test, path, line) of a traced run; `None` where its code could have hidden lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One proof, and what of it a person should look at."""

    proof: Proof
    look: str = ""


def red_first(frozen: Frozen) -> Proof:
    if frozen.green_start:
        return Proof(name=RED_FIRST, held=True, detail="the task allows a green start")
    by_import = len(frozen.by_import)
    parts = [f"{len(frozen.wanted)} failed"] if frozen.wanted else []
    parts += [f"{by_import} could not be imported"] if by_import else []
    return Proof(name=RED_FIRST, held=bool(parts), detail=", ".join(parts))


def same_tests(frozen: Frozen, run: TestRun, new_files: Sequence[str] = ()) -> Proof:
    """The frozen tests, all of them and no others, each with the outcome it may have.

    Tests of `new_files`, which the owner let the worker add, may run beside them and must not fail.
    """
    cut = run.answer.ending if run.answer.timed_out or run.answer.trouble else ""
    problem = (
        cut or _missing(frozen, run) or _strangers(frozen, run, new_files) or _outcomes(frozen, run)
    )
    problem = problem or _end(run)
    return Proof(name=SAME_TESTS, held=not problem, detail=problem or f"{len(run.outcomes)} ran")


def _end(run: TestRun) -> str:
    if run.problems:
        return f"the records of the run are not whole: {run.problems[0]}"
    if not run.ended:
        return f"the run did not reach its end: {run.answer.ending}"
    return "" if run.clean else run.answer.ending


def _missing(frozen: Frozen, run: TestRun) -> str:
    found = expand(frozen.ids, [*run.outcomes])
    gone = [name for name, ids in found.items() if not ids]
    if not gone:
        return ""
    return f"{len(gone)} of {len(frozen.ids)} tests did not run: {shown(gone)}"


def _strangers(frozen: Frozen, run: TestRun, new_files: Sequence[str]) -> str:
    known = {one for ids in expand(frozen.ids, [*run.outcomes]).values() for one in ids}
    strange = [
        one for one in run.outcomes if one not in known and one.partition("::")[0] not in new_files
    ]
    return f"tests ran that were not asked for: {shown(strange)}" if strange else ""


def _outcomes(frozen: Frozen, run: TestRun) -> str:
    wrong: list[str] = []
    must_pass = set(real_ids(frozen, run))
    for name, outcome in run.outcomes.items():
        strict = name in must_pass or frozen.outcomes.get(name) == "passed"
        if outcome in BAD or (strict and outcome != "passed"):
            wrong.append(f"{name} {outcome}")
    return (
        f"{len(wrong)} of {len(run.outcomes)} tests did not pass: {shown(wrong)}" if wrong else ""
    )


def real_ids(frozen: Frozen, run: TestRun) -> tuple[str, ...]:
    """The wanted ids as they ran, parameter sets included."""
    named = expand(frozen.all_wanted, [*run.outcomes])
    return tuple(dict.fromkeys(one for ids in named.values() for one in ids))


def sabotaged(run: TestRun, wanted: Sequence[str], marker: Marker) -> str:
    """Why this run shows that the wanted tests run the sabotaged code; empty if it does not."""
    if run.uncollected or not run.whole or run.answer.code != 1:
        return ""
    red = [one for one in wanted if run.outcomes.get(one) in BAD]
    for phase in ("call", "setup"):
        hit = [one for one in red if (phase, marker.name) in run.raised.get(one, frozenset())]
        if hit:
            return f"{len(hit)} of {len(wanted)} wanted tests failed in {phase} with it"
    if red and run.answer.marks:
        return f"{len(red)} of {len(wanted)} wanted tests failed after it ran out of sight"
    return ""


def lines_ran(
    run: TestRun, wanted: Sequence[str], lines: Mapping[str, frozenset[int]], *, inside: bool
) -> Judged:
    """At least one changed line was executed, by a wanted test where functions changed."""
    if not lines:
        detail = "nothing was added that could run: lines, functions or files were taken away"
        return Judged(
            proof=Proof(name=LINES_RAN, held=True, detail=detail), look="only deletions or data"
        )
    hits = {
        (test, path.removeprefix(f"{TREE}/"), line)
        for test, path, line in run.lines
        if line in lines.get(path.removeprefix(f"{TREE}/"), frozenset())
    }
    by_tests = {(path, line) for test, path, line in hits if test in set(wanted)}
    if by_tests or (hits and not inside):
        count = len(by_tests) or len(hits)
        detail = f"{count} changed lines ran"
        return Judged(proof=Proof(name=LINES_RAN, held=True, detail=detail))
    if hits:
        detail = "changed lines ran only while the modules were imported"
        return Judged(proof=Proof(name=LINES_RAN, held=True, detail=detail), look=detail)
    detail = f"the wanted tests ran none of the changed lines ({run.answer.ending})"
    return Judged(proof=Proof(name=LINES_RAN, held=False, detail=detail))


def lines_of(run: TestRun, lines: Mapping[str, frozenset[int]]) -> tuple[LinesRan, ...]:
    """Which changed lines of each file ran, in a test or while its module was imported."""
    ran = {(path.removeprefix(f"{TREE}/"), line) for _, path, line in run.lines}
    found = {
        path: tuple(sorted(line for line in changed if (path, line) in ran))
        for path, changed in sorted(lines.items())
    }
    return tuple(LinesRan(path=path, ran=numbers) for path, numbers in found.items() if numbers)


def nothing_replaced(frozen: Frozen, runs: Sequence[TestRun]) -> Proof:
    """No function of Python or pytest is another one after a wanted test, in any of `runs`.

    The only proof that sees a patched `random` or `time` with which the test computes its own
    expected value: such a test fails with an altered value, and passes under another name.
    """
    fresh = replaced(frozen, runs)
    detail = f"replaced while the tests ran: {shown(fresh)}" if fresh else "none"
    return Proof(
        name=NOTHING_REPLACED, held=not fresh and all(run.ended for run in runs), detail=detail
    )


def replaced(frozen: Frozen, runs: Sequence[TestRun]) -> list[str]:
    """What the untouched project does not replace itself."""
    return sorted({name for run in runs for name in run.replaced} - set(frozen.replaced))


def looked_in(frozen: Frozen, runs: Sequence[TestRun]) -> Look | None:
    """Code that looked into the tests as they ran, and did not before the patch."""
    fresh = sorted({name for run in runs for name in run.looked} - set(frozen.looked))
    return Look(signal="the code looks into its tests", detail=shown(fresh)) if fresh else None


def reached(frozen: Frozen, run: TestRun) -> Reached:
    """The lines of a traced run, unless the code got at frames or at the trace itself."""
    return None if looked_in(frozen, [run]) else run.lines


@dataclass(frozen=True, slots=True, kw_only=True)
class MustFail:
    """One run whose tests must all fail."""

    run: TestRun
    tests: Sequence[CopiedTest]
    path_of_lines: str = ""


def twins_fail(
    parts: Sequence[MustFail],
    wanted: Sequence[str],
    ran: Reached,
    without: Sequence[str],
) -> Judged:
    """Every altered check that runs must turn its test red, and every wanted test has one."""
    failed = 0
    idle: dict[str, set[bool]] = {}
    for part in parts:
        survivor = _survivor(part, ran)
        if survivor:
            return _twin(False, survivor)
        for test in part.tests:
            bad = part.run.outcomes.get(test.run) in BAD
            failed += bad
            idle.setdefault(test.run.partition("[")[0], set()).add(bad)
    bare = not_turned(parts, wanted)
    if bare:
        why = "no twin can be made of" if set(bare) & set(without) else "no altered check ran in"
        return _twin(False, f"{why} {shown(bare)}")
    never = [name for name, outcomes in idle.items() if outcomes == {False}]
    look = f"{len(never)} checks of the wanted tests never ran" if never else ""
    return _twin(True, f"{failed} altered copies failed", look)


def not_turned(parts: Sequence[MustFail], wanted: Sequence[str]) -> list[str]:
    """Wanted tests that no altered check has turned red."""
    red = {
        test.original
        for part in parts
        for test in part.tests
        if part.run.outcomes.get(test.run) in BAD
    }
    return [one for one in wanted if one not in red]


def _survivor(part: MustFail, ran: Reached) -> str:
    """What in one run did not fail although it had to; empty if nothing."""
    if not part.run.whole:
        return f"their run ended otherwise: {_ending(part.run)}"
    for test in part.tests:
        outcome = part.run.outcomes.get(test.run)
        if outcome not in BAD and (outcome is None or not _idle(test, ran)):
            said = outcome or "did not run"
            return f"a copy of {test.original} with an altered check {said}"
    red = any(outcome in BAD for outcome in part.run.outcomes.values())
    if part.run.answer.code != (1 if red else 0):
        return f"their run ended otherwise: {_ending(part.run)}"
    return ""


def _ending(run: TestRun) -> str:
    if run.problems:
        return run.problems[0]
    return run.answer.ending


def _idle(test: CopiedTest, ran: Reached) -> bool:
    """Its altered check is on a line that the unaltered test never reached."""
    if ran is None:
        return False
    path = f"{TREE}/{test.original.partition('::')[0]}"
    return bool(test.lines) and not any((test.original, path, line) in ran for line in test.lines)


def _twin(held: bool, detail: str, look: str = "") -> Judged:
    return Judged(proof=Proof(name=TWINS_FAIL, held=held, detail=detail), look=look)


def renamed_passes(
    run: TestRun,
    tests: Sequence[CopiedTest],
    name: str = RENAMED,
    how: str = "under other names",
) -> Proof:
    wrong = [
        f"{test.original} {run.outcomes.get(test.run, 'did not run')}"
        for test in tests
        if run.outcomes.get(test.run) != "passed"
    ]
    if wrong:
        detail = f"{how}: {shown(wrong)}"
        return Proof(name=name, held=False, detail=detail)
    problem = _end(run)
    return Proof(name=name, held=not problem, detail=problem or f"{len(tests)} passed")


def alone_passes(run: TestRun, wanted: Sequence[str]) -> Proof:
    """The wanted tests in a run that nothing tells from those of the twins that lie in place.

    The full run could be told by its ids, the traced one by its trace: code that cheats only there
    is honest wherever a twin runs.
    """
    return renamed_passes(run, [itself(one) for one in wanted], ALONE, "alone, as their twins run")


def shown(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(one[:200] for one in names[:_SHOWN]) + (
        f" and {more} more" if more > 0 else ""
    )


def itself(name: str) -> CopiedTest:
    """A test that runs under its own id because its helpers were altered."""
    return CopiedTest(original=name, run=name, lines=frozenset())


def hidden_pass(
    run: TestRun, names: Mapping[str, Sequence[str]], replaced: Sequence[str] = ()
) -> Proof:
    """Every test of the hidden files ran and passed. Names stay out of the detail."""
    wanted = [one for ids in names.values() for one in ids]
    missing = [name for name, ids in expand(wanted, [*run.outcomes]).items() if not ids]
    bad = [one for one, outcome in run.outcomes.items() if outcome in BAD]
    if run.uncollected:
        problem = "they cannot be imported"
    elif missing:
        problem = f"{len(missing)} of {len(wanted)} did not run"
    elif bad:
        problem = f"{len(bad)} of {len(run.outcomes)} failed"
    elif "passed" not in run.outcomes.values():
        problem = "none passed"
    elif replaced:
        problem = "functions of Python or pytest were replaced while they ran"
    else:
        problem = _end(run)
    return Proof(name=HIDDEN, held=not problem, detail=problem or f"{len(run.outcomes)} ran")


def hidden_twins(proof: Proof, parts: Sequence[MustFail], ran: Reached) -> Proof:
    """`proof`, unless a hidden test passes with an altered check that it reaches."""
    if not any(_survivor(part, ran) for part in parts):
        return proof
    detail = "copies with an altered check do not fail"
    return Proof(name=HIDDEN, held=False, detail=detail)
