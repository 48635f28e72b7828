"""What a stored run gives to be judged again, and what does not fit together in it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from agent_loop import tasks
from agent_loop.errors import ThreadError
from agent_loop.graph.drive import standing
from agent_loop.ports import Json, Verdict
from agent_loop.store import RunStore
from agent_loop.tasks import Task

CERTIFICATE = "certificate.json"
JOB = "job.json"
_GROUND = {
    "tree_hash": "the project that was copied is not the one of the certificate",
    "test_tree_hash": "the tests that were copied are not those of the certificate",
    "wanted": "other tests were wanted than for the certificate",
    "flaky": "other tests were left out as flaky than for the certificate",
}
"""What a project is judged on, which its answer and its task do not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A stored answer with the task it answers."""

    task: Task
    answer: str
    digest: str
    executed: tuple[str, ...] | None
    """What ran when it passed; `None`: it has no certificate."""
    problems: tuple[str, ...]
    isolation: str = ""
    """How it was judged when it passed."""
    proofs: tuple[str, ...] = ()
    """Names of the proofs it passed with."""
    ground: Mapping[str, Json] = field(default_factory=dict)
    """What it was judged on when it passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The answer, judged again."""

    verdict: Verdict
    certified: bool
    problems: tuple[str, ...]
    """What does not fit: a certificate somebody changed, other asserts than before."""

    @property
    def holds(self) -> bool:
        """It passes again, and everything fits."""
        return self.verdict.passed and not self.problems


def read_stored(store: RunStore, thread: str) -> Stored:
    """From the certificate alone where there is one, else from the record.

    Raises:
        ThreadError: the thread is unknown, or holds no answer.
        TaskFileError: its task was not written by this version.
    """
    certificate = store.read_file(thread, CERTIFICATE)
    if certificate is None:
        record = store.read_record(thread)
        task = tasks.from_record(stored_map(store, thread, "task"))
        return _stored(thread, record, task, executed=None, problems=())
    task = tasks.from_record(_map(certificate.get("task")))
    executed = certificate.get("executed")
    names = tuple(map(str, executed)) if isinstance(executed, list) else ()
    problems = tuple(_problems(thread, certificate, task, store.read_file(thread, JOB)))
    stored = _stored(thread, certificate, task, executed=names, problems=problems)
    return replace(
        stored,
        isolation=str(certificate.get("isolation")),
        proofs=_proofs_of(certificate),
        ground=_map(certificate.get("sandbox")),
    )


def compared(stored: Stored, verdict: Verdict, ground: Mapping[str, Json]) -> Verified:
    """The new verdict, and what it was judged on, beside what the certificate says."""
    problems = stored.problems
    if stored.executed is not None and verdict.passed and verdict.executed != stored.executed:
        problems = (
            *problems,
            "other asserts ran, or other papers were read, than for the certificate",
        )
    certified = stored.executed is not None
    if certified and verdict.passed and stored.isolation != verdict.isolation:
        problems = (*problems, f"the certificate says it was judged '{stored.isolation}'")
    if certified and verdict.passed and set(stored.proofs) != {p.name for p in verdict.proofs}:
        problems = (*problems, "the certificate's proofs are not those it passes with")
    if certified:
        odd = [key for key in _GROUND if stored.ground.get(key) != ground.get(key)]
        problems = (*problems, *(_GROUND[key] for key in odd))
    return Verified(verdict=verdict, certified=certified, problems=problems)


def stored_map(store: RunStore, thread: str, key: str) -> Mapping[str, Json]:
    """A map of the job a thread was started with.

    Raises:
        ThreadError: there is no such thread.
    """
    found = (store.read_file(thread, JOB) or {}).get(key)
    if not isinstance(found, Mapping):
        raise ThreadError(f"thread '{thread}' is unknown. See which there are with --list.")
    return found


def refuse_taken(store: RunStore, thread: str) -> None:
    """Before anything is asked: a thread id is used once.

    Raises:
        ThreadError: the thread is there already.
    """
    if store.read_file(thread, JOB) is not None:
        raise ThreadError(
            f"thread '{thread}' is there already. Say --continue {thread}, or choose another "
            "--thread."
        )


def refuse_ended(store: RunStore, thread: str) -> None:
    """Before anything is asked: what has ended or is driven elsewhere cannot go on.

    Raises:
        ThreadError: one of the two, or unknown.
    """
    driver = store.driver(thread)
    if driver is not None:
        raise ThreadError(f"thread '{thread}' is driven by {driver}. Wait for it, or stop it.")
    at = standing(store, thread)
    if not at.next and at.outcome and _is_recorded(store, thread, at.outcome):
        raise ThreadError(
            f"thread '{thread}' has ended ({at.outcome}): nothing to continue. See it with "
            f"--show {thread}."
        )


def _is_recorded(store: RunStore, thread: str, outcome: str) -> bool:
    """A run killed between its last node and its record goes on, to write the record."""
    try:
        return store.read_record(thread).get("outcome") == outcome
    except ThreadError:
        return False


def _proofs_of(certificate: Mapping[str, Json]) -> tuple[str, ...]:
    proofs = certificate.get("proofs")
    entries = proofs if isinstance(proofs, list) else []
    return tuple(str(entry.get("name")) for entry in entries if isinstance(entry, dict))


def _problems(
    thread: str, certificate: Mapping[str, Json], task: Task, job: Mapping[str, Json] | None
) -> list[str]:
    answer = str(certificate.get("answer") or "")
    found = []
    if hashlib.sha256(answer.encode("utf-8", "replace")).hexdigest() != certificate.get(
        "answer_hash"
    ):
        found.append("the certificate's answer is not the one it was written for")
    if tasks.test_hash(task) != certificate.get("test_hash"):
        found.append("the certificate's tests are not the ones it was written for")
    elif job is not None and job.get("test_hash") != certificate.get("test_hash"):
        found.append("the certificate's tests are not those of the run")
    if certificate.get("thread") != thread or certificate.get("kind") != task.kind:
        found.append("the certificate is of another run")
    for name in ("task", "task_hash"):
        if job is not None and job.get(name) != certificate.get(name):
            found.append(f"the certificate's {name} is not that of the run")
    return found


def _stored(
    thread: str,
    fields: Mapping[str, Json],
    task: Task,
    *,
    executed: tuple[str, ...] | None,
    problems: tuple[str, ...],
) -> Stored:
    answer = str(fields.get("answer") or "")
    if not answer:
        raise ThreadError(f"thread '{thread}' holds no answer to judge. See --show {thread}.")
    digest = str(fields.get("answer_digest") or "")
    return Stored(task=task, answer=answer, digest=digest, executed=executed, problems=problems)


def _map(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
