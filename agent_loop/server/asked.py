"""Bodies and queries of the job server."""

from typing import Self

from pydantic import Field, field_validator, model_validator

from agent_loop.graph.parts import Limits
from agent_loop.server.shop import Wish
from agent_loop.viewer.asked import Asked

MAX_TEXT_CHARS = 20_000


class JobAsked(Asked):
    """`POST /api/jobs`: exactly one of `task`, `project` and `resume`."""

    root: str | None = Field(None, max_length=60, description="Id of an allowed folder.")
    task: str | None = Field(None, max_length=500, description="Task file in that folder.")
    project: str | None = Field(None, max_length=500, description="Project in that folder.")
    instruction: str = Field("", max_length=MAX_TEXT_CHARS, description="What the project needs.")
    test_command: str = Field("pytest -q", min_length=1, max_length=2_000)
    resume: str | None = Field(None, max_length=200, description="Thread of a run to go on with.")
    thread: str | None = Field(None, max_length=200, description="Thread id of the new run.")
    budget_tokens: int | None = Field(None, ge=1, le=1_000_000_000)
    time_limit_s: float | None = Field(None, gt=0, le=1_000_000)
    max_pauses: int | None = Field(None, ge=0, le=1_000)
    cancel_on_disconnect: bool = False

    @field_validator("root", "task", "project", "instruction", "test_command", "resume", "thread")
    @classmethod
    def _whole(cls, value: str | None) -> str | None:
        if value is not None:
            value.encode("utf-8")  # raises ValueError for half a character
            if "\0" in value:
                raise ValueError("holds a NUL")
        return value

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = [name for name in ("task", "project", "resume") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("give exactly one of task, project and resume")
        if given != ["resume"] and self.root is None:
            raise ValueError("root says in which allowed folder")
        return self

    def wish(self) -> Wish:
        limits = Limits(
            max_pauses=self.max_pauses,
            budget_tokens=self.budget_tokens,
            time_limit_s=self.time_limit_s,
        )
        return Wish(
            thread=self.thread, limits=limits, cancel_on_disconnect=self.cancel_on_disconnect
        )
