"""The nodes that make answers and have them judged: one answer a lap, or several of which one is
taken.
"""

import re
from collections.abc import Sequence
from typing import cast

from agent_loop.errors import ReplyError
from agent_loop.graph.nodes import (
    Run,
    Update,
    ask,
    brief_of,
    costs,
    head_of,
    left,
    refuse_endless,
    refuse_huge,
    told_lap,
)
from agent_loop.graph.parts import Work
from agent_loop.graph.state import MAX_WHOLE_CHARS, DraftState, SampleState, SeenState, State
from agent_loop.graph.verdicts import fields_of, saved, tidy, verdict_of
from agent_loop.ports import Candidate, Json, Message, Reply, Role, Usage
from agent_loop.prompts import bounded, cleaned

_COUNT = re.compile(r"(\d+) of \d+")


# --- worker and escalation ----------------------------------------------------------------------


def worker(state: State, run: Run) -> Update:
    """Answer the plan, or mend the answer."""
    return _answer(state, run, role="worker", node="worker", samples=run.samples)


def escalate(state: State, run: Run) -> Update:
    """One attempt by the stronger model, with the same prompt."""
    answer = _answer(state, run, role="escalation", node="escalate", samples=1)
    return {**answer, "escalated": True}


def _answer(state: State, run: Run, *, role: Role, node: str, samples: int) -> Update:
    run.parts.check.prepare()
    laps = [told_lap(lap) for lap in state["laps"]]
    fill = run.prompts.episode if run.parts.episode else run.prompts.worker
    messages = fill(brief_of(state, run), state["plan"], laps)
    update: Update = {}
    drafts: list[DraftState] = []
    for n in range(1, samples + 1):
        now = cast(State, {**state, **update})
        sample = n if samples > 1 else 0
        draft, spent = _draft(now, run, role=role, node=node, messages=messages, sample=sample)
        drafts.append(draft)
        update |= spent
    first = drafts[0]
    return {
        **update,
        "lap": state["lap"] + 1,
        "by": "escalation" if role == "escalation" else "worker",
        "reply": first["reply"], "finish": first["finish"], "answered_by": first["answered_by"],
        "drafts": drafts if samples > 1 else [],
        "problem": "", "repeat_of": 0, "review": "", "opinion": "",
    }  # fmt: skip


def _draft(
    state: State, run: Run, *, role: Role, node: str, messages: Sequence[Message], sample: int
) -> tuple[DraftState, Update]:
    """One answer: a reply, or the patch of an episode."""
    if run.parts.episode is None:
        reply, update = ask(state, run, role=role, node=node, messages=messages, sample=sample)
        text, finish, answered, usage = reply.text, reply.finish, reply.answered, reply.usage
    else:
        work = Work(
            model=run.parts.models[role], role=role, messages=tuple(messages),
            head=head_of(state, role, node, sample), events=run.events,
            cancel=run.control.cancelled, left=left(state, run.limits),
        )  # fmt: skip
        worked = run.parts.episode(work)
        update = costs(state, worked, role=role, node=node)
        text, finish, answered, usage = cleaned(worked.text), "stop", worked.answered, worked.usage
    draft = DraftState(
        reply=text[:MAX_WHOLE_CHARS],
        finish="length" if len(text) > MAX_WHOLE_CHARS or finish == "length" else "stop",
        answered_by=answered,
        tokens=usage.input_tokens + usage.output_tokens,
    )
    return draft, update


# --- check --------------------------------------------------------------------------------------


def check(state: State, run: Run) -> Update:
    """Judge the answer; of several, judge all and take the first that passes, else the best."""
    drafts = state["drafts"]
    if not drafts:
        return _checked(state, run, sample=0)
    now, updates = state, list[Update]()
    for n, draft in enumerate(drafts, start=1):
        said = {key: draft[key] for key in ("reply", "finish", "answered_by")}
        update = {**said, **_checked(cast(State, {**now, **said}), run, sample=n)}
        updates.append(update)
        kept = ("seen", "format_failures", "saved_checks", "saved_tokens")
        now = cast(State, {**now, **{key: update[key] for key in kept if key in update}})
    scores = [_score(update) for update in updates]
    taken = scores.index(max(scores))
    run.events.emit("sample_taken", {"lap": state["lap"], "sample": taken + 1, "of": len(drafts)})
    counts = {key: now[key] for key in ("seen", "format_failures", "saved_checks", "saved_tokens")}
    samples = [
        _sample(state["lap"], n, draft, update, taken=n == taken + 1)
        for n, (draft, update) in enumerate(zip(drafts, updates, strict=True), start=1)
    ]
    return {
        **updates[taken], **counts, "drafts": [], "samples": [*state["samples"], *samples]
    }  # fmt: skip


