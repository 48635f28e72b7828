"""`ports.Check` for project tasks: replies are edits of the untouched project, judged by a gate."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent_loop.checks.project.bench import Bench, Memory, Reproduced, set_up
from agent_loop.checks.project.lanes import Lanes
from agent_loop.checks.project.run import Runner
from agent_loop.checks.project.tree import Base
from agent_loop.config import CheckSettings
from agent_loop.edits import digest, edits_from_reply
from agent_loop.errors import ReplyError, StoreFault
from agent_loop.ports import Candidate, Clock, Json, Limits, Reply, Sandbox, Verdict
from agent_loop.tasks import ProjectTask
from agent_loop.workspace import FileState, Tree, copy_project, states_of, write_patch
from agent_loop.workspace.patchread import BadPatch, applied

NOT_APPLIED = "not applied"
TREE = "tree"
"""The format of an episode's answer: no reply of a model, but the patch of its working copy."""
NOTE = "# "
WARM = 3
"""Containers per copy that one check uses, started while a model thinks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a project is judged."""

    folder: Path
    """Of the run: the untouched copy (`workspace`), the red run and the mounted copies."""
    image: Callable[[], str]
    """Builds the test image if need be, and gives its id."""
    python: str
    """The image's interpreter."""
    limits: Limits


class ProjectCheck:
    """One project task in one run."""

    def __init__(
        self,
        task: ProjectTask,
        *,
        place: Place,
        sandbox: Sandbox,
        settings: CheckSettings,
        clock: Clock,
        edit_format: str = "auto",
    ) -> None:
        self._task = task
        self._place = place
        self._sandbox = sandbox
        self._wall_s = settings.project_s
        self._clock = clock
        self._edit_format = edit_format
        self._bench: Bench | None = None
        self._changes: dict[str, Mapping[str, bytes | None]] = {}

    # --- before the first model ---

    def reproduce(self) -> Reproduced:
        """Copy the project, build its image, run its tests: done once per run.

        Raises:
            UserError: the project cannot be copied or judged as the task has it.
            FaultError: the sandbox failed.
        """
        return self._ready().reproduced

    @property
    def files(self) -> Tree:
        """The untouched project."""
        return self._ready().files

    def protected(self, path: str) -> bool:
        """May a patch not touch this path?"""
        return self._ready().protection(path)

    # --- ports.Check ---

    def parse(self, reply: Reply) -> Candidate:
        bench = self._ready()
        if self._edit_format == TREE:
            return self._of_tree(reply, bench)
        changes = edits_from_reply(
            reply.text,
            bench.files,
            format=self._edit_format,
            finish=reply.finish,
            protected=bench.protection,
            symlinks=bench.files.symlinks,
        )
        notes = (*changes.notes, *(f"{NOT_APPLIED}: {text}" for text in changes.problems))
        notes += tuple(f"{NOT_APPLIED}, protected: {path}" for path in changes.ignored)
        if not changes.files:
            raise ReplyError("Nothing would change. " + " ".join(notes))
        patch = self._patch(bench.files, changes.files, changes.executable)
        answer = _text(patch)
        self._changes[changes.digest] = changes.files
        return Candidate(answer=answer, digest=changes.digest, notes=notes)

    def judge(self, candidate: Candidate) -> Verdict:
        bench = self._ready()
        # Containers for the next check would start on the cores that this one needs.
        bench.lanes.warm(0)
        started = self._clock.monotonic()
        files = self._changes.get(candidate.digest) or _files_of(candidate.answer, bench.files)
        verdict = with_misses(bench.judge.judge(files), candidate.notes)
        return replace(verdict, seconds=self._clock.monotonic() - started)

    def prepare(self) -> None:
        if self._bench is not None:
            self._bench.lanes.warm(WARM)

    def close(self) -> None:
        if self._bench is None and not self._memory.exists:
            # Nothing came of it: leave nothing.
            shutil.rmtree(self._root, ignore_errors=True)
        self._bench = None
        shutil.rmtree(self._copies, ignore_errors=True)

    def evidence(self) -> Mapping[str, Json]:
        """For the certificate: what of this check the task and the configuration do not say."""
        bench = self._ready()
        return {
            "image": bench.image,
            "tree_hash": bench.base.hash(),
            "test_tree_hash": bench.base.hash(bench.protection),
            "wanted": list(bench.reproduced.wanted),
            "flaky": list(bench.reproduced.flaky),
        }

    # --- inner ---

    def _of_tree(self, reply: Reply, bench: Bench) -> Candidate:
        """The working copy that an episode left, given as a patch under lines of notes."""
        notes, patch = notes_of(reply.text)
        if reply.finish == "length":
            raise ReplyError("The patch of the working copy is too long to be kept.")
        try:
            changed = _files_of(patch, bench.files)
        except StoreFault as problem:
            raise ReplyError(f"The working copy could not be read: {problem}") from problem
        files = {path: data for path, data in changed.items() if not bench.protection(path)}
        ignored = sorted(set(changed) - set(files))
        notes += tuple(f"{NOT_APPLIED}, protected: {path}" for path in ignored)
        if not files:
            raise ReplyError(
                "Nothing in the working copy was changed that counts. " + " ".join(notes)
            )
        answer = patch if not ignored else _text(self._patch(bench.files, files, frozenset()))
        key = digest(files)
        self._changes[key] = files
        return Candidate(answer=answer, digest=key, notes=notes)

    @property
    def _copies(self) -> Path:
        return self._place.folder / "copies"

    def _patch(
        self, files: Tree, changed: Mapping[str, bytes | None], executable: frozenset[str]
    ) -> bytes:
        before = states_of(files, changed)
        after = {
            path: FileState(
                data=data,
                executable=before[path].executable if path in before else path in executable,
            )
            for path, data in changed.items()
            if data is not None
        }
        return write_patch(before, after)

    def _ready(self) -> Bench:
        if self._bench is None:
            self._bench = self._set_up()
        return self._bench

    @property
    def _root(self) -> Path:
        return self._place.folder / "workspace"

    @property
    def _memory(self) -> Memory:
        return Memory(self._place.folder / "reproduced.json")

    def _set_up(self) -> Bench:
        root, memory = self._root, self._memory
        if not memory.exists or not root.exists():
            copy_project(self._task.project, root)
        image = self._place.image()
        base = Base(root)
        runner = Runner(sandbox=self._sandbox, clock=self._clock)
        limits = replace(self._place.limits, life_s=self._wall_s + 60.0)
        lanes = Lanes(
            runner, base, self._copies, image=image, limits=limits, python=self._place.python
        )
        return set_up(
            self._task, base=base, lanes=lanes, image=image, memory=memory, wall_s=self._wall_s
        )


