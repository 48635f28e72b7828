"""A Check without containers: a reply passes when its code holds the word `right`."""

import hashlib
from collections.abc import Callable

from agent_loop.errors import ReplyError
from agent_loop.ports import Candidate, Clock, Look, Proof, Reply, SystemClock, Verdict


class ScriptedCheck:
    """Judges by a word in the code, and remembers what it was asked."""

    def __init__(
        self,
        *,
        delay_s: float = 0.0,
        clock: Clock | None = None,
        fault: Callable[[], Exception | None] = lambda: None,
        looks: tuple[Look, ...] = (),
        feedback: str = "",
    ) -> None:
        self._delay_s = delay_s
        self._clock = clock or SystemClock()
        self._fault = fault
        self._looks = looks
        self._feedback = feedback
        self.judged: list[str] = []
        self.prepared = 0
        self.closed = False

    def parse(self, reply: Reply) -> Candidate:
        if reply.finish == "length":
            raise ReplyError("The answer was cut at its length limit. Make it shorter.")
        if "```" not in reply.text:
            raise ReplyError("No fenced Python block. Answer with one.")
        code = reply.text.split("```")[1].removeprefix("python").strip()
        # As the real one: comments and layout do not make another answer.
        bare = "\n".join(cut for line in code.splitlines() if (cut := line.split("#")[0].rstrip()))
        return Candidate(answer=code, digest=hashlib.sha256(bare.encode()).hexdigest())

    def judge(self, candidate: Candidate) -> Verdict:
        if self._delay_s:
            self._clock.sleep(self._delay_s)
        if error := self._fault():
            raise error
        self.judged.append(candidate.answer)
        passed = "right" in candidate.answer
        return Verdict(
            passed=passed,
            isolation="separate",
            reason="1 of 1 asserts held" if passed else "assert 1 failed",
            feedback=self._feedback or ("" if passed else "assert f() == 1: got 2"),
            output="the whole output",
            proofs=(Proof(name="every assert ran", held=True),),
            looks=self._looks if passed else (),
            executed=("assert 1",),
        )

    def prepare(self) -> None:
        self.prepared += 1

    def close(self) -> None:
        self.closed = True
