"""Alters an expected value so that the right answer no longer meets it.

Always in plain characters and in place: an escape, a helper or a comment would be a mark that
a reply could look for, and a line more would move every later line.
"""

import ast
import builtins
import io
import re
import secrets
import string
import tokenize
from dataclasses import dataclass

from agent_loop.checks.project.source.data import dotted
from agent_loop.checks.project.source.sabotage import draw_word
from agent_loop.checks.project.source.shape import Definition
from agent_loop.checks.project.source.text import Edit, Spans

_FLIPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: (r"==", "!="),
    ast.NotEq: (r"!=", "=="),
    ast.Lt: (r"<", ">="),
    ast.LtE: (r"<=", ">"),
    ast.Gt: (r">", "<="),
    ast.GtE: (r">=", "<"),
    ast.In: (r"\bin\b", "not in"),
    ast.NotIn: (r"\bnot\s+in\b", "in"),
    ast.Is: (r"\bis\b", "is not"),
    ast.IsNot: (r"\bis\s+not\b", "is"),
}
# Builtin classes that tested code hardly ever raises or warns with, for an expected class of which
# nothing is known.
_EXCEPTIONS = (
    "BufferError",
    "ReferenceError",
    "FloatingPointError",
    "StopAsyncIteration",
)
# In place of a builtin class: common ones, so that code that raises whatever is asked cannot know
# them; left out are those that libraries like to mix (KeyError with AttributeError, ...).
_COMMON = (
    "RuntimeError",
    "ZeroDivisionError",
    "PermissionError",
    "FileNotFoundError",
    "ImportError",
    "NameError",
)
_WARNINGS = ("BytesWarning", "ImportWarning")


