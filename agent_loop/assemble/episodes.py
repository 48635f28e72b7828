"""The worker with tools of a project run: a working copy, an episode over it, its patch."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from agent_loop.checks.project import NOTE
from agent_loop.config import Config
from agent_loop.episode import Episode, EpisodeLimits, Setting, run_episode
from agent_loop.episode.tools.harvest import Harvest
from agent_loop.graph.parts import Limits, Work, Worked
from agent_loop.ports import Clock, Role, Toolbox
from agent_loop.workspace import FileState, PatchRefused, Tree, states_of, write_patch

N = TypeVar("N", int, float)
_SHARE = 0.75
"""Characters of one observation for each token of context: a quarter of what it holds."""
CLOUD_CONTEXT_TOKENS = 100_000
"""For servers whose context is not configured: num_ctx is Ollama's word."""


class EpisodeDesk:
    """Runs the episodes of one run; each has a fresh working copy of the untouched project."""

    def __init__(
        self,
        open_box: Callable[[], "HarvestedBox"],
        project: Callable[[], Tree],
        config: Config,
        clock: Clock,
    ) -> None:
        self._open_box = open_box
        self._project = project
        self._config = config
        self._clock = clock

    def work(self, work: Work) -> Worked:
        """One episode; its patch is the answer, however it ended.

        Raises:
            FaultError: model or container failed; nothing of the lap counts.
            Cancelled: somebody stopped it.
        """
        box = self._open_box()
        try:
            episode = run_episode(self._setting(work, box))
            if episode.fault is not None:
                raise episode.fault
            text = answer_of(episode, self._project(), box.harvest())
        finally:
            box.close()
        return Worked(
            text=text,
            answered=episode.answered or work.model.name,
            usage=episode.usage,
            replies=episode.replies,
            guessed_tokens=episode.guessed_tokens,
            context_cuts=episode.context_cuts,
            format_failures=episode.no_calls,
        )

    def _setting(self, work: Work, box: Toolbox) -> Setting:
        return Setting(
            model=work.model,
            toolbox=box,
            opening=work.messages,
            limits=within(limits_of(self._config, work.role), work.left),
            protocol=self._config.episode.protocol,
            clock=self._clock,
            events=work.events,
            cancel=work.cancel,
            head=work.head,
        )


class HarvestedBox(Toolbox, Protocol):
    """A toolbox that also says what is executable."""

    def harvest(self) -> Harvest: ...


def limits_of(config: Config, role: Role) -> EpisodeLimits:
    """Where an episode of that role ends."""
    given, options = config.episode, config.options(role)
    local = config.model(role).provider not in ("openai", "anthropic")
    known = local or "num_ctx" in options.model_fields_set
    room = options.num_ctx - min(options.num_predict, options.num_ctx // 2)
    return EpisodeLimits(
        max_steps=given.max_steps,
        tokens=given.tokens,
        cost_usd=given.cost_usd,
        seconds=given.seconds,
        call_s=given.call_s,
        context_tokens=room if known else CLOUD_CONTEXT_TOKENS,
        observation_chars=min(given.observation_chars, max(500, int(room * _SHARE))),
    )


def within(limits: EpisodeLimits, left: Limits) -> EpisodeLimits:
    """The limits of an episode inside what its run may still spend."""
    return replace(
        limits,
        tokens=_least(limits.tokens, left.budget_tokens),
        cost_usd=_least(limits.cost_usd, left.cost_usd),
        seconds=min(limits.seconds, left.time_limit_s or limits.seconds),
    )


def _least(one: N | None, other: N | None) -> N | None:
    given = [value for value in (one, other) if value is not None]
    return min(given) if given else None


def answer_of(episode: Episode, before: Tree, found: Harvest) -> str:
    """The patch of a working copy, under a few lines about how it came about."""
    notes = [
        f"episode: {episode.reason} after {episode.steps} steps and {episode.calls} tool calls"
        + (f" ({episode.detail})" if episode.detail else "")
    ]
    patch, more = patch_of(before, found)
    head = "".join(f"{NOTE}{' '.join(line.split())[:500]}\n" for line in [*notes, *more])
    return head + patch


def patch_of(before: Tree, found: Harvest) -> tuple[str, list[str]]:
    """The patch of a working copy, and a line for each thing that is not in it."""
    notes = [f"not taken: {line}" for line in found.left_out]
    changed = {path for path in {*before, *found.files} if _differs(before, found, path)}
    sides = (before, found.files)
    binary = sorted(p for p in changed if any(b"\0" in (side.get(p) or b"") for side in sides))
    notes += [f"not taken: {path}: a binary file" for path in binary]
    changed -= set(binary)
    try:
        patch = write_patch(states_of(before, changed), _states(found, changed)).decode()
    except (PatchRefused, UnicodeDecodeError) as problem:
        notes.append(f"no patch could be made of the working copy: {problem}")
        patch = ""
    return patch, notes


def _differs(before: Tree, found: Harvest, path: str) -> bool:
    if path not in before or path not in found.files:
        return path not in before.symlinks
    return before[path] != found.files[path] or before.executable(path) != (
        path in found.executable
    )


def _states(found: Harvest, paths: set[str]) -> Mapping[str, FileState]:
    return {
        path: FileState(data=found.files[path], executable=path in found.executable)
        for path in paths
        if path in found.files
    }
