"""Run folders, records, traces, the mailbox and the thread lock. Never opens the checkpoints."""

from agent_loop.store.lock import ThreadLock, lock_holder
from agent_loop.store.mailbox import Mailbox, MailboxOwner, reply_from_text
from agent_loop.store.record import Summary
from agent_loop.store.runs import RunStore
from agent_loop.store.trace import Tee, Trace, read_trace

__all__ = [
    "Mailbox",
    "MailboxOwner",
    "RunStore",
    "Summary",
    "Tee",
    "ThreadLock",
    "Trace",
    "lock_holder",
    "read_trace",
    "reply_from_text",
]
