"""The owner's answer as a file: `owner_reply.json`, checked, used once, deleted."""

import json
import os
import stat
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from agent_loop.errors import StoreFault, UserError
from agent_loop.paths import atomic_write
from agent_loop.ports import Clock, Json, OwnerCall, OwnerReply

MAX_FILE_BYTES = 4_096
MAX_TEXT_CHARS = 2_000
Source = Literal["terminal", "mailbox", "argument"]
_KINDS = ("stop", "accept", "guidance")
# Those that turn the reading direction: what the owner sees would not be what the model gets.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class BadReply(UserError):
    """An owner's answer that cannot be taken as it is."""


def reply_from_text(text: str, source: Source) -> OwnerReply:
    """What a line of text means: exactly `stop` or `accept` ends the run, the rest is guidance.

    Case and trailing punctuation do not matter.

    Raises:
        BadReply: empty, over 2,000 characters, or with control characters.
    """
    text = _checked_text(text)
    word = text.rstrip(".!,;: ").casefold()
    if word == "stop":
        return OwnerReply(kind="stop", text=text, source=source)
    if word == "accept":
        return OwnerReply(kind="accept", text=text, source=source)
    return OwnerReply(kind="guidance", text=text, source=source)


def _checked_text(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise BadReply("the answer is empty. Say 'stop', 'accept', or what the worker should do.")
    if len(text) > MAX_TEXT_CHARS:
        raise BadReply(
            f"the answer has {len(text)} characters; at most {MAX_TEXT_CHARS} are taken."
        )
    for char in text:
        if char in _TURNING or (unicodedata.category(char) in {"Cc", "Cs"} and char not in "\n\t"):
            raise BadReply(
                f"the answer holds the control character U+{ord(char):04X}. Take it out."
            )
    return text


class Mailbox:
    """The mailbox of one thread, and the answer kept beside it until its run has used it."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "owner_reply.json"
        self._kept = folder / "answered.json"
        self._refused = folder / "owner_reply.refused.json"

    @property
    def path(self) -> Path:
        return self._file

    def take(self, nonce: str) -> OwnerReply | None:
        """This pause's answer, if a good one lies there. A wrong one is moved aside with a reason.

        The answer is kept (`answered`) before the file goes, so a kill between loses nothing.

        Raises:
            StoreFault: the disk refused.
        """
        try:
            raw = _plain_file(self._file, MAX_FILE_BYTES + 1)
        except OSError as error:
            raise StoreFault(f"{self._file}: cannot be read: {error}.") from error
        if raw is None:
            return None
        try:
            reply = _parsed(raw, nonce)
        except BadReply as problem:
            self._move_aside(raw, str(problem))
            return None
        self.keep(nonce, reply)
        self._file.unlink(missing_ok=True)
        return reply

    def put(self, nonce: str, text: str) -> OwnerReply:
        """Leave an answer for whoever drives the run (a web page does).

        Raises:
            BadReply: the text cannot be an answer.
        """
        reply = reply_from_text(text, "mailbox")
        fields = {"nonce": nonce, "kind": reply.kind, "text": reply.text}
        raw = json.dumps(fields, ensure_ascii=False).encode()
        if len(raw) > MAX_FILE_BYTES:
            raise BadReply(f"the answer is {len(raw)} bytes; at most {MAX_FILE_BYTES} are taken.")
        atomic_write(self._file, raw)
        return reply

    def keep(self, nonce: str, reply: OwnerReply) -> None:
        """Remember the answer to this pause until the graph has it.

        Raises:
            StoreFault: the disk refused.
        """
        fields = {
            "nonce": nonce, "kind": reply.kind, "text": reply.text, "source": reply.source
        }  # fmt: skip
        try:
            atomic_write(self._kept, json.dumps(fields))
        except OSError as error:
            raise StoreFault(f"{self._kept}: cannot be written: {error}.") from error

    def answered(self, nonce: str) -> OwnerReply | None:
        """The kept answer to this pause. A twin of it still in the mailbox is dropped."""
        try:
            kept = json.loads(_plain_file(self._kept, 8 * MAX_FILE_BYTES) or b"")
            source = kept["source"]
            if kept["nonce"] != nonce or source not in ("terminal", "mailbox", "argument"):
                return None
            reply = _reply(kept, source)
        except (OSError, ValueError, RecursionError, KeyError, TypeError, BadReply):
            return None
        if reply.source == "mailbox":
            self._drop_twin(nonce)
        return reply

    def _drop_twin(self, nonce: str) -> None:
        try:
            _parsed(_plain_file(self._file, MAX_FILE_BYTES + 1) or b"", nonce)
        except (OSError, BadReply):
            return
        self._file.unlink(missing_ok=True)

    def _move_aside(self, raw: bytes, reason: str) -> None:
        shown = raw[:MAX_FILE_BYTES].decode("utf-8", "replace")
        try:
            atomic_write(self._refused, json.dumps({"reason": reason, "text": shown}, indent=1))
            self._file.unlink(missing_ok=True)
        except OSError as error:
            raise StoreFault(f"{self._file}: cannot be moved aside: {error}.") from error


def _plain_file(path: Path, most_bytes: int) -> bytes | None:
    """Its first bytes; `None` for no file, or one that is no plain file.

    A pipe would hold us for ever and a link lead elsewhere, whichever moment it is put there.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            return None
        number = os.open(path, flags)
    except FileNotFoundError:
        return None
    try:
        return os.read(number, most_bytes) if stat.S_ISREG(os.fstat(number).st_mode) else None
    finally:
        os.close(number)


class MailboxOwner:
    """An `Owner` who is not at the terminal: looks into the mailbox until an answer lies there."""

    def __init__(
        self, mailbox: Mailbox, clock: Clock, *, wait_s: float, every_s: float = 0.2
    ) -> None:
        self._mailbox = mailbox
        self._clock = clock
        self._wait_s = wait_s
        self._every_s = every_s

    def poll(self, call: OwnerCall) -> OwnerReply | None:
        """One look, without waiting: for an owner that reads a terminal meanwhile."""
        return self._mailbox.take(call.nonce)

    def answer(self, call: OwnerCall) -> OwnerReply | None:
        """Wait at most `wait_s` seconds."""
        end = self._clock.monotonic() + self._wait_s
        while True:
            reply = self.poll(call)
            if reply is not None or self._clock.monotonic() >= end:
                return reply
            self._clock.sleep(self._every_s)


def _parsed(raw: bytes, nonce: str) -> OwnerReply:
    if len(raw) > MAX_FILE_BYTES:
        raise BadReply(f"the file is larger than {MAX_FILE_BYTES} bytes")
    try:
        fields = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadReply(f"the file is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise BadReply("the file is not a JSON object")
    if fields.get("nonce") != nonce:
        raise BadReply("the answer is for another pause (its nonce is not the one of this pause)")
    return _reply(fields, "mailbox")


def _reply(fields: Mapping[str, Json], source: Source) -> OwnerReply:
    kind, text = fields.get("kind"), fields.get("text")
    if not isinstance(text, str):
        raise BadReply("'text' is missing or no text")
    if kind not in _KINDS:
        raise BadReply(f"'kind' must be one of {', '.join(_KINDS)}")
    reply = reply_from_text(text, source)
    if reply.kind == kind:
        return reply
    if reply.kind == "guidance":
        return OwnerReply(
            kind="stop" if kind == "stop" else "accept", text=reply.text, source=source
        )
    # A page that mixes label and word up must not end a run, or go on with one, by mistake.
    raise BadReply(f"'kind' says {kind}, the text means {reply.kind}")
