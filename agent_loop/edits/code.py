"""The code in the reply to a code task.

The rule, when a reply holds several blocks:

1. Blocks that are Python and define a function or a class are candidates. Blocks that hold only
   tests, calls or output are not; nor are blocks labelled example, test, usage or alternative
   while another candidate is there.
2. Blocks labelled as the old text (before, original, old, wrong …) lose against any other.
3. The first candidate is taken. A later one that defines other names is added to it. A later one
   that defines the same names replaces it if its label says fixed, final, corrected …; else it is
   left out.

Nothing in the text is run, and the code taken is left whole: a check decides, not this module.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent_loop.edits import pysource
from agent_loop.edits.degenerate import refuse_degenerate
from agent_loop.edits.fences import Block, blocks_of, lines_of
from agent_loop.edits.labels import Label, label_of
from agent_loop.edits.loosejson import values_in
from agent_loop.errors import ReplyError

MAX_BLOCKS = 100
MAX_CHARS = 128_000
"""No function is longer, and parsing can take time by the square of it."""
ASK_FOR_CODE = "Reply with the complete function in one ```python block and nothing else."
_STOP_TOKENS = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "</s>", "<end_of_turn>")
_JSON_KEYS = ("code", "solution", "answer", "python", "function", "content")
_SHELL = frozenset({"bash", "sh", "shell", "zsh", "console", "terminal", "output", "diff", "patch"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Code out of a reply."""

    code: str
    """Python text that parses, newline at its end."""
    notes: tuple[str, ...] = ()
    """What was recovered, chosen or left out."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    tree: ast.Module
    label: Label
    names: frozenset[str]
    notes: tuple[str, ...]


def code_from_reply(text: str) -> Found:
    """Take the Python code out of a reply to a code task.

    Raises:
        ReplyError: no usable code; one short line says what to send instead.
    """
    text = _clean(text)
    refuse_degenerate(text)
    if len(text) > MAX_CHARS:
        raise ReplyError(f"Your reply was longer than {MAX_CHARS} characters. Send less.")
    blocks = blocks_of(text)
    if len(blocks) > MAX_BLOCKS:
        raise ReplyError(f"Your reply holds {len(blocks)} blocks. {ASK_FOR_CODE}")
    blocks = _rejoined(blocks, text)
    candidates = [found for block in blocks if (found := _candidate(block)) is not None]
    if candidates:
        return _choose(candidates, _preparations(blocks), len(blocks))
    plain = None if _any_code_block(blocks) else _plain_code(text) or _code_in_json(text)
    if plain is not None:
        return plain
    raise ReplyError(_why_nothing(text, blocks))


def _clean(text: str) -> str:
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").rstrip()
    # Half of a surrogate pair cannot be written to any file.
    text = text.encode("utf-8", "replace").decode("utf-8")
    while text.endswith(_STOP_TOKENS):
        text = text[: text.rfind("<")].rstrip()
    return text


def _rejoined(blocks: list[Block], text: str) -> list[Block]:
    """Put a block together again whose docstring holds fences of its own."""
    lines, kept, at = lines_of(text), list[Block](), 0
    while at < len(blocks):
        block, used = blocks[at], 1
        if _may_hold_fences(block) and not pysource.is_python(block.body):
            for more, end in _later_ends(blocks[at + 1 : at + 4]):
                body = "\n".join(lines[block.line : end - 1])
                if pysource.is_python(body):
                    block, used = replace(block, body=body, end=end, closed=True), more + 1
                    break
        kept.append(block)
        at += used
    return kept


def _later_ends(blocks: list[Block]) -> Iterator[tuple[int, int]]:
    """Lines of later fences that could really be the end: (blocks swallowed, line)."""
    for number, block in enumerate(blocks, start=1):
        if not block.info:
            yield number, block.line
        yield number, block.end


def _may_hold_fences(block: Block) -> bool:
    return _looks_like_code(block) or '"""' in block.body or "'''" in block.body


def _candidate(block: Block) -> _Candidate | None:
    body, notes = block.body, () if block.closed else ("the code block was not closed",)
    if _is_diff(block):
        body = _new_file_of_diff(body)
        notes = (*notes, "took the added lines of a new-file diff")
    tree = pysource.parse(body)
    if not isinstance(tree, ast.Module):
        mended = pysource.mend(body)
        if mended is None:
            return None
        body, note = mended
        notes = (*notes, note)
        tree = pysource.parse(body)
    if not isinstance(tree, ast.Module) or not pysource.holds_definition(tree):
        return None
    first = next((line for line in body.split("\n") if line.strip()), "")
    label = label_of(block.lead, block.info, first)
    if pysource.only_tests(tree):
        label = "example"
    return _Candidate(body.strip("\n") + "\n", tree, label, pysource.defined_names(tree), notes)


