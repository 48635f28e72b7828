"""The toolset `structured`: view, search, str_replace, create, run_tests, submit."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_loop.edits.textfile import NotText, TextFile
from agent_loop.episode.tools.bash import said
from agent_loop.episode.tools.boxes import ROOT
from agent_loop.episode.tools.container import Container
from agent_loop.episode.tools.harvest import SKIPPED
from agent_loop.episode.tools.inside import source
from agent_loop.episode.tools.replacing import fitted, numbered, replaced, unparsable
from agent_loop.episode.tools.shown import cut
from agent_loop.episode.tools.specs import STRUCTURED, SUBMIT, BadCall
from agent_loop.episode.tools.toolbox import Done, Tools
from agent_loop.ports import Clock, ToolSpec

SEARCH_S = 20.0
SEARCH_HITS = 100
READ_ONLY = "Read-only file system"
NO_FILE = "No such file or directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """How the project's tests are run."""

    command: str
    """A shell line; what is to be tested is put behind it."""
    selection: str = ""
    """What is tested where the model names nothing."""
    takes_ids: bool = True
    wall_s: float = 120.0


class StructuredTools(Tools):
    """Tools for models that do better with a few narrow ones."""

    def __init__(
        self,
        container: Container,
        clock: Clock,
        *,
        tests: Suite,
        python: str,
        shell: str = "/bin/bash",
    ) -> None:
        """`python` is the image's interpreter."""
        super().__init__(container, clock, shell=shell, command_s=tests.wall_s)
        self._tests = tests
        self._python = python

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return STRUCTURED

    def do(self, name: str, given: Mapping[str, Any]) -> Done:
        if name == SUBMIT:
            return Done(text="submitted", submitted=True)
        if name == "search":
            return self._search(given["pattern"], given.get("path", "."))
        if name == "run_tests":
            return self._run_tests(given.get("tests", ""))
        path = _relative(given["path"])
        if name == "view":
            return self._view(path, given.get("start", 1), given.get("end"))
        if name == "str_replace":
            return self._str_replace(path, given["old"], given["new"])
        return self._create(path, given["content"])

    # --- looking ---

    def _view(self, path: str, start: int, end: int | None) -> Done:
        data, problem = self.container.read(path)
        if problem == "it is a folder":
            return self._folder(path)
        if problem:
            raise BadCall(f"view: {path}: {problem}.")
        try:
            file = TextFile.read(data)
        except NotText as problem_of_text:
            raise BadCall(f"view: {path}: {problem_of_text}.") from None
        last = len(file.lines) if end is None else min(end, len(file.lines))
        if not file.lines:
            return Done(text=f"{path} is empty.")
        if start < 1 or start > last:
            raise BadCall(
                f"view: {path} has {len(file.lines)} lines, so there is nothing from {start} to "
                f"{last if end is None else end}."
            )
        marks = " (CRLF line ends)" if file.usual_end == "\r\n" else ""
        head = f"{path}, lines {start} to {last} of {len(file.lines)}{marks}:\n"
        text, shorter = cut(numbered(file.lines, start - 1, last), self.most_chars - len(head))
        return Done(text=head + text, cut=shorter)

    def _folder(self, path: str) -> Done:
        names, more, problem = self.container.names(path)
        if problem:
            raise BadCall(f"view: {path}: {problem}.")
        ends = "\n[... more names left out ...]" if more else ""
        text, shorter = cut("\n".join(names) or "(empty)", self.most_chars - 100)
        return Done(text=f"{text}{ends}", cut=more or shorter)

    def _search(self, pattern: str, path: str) -> Done:
        where = _relative(path)
        request = [pattern, where, str(SEARCH_HITS), ROOT, ",".join(SKIPPED)]
        ran = self.run(
            [self._python, "-I", "-S", "-B", "-c", source("finder"), *request], most_s=SEARCH_S
        )
        if ran.why == "time":
            raise BadCall(f"search: not finished after {ran.seconds:.0f} s. Use a simpler pattern.")
        if ran.code == 0 and not ran.total:
            return Done(text="No line matches.")
        return said(ran, self.most_chars)

    # --- changing ---

    def _str_replace(self, path: str, old: str, new: str) -> Done:
        self._refuse_protected("str_replace", path)
        data, problem = self.container.read(path)
        if problem:
            raise BadCall(f"str_replace: {path}: {problem}.")
        written, shown = replaced(path, data, old, new)
        self._write("str_replace", path, written)
        return Done(text=f"{path} now reads:\n{shown}")

    def _create(self, path: str, content: str) -> Done:
        self._refuse_protected("create", path)
        data, problem = self.container.read(path)
        if problem and problem != NO_FILE:
            raise BadCall(f"create: {path}: {problem}.")
        written = fitted(None if problem else data, content)
        self._write("create", path, written)
        lines = written.count(b"\n") + (0 if written.endswith(b"\n") or not written else 1)
        return Done(text=f"{path} written, {lines} lines.{unparsable(path, written)}")

    def _refuse_protected(self, tool: str, path: str) -> None:
        """The same words as the container's own, for files that do not exist yet, too."""
        if self.container.protected(path):
            raise BadCall(f"{tool}: {path}: {READ_ONLY}. Tests and configuration are not yours.")

    def _write(self, tool: str, path: str, data: bytes) -> None:
        if problem := self.container.write(path, data):
            raise BadCall(f"{tool}: {path}: {problem}. Nothing was changed.")

    def _run_tests(self, tests: str) -> Done:
        chosen = self._tests.selection
        if tests.strip():
            if not self._tests.takes_ids:
                raise BadCall("run_tests: this project's tests can only be run all together.")
            try:
                chosen = shlex.join(shlex.split(tests))
            except ValueError as problem:
                raise BadCall(f"run_tests: {problem} in 'tests'.") from None
        line = f"{self._tests.command} {chosen}".strip()
        return said(self.run([self.shell, "-c", line], most_s=self._tests.wall_s), self.most_chars)


def _relative(path: str) -> str:
    """A path of the project as tools take it: models also write absolute ones."""
    plain = path.strip()
    if plain == ROOT or plain.startswith(f"{ROOT}/"):
        plain = plain[len(ROOT) :].lstrip("/") or "."
    parts = [part for part in plain.split("/") if part not in ("", ".")]
    if plain.startswith("/") or ".." in parts:
        raise BadCall(f"{path[:200]!r} is not in the project. Paths begin at the project's folder.")
    return "/".join(parts) or "."
