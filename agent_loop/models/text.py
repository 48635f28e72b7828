"""What a model wrote, made safe to keep: no reasoning, no lone surrogates, no endless length."""

import re

TEXT_CHARS = 400_000
"""A longer answer is cut and may not be applied; the largest file a worker rewrites fits."""
REASONING_CHARS = 200_000

_TAG = re.compile(
    r"<\s*(?P<a>/?)\s*(?:think|thinking|thought|reasoning)\s*>|◁(?P<b>/?)think▷|\[(?P<c>/?)THINK\]",
    re.IGNORECASE,
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace what UTF-8, JSON or SQLite refuse: lone surrogates and NUL."""
    if not _UNFIT.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return paired.replace("\x00", "\ufffd")


def bounded(text: str, limit: int) -> str:
    """At most `limit` characters, the middle taken out behind a marker that says how much."""
    if len(text) <= limit:
        return text
    marker = f"\n[... {len(text) - limit} of {len(text)} characters left out ...]\n"
    room = max(0, limit - len(marker))
    head = room - room // 2
    return text[:head] + marker + text[len(text) - room // 2 :]


def repeats(text: str, *, times: int = 25, longest: int = 40) -> str:
    """The piece that `text` ends with over and over, or nothing.

    Servers stop a reply at 30 equal tokens in a row (older ones without saying so); a token
    is at most `longest` characters, and the last one may have been cut.
    """
    for size in range(1, longest + 1):
        piece = text[-size:]
        if len(piece) == size and text.endswith(piece * times):
            return piece
    return ""


class ReasoningFilter:
    """Parts a streamed reply into answer and reasoning, line by line.

    A tag in a fenced block, in backticks or in quotes is code or talk about tags and stays.
    One closing tag closes all open ones; one without an opening makes reasoning of what came
    before it, because chat templates may have written the opening tag into the prompt.
    """

    def __init__(self) -> None:
        self._tail = ""
        self._answer: list[str] = []
        self._hidden: list[str] = []
        self._mark = 0
        self._inside = False
        self._fence = ""

    def feed(self, piece: str) -> str:
        """Take more text; returns what of it a reader may see by now."""
        *lines, self._tail = (self._tail + piece).split("\n")
        return "".join([self._line(line + "\n") for line in lines])

    def finish(self) -> str:
        """Take the last, unended line; returns what of it a reader may see."""
        tail, self._tail = self._tail, ""
        return self._line(tail) if tail else ""

    @property
    def answer(self) -> str:
        return "".join(self._answer)

    @property
    def reasoning(self) -> str:
        return "".join(self._hidden)

    def _line(self, line: str) -> str:
        if self._fence:
            if not _closes_alone(line):
                self._leave_fence(line)
                return self._show(line)
            self._fence = ""
        return self._tagged(line)

    def _tagged(self, line: str) -> str:
        shown, at = "", 0
        for tag in _TAG.finditer(line):
            if line[max(0, tag.start() - 1) : tag.start()] in {"`", '"', "'"}:
                continue
            shown += self._put(line[at : tag.start()])
            at = tag.end()
            self._turn(closing=any(tag.groups()))
        shown += self._put(line[at:])
        fence = _FENCE.match(shown)
        if fence and not self._inside:
            self._fence = fence[1]
        return shown

    def _turn(self, *, closing: bool) -> None:
        if not closing:
            if not self._inside:
                self._mark = len(self._answer)
            self._inside = True
        elif self._inside:
            self._inside = False
        else:
            self._hidden += self._answer[self._mark :]
            del self._answer[self._mark :]

    def _put(self, text: str) -> str:
        if not self._inside:
            return self._show(text)
        self._hidden.append(text)
        return ""

    def _show(self, text: str) -> str:
        self._answer.append(text)
        return text

    def _leave_fence(self, line: str) -> None:
        end = _FENCE.match(line)
        if end and end[1].startswith(self._fence) and not line[end.end() :].strip():
            self._fence = ""


def _closes_alone(line: str) -> bool:
    tag = _TAG.fullmatch(line.strip())
    return tag is not None and any(tag.groups())
