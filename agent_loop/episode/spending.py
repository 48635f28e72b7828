"""What an episode has used up: its time, its tokens, its money."""

from collections.abc import Sequence

from agent_loop.episode.terms import EpisodeLimits, StopReason
from agent_loop.ports import Cancel, Clock, Message, Reply, Usage

_CHARS_PER_TOKEN = 4


class Watch:
    """A `Cancel` that is also set when the episode's time is over."""

    def __init__(self, clock: Clock, seconds: float, cancel: Cancel) -> None:
        self._clock = clock
        self._cancel = cancel
        self._began = clock.monotonic()
        self._end = self._began + seconds

    @property
    def is_late(self) -> bool:
        """The time is over."""
        return self._clock.monotonic() >= self._end

    @property
    def seconds(self) -> float:
        """Since the episode began."""
        return self._clock.monotonic() - self._began

    def deadline(self, seconds: float) -> float:
        """When a call that begins now ends at the latest."""
        return min(self._clock.monotonic() + seconds, self._end)

    def is_set(self) -> bool:
        return self._cancel.is_set() or self.is_late


class Spending:
    """Tokens and dollars of one episode against its limits."""

    def __init__(self, limits: EpisodeLimits) -> None:
        self._limits = limits
        self.usage = Usage()
        self.guessed_tokens = self.replies = self.context_cuts = 0
        self.answered = ""

    @property
    def tokens(self) -> int:
        """Counted, and guessed where nobody counts."""
        return self.usage.input_tokens + self.usage.output_tokens + self.guessed_tokens

    def add(self, reply: Reply, sent: Sequence[Message]) -> None:
        """One more reply."""
        self.usage += reply.usage
        self.replies += 1
        self.context_cuts += reply.context_cut
        self.answered = reply.answered
        if reply.usage.unmeasured_calls:
            chars = sum(len(m.content) for m in sent) + len(reply.text) + len(reply.reasoning)
            self.guessed_tokens += chars // _CHARS_PER_TOKEN

    def reached(self) -> StopReason | None:
        """The limit that nothing more may be spent against."""
        limits = self._limits
        if limits.tokens is not None and self.tokens >= limits.tokens:
            return "token_limit"
        if limits.cost_usd is None:
            return None
        # What a call of unknown price costs may be anything: that limit cannot be kept.
        over = self.usage.unpriced_calls > 0 or self.usage.cost_usd >= limits.cost_usd
        return "cost_limit" if over else None

    def words(self, reason: StopReason, seconds: float) -> str:
        """One line about a way out."""
        limits = self._limits
        if reason == "cost_limit" and self.usage.unpriced_calls:
            return (
                f"what {self.usage.unpriced_calls} calls cost is unknown: see prices: in the docs"
            )
        return {
            "submitted": "the model says that it is done",
            "step_limit": f"{limits.max_steps} steps are used up",
            "token_limit": f"{self.tokens:,} of {limits.tokens or 0:,} tokens are used up",
            "cost_limit": f"${self.usage.cost_usd:.4f} of ${limits.cost_usd or 0:g} are spent",
            "time_limit": f"{seconds:.0f} of {limits.seconds:g} s are over",
        }.get(reason, "")