def notes_of(text: str) -> tuple[tuple[str, ...], str]:
    """(notes, patch) of what an episode left: lines that begin with `#`, then the patch."""
    notes: list[str] = []
    while text.startswith(NOTE):
        line, _, text = text.partition("\n")
        notes.append(line.removeprefix(NOTE))
    return tuple(notes), text


def with_misses(verdict: Verdict, notes: Sequence[str]) -> Verdict:
    """Tell the worker which parts of its reply were not there when the tests failed."""
    missed = [note for note in notes if note.startswith(NOT_APPLIED)]
    if verdict.passed or not missed:
        return verdict
    told = "Some of your edits were not applied:\n" + "".join(f"- {one}\n" for one in missed)
    return replace(verdict, feedback=f"{told[:6000]}\n{verdict.feedback}"[:16_000])


def _text(patch: bytes) -> str:
    """Raises ReplyError where the patch would not come back from a record byte for byte."""
    try:
        return patch.decode("utf-8")
    except UnicodeDecodeError:
        raise ReplyError(
            "A line that you change, or one beside it, is not UTF-8, and its patch could not be "
            "kept. Change other lines."
        ) from None


def _files_of(answer: str, files: Tree) -> Mapping[str, bytes | None]:
    """The files of a stored patch.

    Raises:
        StoreFault: the patch does not fit the project that was copied.
    """
    before = {path: (state.data, state.executable) for path, state in states_of(files).items()}
    try:
        after = applied(answer.encode(), before)
    except BadPatch as problem:
        raise StoreFault(
            f"the stored patch does not fit the copied project: {problem}"
        ) from problem
    gone = {path: None for path in before if path not in after}
    changed = {
        path: data for path, (data, _) in after.items() if before.get(path, (None,))[0] != data
    }
    return {**gone, **changed}