def _score(update: Update) -> tuple[bool, int, int]:
    """How good an answer is: (passed, tests or asserts that held, proofs that held)."""
    if update.get("problem"):
        # The same as before was rejected before, even where it passes the check.
        return (False, -1, 0 if update.get("repeat_of") else -1)
    verdict = verdict_of(cast(State, update))
    if verdict is None:
        return (False, -1, -1)
    count = _COUNT.search(verdict.reason)
    held = int(count[1][:9]) if count else 0
    return (verdict.passed, held, sum(proof.held for proof in verdict.proofs))


def _sample(lap: int, n: int, draft: DraftState, update: Update, *, taken: bool) -> SampleState:
    judged = update.get("verdict") and (not update.get("problem") or update.get("repeat_of"))
    verdict = verdict_of(cast(State, update)) if judged else None
    return SampleState(
        lap=lap,
        n=n,
        passed=bool(verdict and verdict.passed),
        taken=taken,
        reason=bounded(verdict.reason if verdict else str(update.get("problem") or ""), 300),
        format_failure=verdict is None,
        digest=str(update.get("digest") or "") if verdict else "",
        tokens=draft["tokens"],
    )


def _checked(state: State, run: Run, *, sample: int) -> Update:
    """Judge one answer, unless it cannot be read or has been judged before."""
    head: dict[str, Json] = {"lap": state["lap"], **({"sample": sample} if sample else {})}
    reply = Reply(
        text=state["reply"], finish=state["finish"], usage=Usage(), answered=state["answered_by"]
    )
    try:
        refuse_endless(reply.text)
        candidate = run.parts.check.parse(reply)
        refuse_huge(candidate.answer)
    except ReplyError as error:
        problem = bounded(cleaned(str(error)))
        run.events.emit("candidate_refused", {**head, "problem": problem})
        return {"problem": problem, "format_failures": state["format_failures"] + 1}
    run.events.emit("candidate", {**head, **_candidate(candidate)})
    known = {seen["digest"]: seen for seen in state["seen"]}.get(candidate.digest)
    if known is None:
        return _judged(state, run, candidate, head)
    update = _repeated(state, candidate, known)
    told = {**head, "repeat_of": known["lap"], "problem": update["problem"]}
    run.events.emit("repeated", told)
    # The same as another answer of this lap is no going round in circles.
    return update if known["lap"] != state["lap"] else {**update, "repeats": state["repeats"]}


def _judged(state: State, run: Run, candidate: Candidate, head: dict[str, Json]) -> Update:
    verdict = tidy(run.parts.check.judge(candidate))
    run.events.emit("verdict", {**head, **fields_of(verdict)})
    kept = saved(verdict)
    seen = SeenState(**kept, digest=candidate.digest, lap=state["lap"], review_tokens=0)
    return {
        "answer": cleaned(candidate.answer),
        "digest": candidate.digest,
        **kept,
        "seen": [*state["seen"], seen],
    }


def _repeated(state: State, candidate: Candidate, known: SeenState) -> Update:
    verdict = verdict_of(known)
    said = "passed the check but was rejected" if verdict and verdict.passed else "did not pass"
    return {
        "answer": cleaned(candidate.answer),
        "digest": candidate.digest,
        "verdict": known["verdict"],
        "feedback": known["feedback"],
        "output": known["output"],
        "problem": f"It is the same as your answer in lap {known['lap']}, which {said}. "
        "Comments and layout do not count. It was not judged again. Change what the code does.",
        "repeat_of": known["lap"],
        "repeats": state["repeats"] + 1,
        "saved_checks": state["saved_checks"] + 1,
        "saved_tokens": state["saved_tokens"] + known["review_tokens"],
    }


# Written out: `asdict` copies every value and costs a tenth of a node.
def _candidate(c: Candidate) -> dict[str, Json]:
    return {"answer": c.answer, "digest": c.digest, "notes": c.notes}
