"""The one thing a page may write: the owner's answer to a run that is paused right now."""

import threading
import time
from collections.abc import Callable

from agent_loop.errors import StoreFault
from agent_loop.ports import Json
from agent_loop.store import Mailbox, reply_from_text
from agent_loop.store.mailbox import BadReply
from agent_loop.viewer.places import Places
from agent_loop.viewer.rows import Rows
from agent_loop.viewer.standing import Standings
from agent_loop.webguard import Rate, WebError

_WORDS = ("stop", "accept")


class Replies:
    """Leaves answers. Any thread may ask."""

    def __init__(
        self,
        places: Places,
        rows: Rows,
        standings: Standings,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = places
        self._rows = rows
        self._standings = standings
        self._tries = Rate(1.0, 1.0, monotonic)
        self._lock = threading.Lock()

    def leave(self, thread: str, nonce: str, kind: str, text: str) -> dict[str, Json]:
        """Put the answer into the run's mailbox; its driver takes it once and deletes it.

        Raises:
            WebError: too soon (429), not paused, another pause or one answered already (409),
                or the text cannot be an answer (422).
        """
        if not self._tries.allows():
            raise WebError(429, "too_soon", "One try a second.", retry_after_s=1)
        said = text or (kind if kind in _WORDS else "")
        try:
            reply = reply_from_text(said, "mailbox")
        except BadReply as problem:
            raise WebError(422, "bad_text", f"Not sent: {problem}") from problem
        if reply.kind != kind:
            raise WebError(
                422, "kind_mismatch",
                f"Not sent: '{kind}' was chosen, but this text means '{reply.kind}'.",
            )  # fmt: skip
        with self._lock:  # two that ask at once: the second finds the first's answer waiting
            self._check(thread, nonce)
            self._put(thread, nonce, said)
        return {"thread": thread, "nonce": nonce, "kind": reply.kind, "text": reply.text}

    def _check(self, thread: str, nonce: str) -> None:
        row = self._rows.one(thread)
        if row is None:
            raise WebError(404, "run", "There is no such run.")
        pause = self._standings.pause(thread, None) if row["status"] == "paused" else None
        if pause is None or not pause.nonce:
            raise WebError(409, "not_paused", "This run asks nobody now.")
        if pause.nonce != nonce:
            raise WebError(409, "stale_nonce", "The run asks something else now. Look again.")
        if pause.reply_waiting:
            raise WebError(409, "reply_waiting", "An answer waits already for the run to take it.")

    def _put(self, thread: str, nonce: str, text: str) -> None:
        if not self._places.there(thread):
            raise WebError(409, "not_paused", "The run has no folder of its own.")
        try:
            Mailbox(self._places.root / thread).put(nonce, text)
        except BadReply as problem:
            raise WebError(422, "bad_text", f"Not sent: {problem}") from problem
        except (StoreFault, OSError) as error:
            raise WebError(503, "disk", f"Not sent: {error}", retry_after_s=5) from error