@dataclass(frozen=True, slots=True)
class Alterer:
    """Makes the edits over one text."""

    spans: Spans

    def equality(self, left: ast.expr, right: ast.expr, *, exact: bool = True) -> list[Edit]:
        """Alter the expected side: the one without a call."""
        if isinstance(left, ast.Constant) or (_has_call(right) and not _has_call(left)):
            expected, other = left, right
        else:
            expected, other = right, left
        if exact and _whole(expected) is not None and not _has_call_of(other, "approx"):
            return self._near(expected)
        return self.value(expected)

    def value(self, node: ast.expr) -> list[Edit]:
        """Something that is not equal to what stands there, whatever that is."""
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return self._number_under_sign(node)
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            return self._display(node)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "approx":
            return self._approx(node)
        return self.wrap(node)

    def wrap(self, node: ast.expr) -> list[Edit]:
        """A pair with the value inside is equal to nothing that is equal to the value."""
        return self._around(node, "(", f", {draw_word(4)!r})")

    def negate(self, node: ast.expr) -> list[Edit]:
        return self._around(node, "not (", ")")

    def flip(self, node: ast.Compare) -> list[Edit]:
        """The opposite operator between the two sides."""
        pattern, opposite = _FLIPPED[type(node.ops[0])]
        start, end = self.spans.of(node.left)[1], self.spans.of(node.comparators[0])[0]
        found = re.search(pattern, self.spans.data[start:end].decode())
        if found is None:
            return self.negate(node)
        return [Edit(start=start + found.start(), end=start + found.end(), text=opposite)]

    def other_exception(self, node: ast.expr, *, warning: bool = False) -> list[Edit]:
        start, end = self.spans.of(node)
        named = {dotted(one) for one in ast.walk(node)}
        choices = _warnings(named) if warning else _exceptions(named)
        return [Edit(start=start, end=end, text=secrets.choice(choices) + self._lines(node))]

    def without_context(self, node: ast.With) -> list[Edit]:
        """The body without what it stands in; nothing where that is not written plainly."""
        item = node.items[0]
        start, first = self.spans.of(node)[0], self.spans.of(item.context_expr)[0]
        if self.spans.data[start:first].split() != [b"with"]:
            return []
        end = self.spans.of(item.optional_vars or item.context_expr)[1]
        if not self.spans.data[end : self.spans.line_end(end)].lstrip().startswith(b":"):
            return []
        lines = self.spans.data[start:end].count(b"\n")
        text = "if (" + "\n" * lines + "True)" if lines else "if True"
        return [Edit(start=start, end=end, text=text)]

    def without_wrapper(self, call: ast.Call, at: int) -> list[Edit]:
        """`raises(Kind, function, argument)` as a plain call of the function, argument `at`."""
        start, stop = self.spans.of(call)
        first, end = self.spans.of(call.args[at])
        rest: list[ast.expr | ast.keyword] = [*call.args[at + 1 :], *call.keywords]
        after = min(self.spans.offset(one.lineno, one.col_offset) for one in rest) if rest else stop
        lines = [self.spans.data[a:b].count(b"\n") for a, b in ((start, first), (end, after))]
        return [
            Edit(start=start, end=first, text="(" + "\n" * lines[0]),
            Edit(start=end, end=after, text=")(" + "\n" * lines[1] + ("" if rest else ")")),
        ]

    def rename_attribute(self, node: ast.Attribute, name: str) -> list[Edit]:
        end = self.spans.of(node)[1]
        return [Edit(start=end - len(node.attr.encode()), end=end, text=name)]

    def raise_at_end(self, node: Definition) -> Edit:
        """For a function that checks nothing."""
        end = self.spans.line_end(self.spans.of(node.body[-1])[1])
        indent = " " * node.body[0].col_offset
        separator = f"\n{indent}" if node.body[0].lineno > node.lineno else "; "
        return Edit(start=end, end=end, text=f"{separator}raise BufferError")

    def extra_argument(self, node: ast.Call) -> list[Edit]:
        after = self.spans.of(node.func)[1]
        opening = self.spans.data.index(b"(", after) + 1
        comma = ", " if node.args or node.keywords else ""
        return [Edit(start=opening, end=opening, text=repr(draw_word(4)) + comma)]

    def _around(self, node: ast.expr, before: str, after: str) -> list[Edit]:
        start, end = self.spans.of(node)
        return [Edit(start=start, end=start, text=before), Edit(start=end, end=end, text=after)]

    def _lines(self, node: ast.expr) -> str:
        # Only inside brackets can an expression run over lines, and there line ends are free.
        start, end = self.spans.of(node)
        return "\n" * self.spans.data[start:end].count(b"\n")

    def _constant(self, node: ast.Constant) -> list[Edit]:
        start, end = self.spans.of(node)
        if isinstance(node.value, (str, bytes)):
            return [self._text(node, end)]
        return [Edit(start=start, end=end, text=_other_constant(node.value))]

    def _text(self, node: ast.Constant, end: int) -> Edit:
        """One letter another, or some more at the end: a length must not tell."""
        at = end - _closing_quotes(self.spans.text(node))
        before = self.spans.data[at - 2 : at]
        plain = re.fullmatch(rb"[a-z]{2}", before) and self.spans.data[at - 3 : at - 2] != b"\\"
        if plain and secrets.randbelow(2):
            last = before[1:].decode()
            other = secrets.choice([one for one in string.ascii_lowercase if one != last])
            return Edit(start=at - 1, end=at, text=other)
        return Edit(start=at, end=at, text=draw_word(3))

    def _number_under_sign(self, node: ast.UnaryOp) -> list[Edit]:
        constant = node.operand
        if isinstance(node.op, ast.USub | ast.UAdd) and isinstance(constant, ast.Constant):
            return self._constant(constant)
        return self.wrap(node)

    def _near(self, node: ast.expr) -> list[Edit]:
        """A whole number beside the right one, or far from it: its size must not tell."""
        value = _whole(node)
        if value is None or secrets.randbelow(2):
            return self.value(node)
        start, end = self.spans.of(node)
        return [Edit(start=start, end=end, text=str(value + 1 + secrets.randbelow(9)))]

    def _display(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> list[Edit]:
        start, _ = self.spans.of(node)
        if self.spans.data[start : start + 1] not in (b"[", b"(", b"{"):
            return self.wrap(node)
        if isinstance(node, ast.Dict):
            text = f"{draw_word(4)!r}: 0" + (", " if node.keys else "")
        else:
            text = _like(node.elts) + (", " if node.elts or isinstance(node, ast.Tuple) else "")
        return [Edit(start=start + 1, end=start + 1, text=text)]

    def _approx(self, node: ast.Call) -> list[Edit]:
        if node.args and not isinstance(node.args[0], ast.Name | ast.Call | ast.Attribute):
            inner = self.value(node.args[0])
            # A pair inside approx() would raise by itself, whatever the code gives.
            return inner if len(inner) == 1 else self.wrap(node)
        return self.wrap(node)


def _warnings(named: set[str]) -> list[str]:
    return [one for one in _WARNINGS if one not in named]


def _exceptions(named: set[str]) -> list[str]:
    """Names of classes that no instance of the named ones can be caught by."""
    known = [getattr(builtins, one, None) for one in named if one]
    classes = [one for one in known if isinstance(one, type) and issubclass(one, BaseException)]
    if classes and len(classes) == len(known):
        apart = [one for one in _COMMON if not any(_related(one, other) for other in classes)]
        if apart:
            return apart
    return [one for one in _EXCEPTIONS if one not in named]


def _related(name: str, other: type) -> bool:
    one = getattr(builtins, name)
    return issubclass(one, other) or issubclass(other, one)


def _whole(node: ast.expr) -> int | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _has_call_of(node: ast.AST, name: str) -> bool:
    called = [dotted(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)]
    return any(one.split(".")[-1] == name for one in called)


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(one, (ast.Call, ast.Await)) for one in ast.walk(node))


def _like(elements: list[ast.expr]) -> str:
    """One more element of the kind that is there."""
    first = elements[0] if elements else None
    if isinstance(first, ast.Constant) and isinstance(first.value, (int, float)):
        return _other_constant(0)
    return repr(draw_word(4))


def _other_constant(value: object) -> str:
    if isinstance(value, bool):
        return repr(not value)
    if isinstance(value, (int, float, complex)):
        other = value * 3 + 1000 + secrets.randbelow(90_000)
        text = repr(other)
        return text if other == other and "inf" not in text else "0.5"
    return repr(draw_word(4))


def _closing_quotes(text: str) -> int:
    """How many quote characters end the last piece of a string constant."""
    pieces = [
        one.string
        for one in tokenize.generate_tokens(io.StringIO(f"({text})").readline)
        if one.type == tokenize.STRING
    ]
    last = pieces[-1].lstrip("rRbBuUfF")
    return 3 if last.startswith(('"""', "'''")) and len(last) >= 6 else 1
