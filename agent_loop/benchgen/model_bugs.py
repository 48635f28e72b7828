"""Bugs that a model makes: one function rewritten with one subtle bug, then validated like all."""

import ast
import random
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agent_loop import syntax
from agent_loop.benchgen.bugs import Bug, Edit
from agent_loop.benchgen.ground import Ground
from agent_loop.edits import code_from_reply
from agent_loop.errors import ReplyError
from agent_loop.ports import Message, Model

PROMPT = """Below is one Python function of a library. Write it again with exactly one subtle bug.

The bug must change what the function does for some ordinary input. It must look like a mistake
that a careful programmer could make. Keep the name, the parameters and the formatting, and add no
comment. Answer with the whole function in one ```python block and nothing else.

```python
{source}```
"""
_LEAST_LINES, _MOST_LINES = 3, 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One function of the library."""

    path: str
    name: str
    start: int
    """Bytes, at the start of the line of `def`."""
    end: int
    text: str
    indent: str


def targets(path: str, text: bytes) -> Iterator[Target]:
    """Functions and methods of a size that a model can rewrite."""
    try:
        tree = syntax.parse(text)
    except (SyntaxError, ValueError):
        return
    starts = [0]
    for line in text.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for name, node in named_functions(tree):
        last = node.end_lineno or node.lineno
        if _LEAST_LINES <= last - node.lineno + 1 <= _MOST_LINES:
            start, end = starts[node.lineno - 1], min(starts[last], len(text))
            source = text[start:end].decode("utf-8", "replace")
            indent = source[: len(source) - len(source.lstrip())]
            yield Target(path=path, name=name, start=start, end=end, text=source, indent=indent)


def named_functions(
    node: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods of a module with their qualified names; inner ones are theirs."""
    for one in ast.iter_child_nodes(node):
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{one.name}", one
        elif isinstance(one, ast.ClassDef):
            yield from named_functions(one, f"{prefix}{one.name}.")


def read_bug(reply: str, target: Target) -> Bug:
    """The bug in a reply.

    Raises:
        ReplyError: no function, another one, other parameters, or no change.
    """
    code = code_from_reply(reply).code
    try:
        right = _only_function(textwrap.dedent(target.text))
        function = _only_function(code)
    except SyntaxError as error:
        raise ReplyError(f"not Python: {error.msg}") from error
    if function.name != right.name or ast.dump(function.args) != ast.dump(right.args):
        raise ReplyError("another name or other parameters")
    if ast.dump(function) == ast.dump(right):
        raise ReplyError("nothing changed")
    lines = code.split("\n")[function.lineno - 1 : function.end_lineno]
    text = textwrap.dedent("\n".join(lines)) + "\n"
    ends = "\r\n" if "\r\n" in target.text else "\n"
    new = textwrap.indent(text, target.indent).replace("\n", ends).encode()
    return Bug(
        kind="model",
        edits=(Edit(path=target.path, start=target.start, end=target.end, new=new),),
        functions=(f"{target.path}::{target.name}",),
        where="function",
    )


def _only_function(code: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    found = [
        one
        for one in syntax.parse(code).body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    if len(found) != 1:
        raise ReplyError("not exactly one function")
    return found[0]


def model_bugs(
    ground: Ground,
    files: Sequence[str],
    model: Model,
    *,
    seed: int,
    say: Callable[[str], None],
) -> Iterator[Bug]:
    """One for each function, in an order that the seed fixes."""
    found = [one for path in files for one in targets(path, ground.read(path))]
    random.Random(f"model:{seed}").shuffle(found)  # noqa: S311 - no secret
    for target in found:
        prompt = PROMPT.format(source=textwrap.dedent(target.text))
        reply = model.ask([Message(role="user", content=prompt)])
        if reply.finish == "length":
            say(f"{target.name}: the answer was cut")
            continue
        try:
            bug = read_bug(reply.text, target)
        except ReplyError as problem:
            say(f"{target.name}: {problem}")
        else:
            yield bug
