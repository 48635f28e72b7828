"""Fenced blocks of a reply, as small models really write them.

CommonMark, and beyond it: fences inside lists, fences after a word on the same line, a fence left
open before the next one opens, a fence closed by prose, a block inside a ```markdown block.
Every step looks at each line once.
"""

from dataclasses import dataclass

_TICKS = ("```", "~~~")
_WRAPPERS = frozenset({"markdown", "md"})
LANGUAGES = frozenset(
    """
    python py python3 python2 pycon py3 ipython pyi cython sage
    javascript js mjs cjs jsx typescript ts tsx json jsonc json5 yaml yml toml ini cfg xml html css
    bash sh shell zsh console terminal cmd bat powershell ps1 fish
    c cpp c++ h hpp csharp cs c# java kotlin scala swift go golang rust rs ruby rb php perl lua r
    sql text txt plain plaintext output out log diff patch udiff markdown md rst tex latex
    makefile make dockerfile docker code search replace searchreplace search/replace
    search_replace tool_code edit block none vue svelte dart elixir haskell julia matlab
    """.split()  # noqa: SIM905 (a table of words reads better than a list)
)
"""Words that name a language (or a kind of block) on a fence line, never a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block."""

    info: str
    """What stands behind the opening ticks: a language, a path, both or nothing."""
    body: str
    """Its text, lines joined by newlines, indentation of the fence taken off."""
    lead: str
    """The prose between the block before and this one; at most its last 400 characters."""
    closed: bool
    line: int
    """Line of the opening fence, from 1."""
    end: int
    """Line of the closing fence; one past the last line where it is missing."""

    @property
    def language(self) -> str:
        words = self.info.lower().replace("{", " ").replace("}", " ").replace(":", " ").split()
        return words[0].lstrip(".") if words else ""


@dataclass(frozen=True, slots=True)
class _Fence:
    indent: int
    char: str
    length: int
    info: str


def lines_of(text: str) -> list[str]:
    """Lines split at newlines only: other separators belong to the text (FACTS 11 f)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def blocks_of(text: str) -> list[Block]:
    """Every fenced block of a text, in order."""
    scan = _Scan(lines_of(text))
    scan.run()
    return scan.blocks


def _fence(line: str) -> _Fence | None:
    """The fence that a line opens or closes, if it is one."""
    rest = line.lstrip(" \t")
    if not rest.startswith(_TICKS):
        return None
    char = rest[0]
    info = rest.lstrip(char)
    if char in info:
        return None
    return _Fence(len(line) - len(rest), char, len(rest) - len(info), info.strip())


def _late_fence(line: str) -> tuple[str, _Fence] | None:
    """`Here is the code: ```python`: a fence behind words."""
    at = line.find("```")
    if at <= 0:
        return None
    info = line[at:].lstrip("`")
    if "`" in info or (info.strip() and info.strip().lower() not in LANGUAGES):
        return None
    return line[:at], _Fence(0, "`", len(line) - at - len(info), info.strip())


def _one_liner(line: str) -> tuple[str, str] | None:
    """```python def f(x): return x```: a whole block on one line -> (language, code)."""
    rest = line.strip()
    if not (rest.startswith("```") and rest.endswith("```") and len(rest) > 8):
        return None
    inner = rest[3:-3].strip()
    if not inner or "`" in inner:
        return None
    first, _, others = inner.partition(" ")
    return (first, others.strip()) if first.lower() in LANGUAGES and others else ("", inner)


def _could_close(fence: _Fence, opened: _Fence) -> bool:
    """Deeper fences stand in a docstring, shorter or other ones are text."""
    return (
        fence.char == opened.char
        and fence.length >= opened.length
        and fence.indent <= opened.indent + 3
    )


def names_language(info: str) -> bool:
    """The info text begins with a language, or could be a path."""
    first = info.lower().replace("{", "").replace("}", "").lstrip(".").split(":")[0].split()
    word = first[0] if first else ""
    return word in LANGUAGES or "/" in word or ("." in word.strip(".") and len(info.split()) == 1)


class _Scan:
    """One pass over the lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.blocks: list[Block] = []
        self.prose: list[str] = []
        self.body: list[str] = []
        self.open: _Fence | None = None
        self.opened_at = 0
        self.wrapped = False

    def run(self) -> None:
        for number, line in enumerate(self.lines, start=1):
            if self.open is None:
                self._outside(number, line)
            else:
                self._inside(number, line, self.open)
        if self.open is not None:
            self._finish(self.open, len(self.lines) + 1, closed=self._closed_on_last_line())

    def _outside(self, number: int, line: str) -> None:
        fence = _fence(line)
        if fence is not None:
            if self.wrapped and not fence.info:
                self.wrapped = False
                return
            self._begin(number, fence)
            return
        single = _one_liner(line)
        if single is not None:
            opened = _Fence(0, "`", 3, single[0])
            self._begin(number, opened)
            self.body.append(single[1])
            self._finish(opened, number, closed=True)
            return
        late = _late_fence(line)
        if late is not None:
            self.prose.append(late[0])
            self._begin(number, late[1])
            return
        self.prose.append(line)

    def _inside(self, number: int, line: str, opened: _Fence) -> None:
        fence = _fence(line)
        if fence is None or not _could_close(fence, opened):
            self.body.append(line)
        elif not fence.info:
            self._finish(opened, number, closed=True)
        elif not names_language(fence.info):
            self._finish(opened, number, closed=True)
            self.prose.append(fence.info)
        elif opened.info.lower() in _WRAPPERS and not any(map(str.strip, self.body)):
            self._unwrap(number, fence)
        elif opened.info.lower() in _WRAPPERS:
            self.prose.extend(self.body)
            self._unwrap(number, fence)
        else:
            self._finish(opened, number, closed=False)
            self._begin(number, fence)

    def _unwrap(self, number: int, fence: _Fence) -> None:
        self.wrapped = True
        self.open = None
        self._begin(number, fence)

    def _begin(self, number: int, fence: _Fence) -> None:
        self.open, self.opened_at, self.body = fence, number, []

    def _closed_on_last_line(self) -> bool:
        """`    return x``` ` at the very end of a reply."""
        while self.body and not self.body[-1].strip():
            self.body.pop()
        if self.body and self.body[-1].rstrip().endswith("```"):
            self.body[-1] = self.body[-1].rstrip().rstrip("`")
            return True
        return False

    def _finish(self, opened: _Fence, end: int, *, closed: bool) -> None:
        self.blocks.append(
            Block(
                info=opened.info,
                body="\n".join(_outdent(line, opened.indent) for line in self.body),
                lead="\n".join(self.prose)[-400:],
                closed=closed,
                line=self.opened_at,
                end=end,
            )
        )
        self.open, self.prose, self.body = None, [], []


def _outdent(line: str, width: int) -> str:
    """Take at most `width` leading blanks off."""
    cut = 0
    while cut < width and cut < len(line) and line[cut] in " \t":
        cut += 1
    return line[cut:]