def _is_diff(block: Block) -> bool:
    lines = block.body.split("\n", 40)
    return any(line.startswith("@@ ") for line in lines) or (
        lines[0].startswith(("--- ", "diff --git ")) and len(lines) > 1
    )


def _new_file_of_diff(body: str) -> str:
    """The new text of a diff that creates a file; empty for a diff against a text nobody has."""
    lines = body.split("\n")
    if any(line.startswith("-") and not line.startswith("---") for line in lines):
        return ""
    if not any(line.startswith(("--- /dev/null", "@@ -0,0")) for line in lines):
        return ""
    return "\n".join(line[1:] for line in lines if line.startswith("+") and line[:4] != "+++ ")


def _preparations(blocks: list[Block]) -> str:
    """Blocks before the first definition that hold only imports and literals."""
    found: list[str] = []
    for block in blocks:
        tree = pysource.parse(block.body)
        if not isinstance(tree, ast.Module) or pysource.holds_definition(tree):
            break
        if pysource.only_prepares(tree):
            found.append(block.body.strip("\n") + "\n\n")
    return "".join(found)


def _choose(candidates: list[_Candidate], preparations: str, blocks: int) -> Found:
    ranked: tuple[Label, ...] = ("before", "example")
    kept = candidates
    for label in ranked:
        kept = [one for one in kept if one.label != label] or kept
    chosen: list[_Candidate] = []
    for one in kept:
        known = frozenset().union(*(other.names for other in chosen))
        if not one.names & known:
            chosen.append(one)
        elif one.label == "after":
            chosen = [other for other in chosen if not other.names <= one.names]
            chosen.append(one)
    notes = [note for one in chosen for note in one.notes]
    if blocks > 1:
        at = ", ".join(str(candidates.index(one) + 1) for one in chosen)
        notes.append(f"{blocks} blocks, {len(candidates)} of them with code: took code {at}")
    return Found(code=preparations + "\n\n".join(one.text for one in chosen), notes=tuple(notes))


def _any_code_block(blocks: list[Block]) -> bool:
    return any(_looks_like_code(block) for block in blocks)


def _looks_like_code(block: Block) -> bool:
    return block.language not in _SHELL and any(
        pysource.starts_definition(line.lstrip()) for line in block.body.split("\n")
    )


def _plain_code(text: str) -> Found | None:
    """Code without any fence, prose around it or not."""
    lines = [line for line in lines_of(text) if not line.lstrip().startswith(("```", "~~~"))]
    start = next((n for n, line in enumerate(lines) if pysource.starts_code(line)), None)
    if start is None:
        return None
    body = "\n".join(lines[start:])
    tree = pysource.parse(body)
    if not isinstance(tree, ast.Module):
        mended = pysource.mend(body)
        if mended is None:
            return None
        body = mended[0]
        tree = pysource.parse(body)
    if not isinstance(tree, ast.Module) or not pysource.holds_definition(tree):
        return None
    return Found(code=body.strip("\n") + "\n", notes=("code without a fence",))


def _code_in_json(text: str) -> Found | None:
    """`{"code": "def f(x): ..."}`, from models that were trained to answer so."""
    for value, _, _ in values_in(text):
        for key in _JSON_KEYS:
            code = value.get(key) if isinstance(value, dict) else None
            if not isinstance(code, str):
                continue
            tree = pysource.parse(code)
            if isinstance(tree, ast.Module) and pysource.holds_definition(tree):
                return Found(code=code.strip("\n") + "\n", notes=("code inside JSON",))
    return None


def _why_nothing(text: str, blocks: list[Block]) -> str:
    for block in blocks:
        if _is_diff(block):
            return f"You sent a diff, but there is no file to change. {ASK_FOR_CODE}"
    for block in blocks:
        broken = pysource.parse(block.body)
        if _looks_like_code(block) and isinstance(broken, pysource.Broken):
            return _broken_code(block.body, broken, closed=block.closed)
    if any(pysource.starts_definition(line) for line in lines_of(text)):
        start = next(n for n, line in enumerate(lines_of(text)) if pysource.starts_definition(line))
        body = "\n".join(lines_of(text)[start:])
        broken = pysource.parse(body)
        if isinstance(broken, pysource.Broken):
            return _broken_code(body, broken, closed=True)
    if blocks:
        return f"Your reply defines no function. {ASK_FOR_CODE}"
    if text.rstrip().endswith(("?", "？")):
        return f"Nobody answers questions here. {ASK_FOR_CODE}"
    return f"Your reply holds no code. {ASK_FOR_CODE}"


def _broken_code(body: str, broken: pysource.Broken, *, closed: bool) -> str:
    lines = body.split("\n")
    shown = lines[broken.line - 1].strip()[:120] if 0 < broken.line <= len(lines) else ""
    cut = "" if closed else " The block was not closed: the reply may have been cut."
    return f"Your code does not parse: line {broken.line}: {broken.problem}: {shown!r}.{cut}"
