"""Output tokens of SEARCH/REPLACE blocks against whole files, on the same twenty edits.

The edits change one statement each in twenty modules of
this package, 60 to 300 lines long, with two lines of context as models give them. Both replies go
through `edits_from_reply` and must give the same bytes. Tokens are counted by the embedded model's
own tokenizer; without it, by characters / 4, and the figures say so.
"""

from collections.abc import Callable
from pathlib import Path

from agent_loop.edits import edits_from_reply
from agent_loop.errors import ModelUnavailable
from agent_loop.models.embedded import weights_file
from agent_loop.models.embedded.loading import load_runtime
from benchmarks.row import Row, halves

EDITS = 20
PACKAGE = Path(__file__).parent.parent / "agent_loop"


def counter() -> tuple[str, Callable[[str], int]]:
    try:
        runtime = load_runtime(weights_file("smollm2-135m"), n_ctx=512, threads=1)
    except ModelUnavailable:
        return "characters / 4", lambda text: len(text) // 4
    return "smollm2-135m", lambda text: len(runtime.tokenize(text))


def edits() -> list[tuple[str, str, list[str], list[str]]]:
    """(path, text, lines searched, lines instead) of twenty modules, spread over the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        returns = [
            n for n, line in enumerate(lines) if line.startswith("        return ") and n > 2
        ]
        if not 60 <= len(lines) <= 300 or not returns:
            continue
        at = returns[len(returns) // 2]
        search = lines[at - 2 : at + 1]
        if text.count("\n".join(search)) == 1 and "`" not in text:
            instead = [*search[:2], search[2].replace("return ", "return None or ")]
            found.append((path.relative_to(PACKAGE.parent).as_posix(), text, search, instead))
    step = len(found) / EDITS
    return [found[int(n * step)] for n in range(EDITS)]


def replies(path: str, text: str, search: list[str], instead: list[str]) -> tuple[str, str]:
    old, new = "\n".join(search), "\n".join(instead)
    block = f"{path}\n```python\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"
    whole = f"{path}\n```python\n{text.replace(old, new)}```\n"
    return block, whole


def edit_tokens_row() -> Row:
    unit, count = counter()
    blocks, wholes = [], []
    for path, text, search, instead in edits():
        block, whole = replies(path, text, search, instead)
        if _applied(path, text, block) != _applied(path, text, whole):
            raise RuntimeError(f"{path}: the two replies give different files")
        blocks.append(count(block))
        wholes.append(count(whole))
    return Row(
        what=f"output tokens of {EDITS} edits, SEARCH/REPLACE",
        against="whole files, same edits",
        goal=0.2,
        unit="tokens",
        ours=sum(blocks),
        theirs=sum(wholes),
        spread=halves(blocks, wholes),
        more={"counted by": unit},
    )


def _applied(path: str, text: str, reply: str) -> object:
    before = {path: text.encode()}
    found = edits_from_reply(reply, before, format="auto", finish="stop", protected=lambda _: False)
    return found.files
