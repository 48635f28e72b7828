"""The prompts of every role, made from a task and the laps so far.

Within a role the list of messages only grows from lap to lap, so that a local server takes what it
has already read from its prefix cache. Where it would outgrow `max_chars` it starts again from the
same opening and the newest lap (the opening is still reused).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from agent_loop.errors import ConfigError
from agent_loop.ports import Message
from agent_loop.prompts.fence import bounded, fenced

VARIANTS = ("no_plan", "real_path_example", "worked_example")
KINDS = ("code", "project", "research")
_NAMES = ("lead.system", "lead.user", "worker.system", "worker.user", "worker.again",
          "reviewer.system", "reviewer.user", "reviewer.lap")  # fmt: skip
_EPISODE_NAMES = ("episode.system", "episode.user", "episode.again")
"""Only projects are worked on with tools."""
_TOLD_LAPS = 2
_EXAMPLE = ("example.user", "example.answer")
"""Of code tasks: a project's example would be another project's edit."""
_HOLE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """What models may know of a task: never a hidden test."""

    kind: Literal["code", "project", "research"]
    task: str
    tests: tuple[str, ...] = ()
    material: str = ""
    """What a node before the worker found: files, abstracts. Set by the graph, from its state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lap:
    """One lap as the next prompts tell it. Texts are bounded already."""

    reply: str
    problem: str = ""
    """Why the reply was not judged; empty where it was."""
    passed: bool = False
    result: str = ""
    """What the check said."""
    review: str = ""
    guidance: str = ""
    """What the owner said after this lap."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Fills the texts of one kind of task."""

    texts: Mapping[str, str]
    variants: tuple[str, ...] = ()
    max_chars: int = 24_000
    """Longest prompt in characters, all messages together; the opening may be longer alone."""

    def lead(self, brief: Brief) -> tuple[Message, ...]:
        """What the lead is asked, once a run."""
        return self._opening("lead", brief, plan="")

    def worker(self, brief: Brief, plan: str, laps: Sequence[Lap]) -> tuple[Message, ...]:
        """What worker and escalation are asked after these laps."""
        opening = self._with_example(self._opening("worker", brief, plan))
        turns = [
            (
                Message(role="assistant", content=bounded(lap.reply, self.max_chars // 3)),
                Message(role="user", content=self._again(lap)),
            )
            for lap in laps
        ]
        return self._joined(opening, turns)

    def episode(self, brief: Brief, plan: str, laps: Sequence[Lap]) -> tuple[Message, ...]:
        """What a worker with tools is told at the beginning of a lap: one system and one user turn.

        An episode grows from there, so the laps before it stand in the user turn.
        """
        opening = self._opening("episode", brief, plan)
        told = [self._before(n, lap) for n, lap in enumerate(laps, start=1)][-_TOLD_LAPS:]
        system, user = opening
        return (system, Message(role="user", content="\n\n".join([user.content, *told])))

    def _before(self, n: int, lap: Lap) -> str:
        limit = self.max_chars // 6
        holes = {
            "n": str(n),
            "reply": fenced(bounded(lap.reply, limit), "diff"),
            **self._said(lap),
        }
        return filled(self.texts["episode.again"], holes)

    def reviewer(self, brief: Brief, laps: Sequence[Lap], now: Lap) -> tuple[Message, ...]:
        """What the reviewer is asked about lap `now`; `laps` are those reviewed before it."""
        opening = self._opening("reviewer", brief, plan="")
        said = [
            (self._shown(lap), Message(role="assistant", content=bounded(lap.review, 2_000)))
            for lap in laps
            if lap.review
        ]
        return self._joined(opening, [*said, (self._shown(now),)])

    def _opening(self, role: str, brief: Brief, plan: str) -> tuple[Message, ...]:
        plan = "" if "no_plan" in self.variants else plan.strip()
        holes = {
            "task": brief.task.strip(),
            "tests": fenced("\n".join(brief.tests), "python") if brief.tests else "",
            "plan": fenced(bounded(plan, self.max_chars // 6), "text") if plan else "",
            "material": brief.material.strip(),
        }
        return (
            Message(role="system", content=self.texts[f"{role}.system"].strip()),
            Message(role="user", content=filled(self.texts[f"{role}.user"], holes)),
        )

    def _with_example(self, opening: tuple[Message, ...]) -> tuple[Message, ...]:
        """Another task and its answer before the task, where the variant asks for one."""
        asked, answered = self.texts.get("example.user"), self.texts.get("example.answer")
        if "worked_example" not in self.variants or not asked or not answered:
            return opening
        example = (
            Message(role="user", content=asked.strip()),
            Message(role="assistant", content=answered.strip()),
        )
        return (opening[0], *example, *opening[1:])

    def _again(self, lap: Lap) -> str:
        return filled(self.texts["worker.again"], self._said(lap))

    def _said(self, lap: Lap) -> Mapping[str, str]:
        limit = self.max_chars // 6
        return {
            "problem": bounded(lap.problem, limit),
            "passed": "yes" if lap.passed and not lap.problem else "",
            "result": fenced(bounded(lap.result, limit), "text") if lap.result else "",
            "review": fenced(bounded(lap.review, min(limit, 2_000)), "text") if lap.review else "",
            "guidance": bounded(lap.guidance, limit),
        }

    def _shown(self, lap: Lap) -> Message:
        limit = self.max_chars // 6
        holes = {
            "reply": fenced(bounded(lap.reply, limit * 2), "text"),
            "verdict": "PASSED" if lap.passed else "FAILED",
            "result": fenced(bounded(lap.result, limit), "text"),
        }
        return Message(role="user", content=filled(self.texts["reviewer.lap"], holes))

    def _joined(
        self, opening: tuple[Message, ...], turns: Sequence[tuple[Message, ...]]
    ) -> tuple[Message, ...]:
        head = sum(len(m.content) for m in opening)
        first, size = 0, head
        for index, turn in enumerate(turns):
            more = sum(len(m.content) for m in turn)
            if size + more > self.max_chars and index > first:
                first, size = index, head
            size += more
        return merged((*opening, *(m for turn in turns[first:] for m in turn)))


def merged(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Two user messages in a row become one: chat templates want roles to alternate."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1].role == message.role:
            joined = f"{out[-1].content}\n\n{message.content}"
            out[-1] = Message(role=message.role, content=joined)
        else:
            out.append(message)
    return tuple(out)


def filled(text: str, holes: Mapping[str, str]) -> str:
    """The text with its holes filled, in one pass: what is put in is never filled again.

    A paragraph whose holes are all empty is left out.
    """
    kept = []
    for paragraph in text.strip().split("\n\n"):
        names = _HOLE.findall(paragraph)
        if names and not any(holes[name] for name in names):
            continue
        # `passed` only switches its paragraph on; it has nothing to show.
        shown = paragraph.replace("{{passed}}", "")
        kept.append(_HOLE.sub(lambda hole: holes[hole.group(1)], shown).strip())
    return "\n\n".join(kept)


def load(kind: str, *, variants: Sequence[str] = (), max_chars: int = 24_000) -> Prompts:
    """The prompts of one kind of task.

    Raises:
        ConfigError: a variant nobody has written.
    """
    for variant in variants:
        if variant not in VARIANTS:
            known = ", ".join(VARIANTS)
            raise ConfigError("prompt_variants", f"'{variant}' is unknown", f"Known: {known}.")
    if kind not in KINDS:
        raise ConfigError("prompts", f"no prompts for tasks of kind '{kind}'")
    folder = resources.files("agent_loop.prompts") / kind
    more = {"project": _EPISODE_NAMES, "code": _EXAMPLE}
    names = (*_NAMES, *more.get(kind, ()))
    texts = {name: (folder / f"{name}.txt").read_text(encoding="utf-8") for name in names}
    return Prompts(texts=texts, variants=tuple(variants), max_chars=max_chars)
