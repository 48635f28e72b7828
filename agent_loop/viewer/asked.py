"""What may be asked: queries and bodies, typed and bounded. Unknown names are refused."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agent_loop.viewer.events import DEFAULT_CHARS, MAX_CHARS, MIN_CHARS
from agent_loop.viewer.pages import MAX_PAGE, Wanted
from agent_loop.viewer.rows import Filter

MAX_SEQ = 10_000_000
MAX_PIECE = 5_000_000


class Asked(BaseModel):
    """Base: frozen, nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def words(text: str) -> tuple[str, ...]:
    """The words of a search, case folded."""
    return tuple(text.casefold().split()[:20])


def listed(text: str) -> frozenset[str]:
    """A list with commas."""
    return frozenset(part.strip() for part in text.split(",") if part.strip())


class RunsAsked(Asked):
    """`GET /api/runs`."""

    q: str = Field("", max_length=200, description="Words that must all occur.")
    status: str = Field("", max_length=300, description="Statuses, with commas.")
    kind: str = Field("", max_length=100, description="Kinds of task, with commas.")
    evals: bool = Field(False, description="Show attempts of evals too.")
    sort: Literal["started", "seconds", "tokens", "laps", "task"] = "started"
    dir: Literal["asc", "desc"] = "desc"
    offset: int = Field(0, ge=0, le=1_000_000)
    limit: int = Field(100, ge=1, le=2_000)

    def filter(self) -> Filter:
        return Filter(
            words=words(self.q),
            statuses=listed(self.status),
            kinds=listed(self.kind),
            evals=self.evals,
            sort=self.sort,
            descending=self.dir == "desc",
        )


class EventsAsked(Asked):
    """`GET /api/runs/{thread}/events`."""

    after: int = Field(0, ge=0, le=MAX_SEQ)
    before: int | None = Field(None, ge=1, le=MAX_SEQ)
    dir: Literal["asc", "desc"] = "asc"
    limit: int = Field(200, ge=1, le=MAX_PAGE)
    chars: int = Field(DEFAULT_CHARS, ge=MIN_CHARS, le=MAX_CHARS)
    kinds: str = Field("", max_length=500)
    node: str = Field("", max_length=100)
    role: str = Field("", max_length=100)
    lap: int | None = Field(None, ge=0, le=MAX_SEQ)
    q: str = Field("", max_length=200)

    def wanted(self) -> Wanted:
        return Wanted(
            after=self.after,
            before=self.before,
            order=self.dir,
            limit=self.limit,
            chars=self.chars,
            kinds=listed(self.kinds),
            node=self.node,
            role=self.role,
            lap=self.lap,
            words=words(self.q),
        )


class OneAsked(Asked):
    """How long texts of one event may be."""

    chars: int = Field(MAX_CHARS, ge=MIN_CHARS, le=MAX_CHARS)


class TextAsked(Asked):
    """A piece of a long text."""

    pointer: str = Field("", max_length=1_000, description="JSON pointer; empty: the whole.")
    offset: int = Field(0, ge=0, le=1 << 40)
    limit: int = Field(1_000_000, ge=1, le=MAX_PIECE)


class StreamAsked(Asked):
    """Where a stream of one run begins."""

    after: int = Field(0, ge=0, le=MAX_SEQ)
    chars: int = Field(DEFAULT_CHARS, ge=MIN_CHARS, le=MAX_CHARS)


class RowsStreamAsked(Asked):
    """Where the stream of rows begins."""

    after: str = Field("", max_length=60, description="`cursor` of the list.")


class ExportAsked(Asked):
    """How much of the texts an export holds."""

    texts: Literal["full", "short"] = "full"


class CompareAsked(Asked):
    """Reports to compare."""

    reports: str = Field(max_length=1_000, description="Names with commas, the first is the base.")


class PatchAsked(Asked):
    """Whose patch."""

    task: str = Field(max_length=300)
    n: int = Field(ge=0, le=1_000_000)


class ReplyAsked(Asked):
    """The owner's answer."""

    nonce: str = Field(min_length=1, max_length=200)
    kind: Literal["stop", "accept", "guidance"]
    text: str = Field("", max_length=2_000)

    @field_validator("text", "nonce")
    @classmethod
    def _whole(cls, value: str) -> str:
        value.encode("utf-8")  # raises ValueError for half a character
        return value
