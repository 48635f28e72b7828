"""Whole files in fenced blocks."""

from collections.abc import Sequence

from agent_loop.edits import pysource
from agent_loop.edits.elision import placeholder
from agent_loop.edits.fences import Block, blocks_of
from agent_loop.edits.labels import label_of
from agent_loop.edits.pathline import place_above, place_in_comment, place_in_info
from agent_loop.edits.proposals import Place, Whole
from agent_loop.edits.search_replace import is_mark
from agent_loop.edits.targets import Known
from agent_loop.errors import ReplyError

MAX_BLOCKS = 200
_NOT_FILES = frozenset(
    "bash sh shell zsh console terminal output out log diff patch cmd powershell pycon".split()  # noqa: SIM905
)
_SUFFIXES = {
    "python": (".py",), "py": (".py",), "python3": (".py",), "javascript": (".js", ".mjs", ".cjs"),
    "js": (".js", ".mjs", ".cjs"), "typescript": (".ts",), "ts": (".ts",), "json": (".json",),
    "yaml": (".yaml", ".yml"), "toml": (".toml",), "html": (".html",), "css": (".css",),
}  # fmt: skip


def parse(text: str, known: Known) -> tuple[list[Whole], list[str]]:
    """The whole files of a reply, and notes on the blocks that are none."""
    named: list[tuple[Block, Whole]] = []
    nameless: list[Block] = []
    blocks = blocks_of(text)
    if len(blocks) > MAX_BLOCKS:
        raise ReplyError(f"Your reply holds {len(blocks)} blocks; send the few that matter.")
    for number, block in enumerate(blocks, start=1):
        if any(map(is_mark, block.body.split("\n"))):
            continue
        found = _named(block, f"block {number}", known)
        if found is not None:
            named.append((block, found))
        elif block.language not in _NOT_FILES and block.body.strip():
            nameless.append(block)
    if not named:
        return _inferred(nameless, known)
    notes = [f"ignored a block at line {block.line} that names no file" for block in nameless]
    return _one_per_path(named, known), notes


def _named(block: Block, name: str, known: Known) -> Whole | None:
    lines = block.body.split("\n")
    place = place_in_info(block.info, known) if block.info else None
    if place is None and not (block.info and block.language in _NOT_FILES):
        place = place_above(block.lead, known)
        first = place_in_comment(lines[0], known)
        if first is not None and (place is None or place.path == first.path):
            place = first
            if not known.begins_with(place.path, lines[0]):
                lines = lines[1:]
    if place is None:
        return None
    if placeholder(lines):
        place = Place(path=place.path, unchanged=True, said=place.said)
    return Whole(place=place, lines=_body(lines), name=name, closed=block.closed)


def _body(lines: Sequence[str]) -> tuple[str, ...]:
    """An empty block is an empty file, not a file with one empty line."""
    return () if not any(line.strip() for line in lines) else tuple(lines)


def _one_per_path(named: list[tuple[Block, Whole]], known: Known) -> list[Whole]:
    """Of several texts for one file: not the old one; the first, unless a later is `fixed`."""
    chosen: dict[str | None, tuple[Whole, str]] = {}
    for block, whole in named:
        first = whole.lines[0] if whole.lines else ""
        label: str = label_of(block.lead, "", first)
        if _is_old_text(whole, known):
            label = "before"
        kept = chosen.get(whole.place.path)
        if kept is None or _beats(label, kept[1]):
            chosen[whole.place.path] = (whole, label)
    return [whole for whole, _ in chosen.values()]


def _beats(label: str, kept: str) -> bool:
    if kept == "before":
        return label != "before"
    return label == "after" and kept != "after"


def _is_old_text(whole: Whole, known: Known) -> bool:
    data = known.files.get(whole.place.path or "")
    if data is None:
        return False
    old = data.decode("utf-8", "replace").replace("\r", "").strip()
    return "\n".join(whole.lines).strip() == old


def _inferred(blocks: list[Block], known: Known) -> tuple[list[Whole], list[str]]:
    """One block and exactly one file that it can be."""
    if len(blocks) > 1:
        labelled = [
            block
            for block in blocks
            if label_of(block.lead, block.info, block.body.split("\n", 1)[0])
            not in {"before", "example"}
        ]
        blocks = labelled if len(labelled) == 1 else blocks
    if len(blocks) != 1:
        return [], []
    block = blocks[0]
    path = _only_file(block, known)
    if path is None:
        return [], []
    place = Place(path=path, said="")
    lines = block.body.split("\n")
    whole = Whole(place=place, lines=_body(lines), name="the block", closed=block.closed)
    return [whole], [f"the block names no file: took {path}, the only one it can be"]


def _only_file(block: Block, known: Known) -> str | None:
    suffixes = _SUFFIXES.get(block.language, ())
    allowed = [
        path
        for path in known.files
        if not known.protected(path) and (not suffixes or path.endswith(suffixes))
    ]
    if len(allowed) == 1:
        return allowed[0]
    fitting = [path for path in allowed if path.endswith(".py")]
    names = _defined(block.body)
    if not names:
        return None
    needles = [name.encode() for name in names]
    fitting = [path for path in fitting if all(name in known.files[path] for name in needles)]
    matching = [
        path
        for path in fitting[:20]
        if names <= _defined(known.files[path].decode("utf-8", "replace"))
    ]
    return matching[0] if len(matching) == 1 else None


def _defined(text: str) -> frozenset[str]:
    tree = pysource.parse(text)
    return frozenset() if isinstance(tree, pysource.Broken) else pysource.defined_names(tree)
