"""Calls from one side to the other, nested as deep as the code under test likes.

A request is `{n, t, a, k}`: call t(*a, **k). Its answer is `{n, m, v}` (a value), `{n, m, x}` (an
exception) or `{n, r}` (why there is no answer); m holds the arguments that were changed in place.
n is random and new for every request, so nothing can be answered before it was asked.
"""

from __future__ import annotations

import os

from agent_loop.checks.code.inside.values import Codec, Exchange
from agent_loop.checks.code.inside.wire import Refused, pack, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Protocol

    from agent_loop.checks.code.inside.values import Far

    class Pipe(Protocol):
        """Carries frames to the other side and back."""

        def send(self, frame: bytes, *, fresh: bool) -> None:
            """`fresh`: a new call; otherwise something inside the current one."""
            ...

        def receive(self) -> dict[str, Any]: ...


class Link:
    """One side's half of the conversation."""

    def __init__(self, pipe: Pipe, far: Far) -> None:
        self.pipe = pipe
        self.codec = Codec(far)
        self.depth = 0

    def fail(self, reason: str) -> NoReturn:
        refuse(reason)

    def call(
        self,
        target: Any,
        args: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
        *,
        name: str = "",
    ) -> Any:
        """Let the other side call `target`; its result, or its exception raised here."""
        exchange = self.exchange_for(target, args, name)
        nonce = os.urandom(8).hex()
        request = {
            "n": nonce,
            "t": self.codec.encode(target, exchange),
            "a": [self.codec.encode(value, exchange) for value in args],
            "k": {key: self.codec.encode(value, exchange) for key, value in (named or {}).items()},
        }
        self.depth += 1
        try:
            self.pipe.send(pack(request), fresh=self.depth == 1)
            answer = self._answer(nonce)
        finally:
            self.depth -= 1
        return self._result(answer, exchange)

    def exchange_for(self, target: Any, args: tuple[Any, ...], name: str) -> Exchange:
        """How far what comes back is trusted."""
        return Exchange()

    def _answer(self, nonce: str) -> dict[str, Any]:
        while "t" in (message := self.pipe.receive()):
            self.serve(message)
        if message.get("n") != nonce:
            self.fail("the solution answered another question than the one asked")
        if "r" in message:
            self.fail(str(message["r"])[:300])
        return message

    def _result(self, answer: dict[str, Any], exchange: Exchange) -> Any:
        self.apply(answer.get("m"), exchange)
        if "x" not in answer:
            return self.codec.decode(answer.get("v"), exchange)
        problem = self.codec.decode(answer["x"], exchange)
        if not isinstance(problem, BaseException):
            self.fail("the solution raised something that is no exception")
        raise problem

    def apply(self, changes: Any, exchange: Exchange) -> None:
        """Copy arguments changed in place back into the originals."""
        if not changes:
            return
        if type(changes) is not list or any(type(c) is not list or len(c) != 2 for c in changes):
            self.fail("the solution's list of changed arguments cannot be read")
        for number, content in changes:
            self.codec.change(number, content, exchange)

    # -- the other side calls

    def serve(self, request: dict[str, Any]) -> None:
        """Carry out a request and answer it."""
        exchange = self.serving()
        answer: dict[str, Any] = {"n": request.get("n")}
        try:
            self._carry_out(request, exchange, answer)
            frame = pack(answer)
        except Refused as refusal:
            frame = self.refused(answer, str(refusal))
        except Exception as problem:  # a class that lies about itself can raise anything
            frame = self.refused(answer, f"could not be answered: {type(problem).__name__}")
        self.pipe.send(frame, fresh=False)

    def serving(self) -> Exchange:
        """How far what the other side passes is trusted."""
        return Exchange()

    def refused(self, answer: dict[str, Any], reason: str) -> bytes:
        """What is sent when a request cannot be answered."""
        return pack({"n": answer["n"], "r": reason})

    def _carry_out(
        self, request: dict[str, Any], exchange: Exchange, answer: dict[str, Any]
    ) -> None:
        target, args, named = self._unpack(request, exchange)
        count = len(exchange.objects)
        before = self._contents(count, exchange)
        try:
            key, value = "v", target(*args, **named)
        except Refused:
            raise
        except BaseException as problem:  # whatever was raised is the answer
            key, value = "x", problem
        after = self._contents(count, exchange) if count else []
        changed = [[i, new] for i, new in enumerate(after) if new != before[i]]
        if changed:
            answer["m"] = changed
        answer[key] = self.codec.encode(value, exchange)

    def _unpack(
        self, request: dict[str, Any], exchange: Exchange
    ) -> tuple[Any, list[Any], dict[str, Any]]:
        positional, named = request.get("a"), request.get("k")
        if type(positional) is not list or type(named) is not dict:
            self.fail("a request of the solution cannot be read")
        decode = self.codec.decode
        return (
            decode(request["t"], exchange),
            [decode(value, exchange) for value in positional],
            {key: decode(value, exchange) for key, value in named.items()},
        )

    def _contents(self, count: int, exchange: Exchange) -> list[Any]:
        return [
            self.codec.content(exchange.objects[i], exchange.kinds[i], exchange)
            for i in range(count)
        ]
