"""The judge's side of the conversation: what the solution sends is material, never an order."""

from __future__ import annotations

import operator

from agent_loop.checks.code.inside.link import Link
from agent_loop.checks.code.inside.named import CALLBACK, LOOKUP, PLAIN_ATTRIBUTES
from agent_loop.checks.code.inside.proxies import Far, Ref, make
from agent_loop.checks.code.inside.standins import GENERATOR, StandIns
from agent_loop.checks.code.inside.values import Exchange
from agent_loop.checks.code.inside.wire import Refused, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn, Protocol

    class JudgePipe(Protocol):
        def send(self, frame: bytes, *, fresh: bool) -> None: ...

        def receive(self) -> dict[str, Any]: ...

        @property
        def unread(self) -> bool:
            """The solution has said something nobody asked for."""
            ...


REQUESTS = 50_000
"""Calls in both directions that one check may need."""
MODULE, LOAD = 0, 1
"""The first two exports of the agent."""
_STOPPING = (next, GENERATOR.send, GENERATOR.throw)
_BUILTIN = (type(next), type(operator.add), type(GENERATOR.send))


class Asker(Link):
    """Asks the solution, keeps a refusal, counts, and remembers the calls an assert made."""

    def __init__(self, pipe: JudgePipe, licence: frozenset[str]) -> None:
        self.far = StandIns(self)
        super().__init__(pipe, self.far)
        self._unread = pipe
        self.licence = licence
        self.refusal = ""
        self.requests = 0
        self.compared = False
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any], Any, bool]] = []
        """(name, arguments, named arguments, result, raised) since the last assert that held."""

    def fail(self, reason: str) -> NoReturn:
        self.refusal = self.refusal or reason
        refuse(reason)

    def call(
        self,
        target: Any,
        args: tuple[Any, ...] = (),
        named: dict[str, Any] | None = None,
        *,
        name: str = "",
    ) -> Any:
        if self.refusal:
            refuse(self.refusal)
        self._count()
        if self._unread.unread:
            self.fail("the solution answered before it was asked")
        try:
            value, raised = super().call(target, args, named, name=name), False
        except Refused as refusal:
            self.fail(str(refusal))
        except BaseException as problem:  # the solution's own exception
            value, raised = problem, True
        if name and target is not getattr and name != "next":
            self.calls.append((name, args, named or {}, value, raised))
        if not raised:
            return value
        if isinstance(value, StopIteration | StopAsyncIteration) and not _stops(target):
            raise RuntimeError(f"{name} raised {type(value).__name__}")  # or a loop would end early
        raise value

    def _count(self) -> None:
        self.requests += 1
        if self.requests > REQUESTS:
            self.fail(f"the check needs more than {REQUESTS} calls")

    def exchange_for(self, target: Any, args: tuple[Any, ...], name: str) -> Exchange:
        if target is not getattr:
            licensed = name in self.licence
            if isinstance(target, _BUILTIN):  # operators of any object have the same names
                licensed &= all(arg._al_licensed for arg in args if isinstance(arg, Far))
            return Exchange(label=name + "()", licensed=licensed)
        owner, name = args
        if type(owner) is Ref:
            return Exchange(label=name, licensed=LOOKUP + name in self.licence)
        plain = name in PLAIN_ATTRIBUTES and not self.far.licensed(owner)
        return Exchange(label=name, licensed=name in self.licence, closed=plain)

    def lookup(self, name: str) -> Any:
        """What the solution's module has under `name`.

        Raises:
            AttributeError: nothing.
        """
        return self.call(getattr, (make(Ref, Exchange(), MODULE), name))

    def instances_compared(self) -> bool:
        """Whether any were since this was asked last."""
        were, self.compared = self.compared, False
        return were

    def need_class(self, cls: Any) -> None:
        if not self.far.licensed(cls):
            self.fail(f"gave the class {cls.__name__} where the asserts need a plain value")

    def load(self, source: str, file: str) -> None:
        """Run the solution's module body over there."""
        self.call(make(self.far.functions, Exchange(), LOAD), (source, file), name="load")
        self.calls.clear()

    # -- the solution asks

    def serve(self, request: dict[str, Any]) -> None:
        self._count()
        target = request.get("t")
        exported = type(target) is list and len(target) == 2 and target[0] == "H"
        if not exported and target != ["g", "builtins.next"]:
            self.fail("the solution asked the judge to run something")
        super().serve(request)

    def serving(self) -> Exchange:
        return Exchange(label=CALLBACK, licensed=CALLBACK in self.licence)

    def refused(self, answer: dict[str, Any], reason: str) -> bytes:
        self.fail(reason)


def _stops(target: Any) -> bool:
    """By identity: a handle would have to be asked whether it is equal."""
    return any(target is stopping for stopping in _STOPPING)
