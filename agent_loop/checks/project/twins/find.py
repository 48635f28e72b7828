"""Finds the checks of a test: every place that can make it fail, with the edit that alters it."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_loop.checks.project.source.data import dotted
from agent_loop.checks.project.source.text import Edit, words
from agent_loop.checks.project.twins.alter import Alterer

_EQUAL = words(
    "assertEqual assertEquals assertAlmostEqual assertListEqual assertTupleEqual assertDictEqual "
    "assertSequenceEqual assertCountEqual assertSetEqual assertMultiLineEqual "
    "assertAlmostEquals assert_equal assert_array_equal assert_allclose assert_almost_equal "
    "assert_array_almost_equal assert_frame_equal assert_series_equal eq_"
)
_EXACT = words("assertEqual assertEquals assert_equal eq_")
_OPPOSITES = (
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertRegex", "assertNotRegex"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assert_called", "assert_not_called"),
)
_FLIPPED = {
    **{left: right for left, right in _OPPOSITES},
    **{right: left for left, right in _OPPOSITES},
    "assert_": "assertFalse",
    "assertNotEqual": "assertEqual",
    "assertNotAlmostEqual": "assertAlmostEqual",
    "assert_called_once": "assert_not_called",
}
_WITH_ARGUMENTS = words("assert_called_with assert_called_once_with assert_any_call")
_RAISES = words("raises assertRaises assertRaisesRegex assertRaisesRegexp assert_raises")
_WARNS = words("warns assertWarns assertWarnsRegex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of a test."""

    line: int
    end_line: int
    edits: tuple[Edit, ...]


def checks(nodes: Sequence[ast.AST], alterer: Alterer) -> tuple[Check, ...]:
    """Every check under `nodes`, in the order of the text."""
    found = [one for node in nodes for child in ast.walk(node) for one in _at(child, alterer)]
    return tuple(sorted(found, key=lambda one: one.edits[0].start))


def _at(node: ast.AST, alterer: Alterer) -> Iterator[Check]:
    if isinstance(node, ast.Assert):
        edits = _condition(node.test, alterer)
        yield from (_check(node, one) for one in edits)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from (_check(node, one) for one in _method(node.value, alterer))
    elif isinstance(node, ast.If) and _fails(node.body):
        yield _check(node.test, alterer.negate(node.test))
    elif isinstance(node, ast.Try) and (_fails(node.orelse) or _fails(node.body[-1:])):
        for handler in node.handlers:
            if handler.type is not None:
                yield _check(handler.type, alterer.other_exception(handler.type))
    if isinstance(node, ast.With) and _expects_to_raise(node):
        last = node.items[0].context_expr.end_lineno or node.lineno
        bare = tuple(alterer.without_context(node))
        yield from [Check(line=node.lineno, end_line=last, edits=bare)] if bare else []
    if isinstance(node, ast.Call):
        yield from (_check(node, one) for one in _raises(node, alterer))


def _check(node: ast.stmt | ast.expr, edits: list[Edit]) -> Check:
    return Check(line=node.lineno, end_line=node.end_lineno or node.lineno, edits=tuple(edits))


def _condition(test: ast.expr, alterer: Alterer) -> list[list[Edit]]:
    """One list of edits for each conjunct."""
    if isinstance(test, ast.Constant):
        return []  # `assert False` is the way a test says: not to be reached
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [edits for part in test.values for edits in _condition(part, alterer)]
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.Eq):
            return [alterer.equality(test.left, test.comparators[0])]
        return [alterer.flip(test)]
    return [alterer.negate(test)]


def _method(call: ast.Call, alterer: Alterer) -> list[list[Edit]]:
    name = dotted(call.func).split(".")[-1] or getattr(call.func, "attr", "")
    if name in _EQUAL and len(call.args) > 1:
        exact = name in _EXACT and not {"delta", "places"} & {one.arg for one in call.keywords}
        return [alterer.equality(call.args[0], call.args[1], exact=exact)]
    if name in ("assertTrue", "assert_") and call.args and _is_equality(call.args[0]):
        return _condition(call.args[0], alterer)
    if not isinstance(call.func, ast.Attribute):
        return []
    if name in _FLIPPED:
        return [alterer.rename_attribute(call.func, _FLIPPED[name])]
    return [alterer.extra_argument(call)] if name in _WITH_ARGUMENTS else []


def _is_equality(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)


def _raises(call: ast.Call, alterer: Alterer) -> list[list[Edit]]:
    name = dotted(call.func).split(".")[-1]
    if name not in _RAISES | _WARNS:
        return []
    named = [one.value for one in call.keywords if one.arg in _EXPECTED]
    expected = call.args[:1] or named
    warning = name in _WARNS
    at = 2 if "Regex" in name else 1  # the function that is called, where one is given
    called = [alterer.without_wrapper(call, at)] if len(call.args) > at and not warning else []
    return [*(alterer.other_exception(one, warning=warning) for one in expected), *called]


def _expects_to_raise(node: ast.With) -> bool:
    """A block that passes because something is raised in it, whoever raises it."""
    call = node.items[0].context_expr
    if len(node.items) != 1 or not isinstance(call, ast.Call):
        return False
    return dotted(call.func).split(".")[-1] in _RAISES


_EXPECTED = ("expected_exception", "expected_warning", "exception")


def _fails(body: Sequence[ast.stmt]) -> bool:
    """Does this branch say that the test failed?"""
    return any(rule(one) for one in body for rule in _WAYS_TO_FAIL)


def _calls_fail(node: ast.stmt) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted(call.func) in ("pytest.fail", "self.fail", "fail")


def _raises_assertion(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    named = raised.func if isinstance(raised, ast.Call) else raised
    return named is not None and dotted(named) == "AssertionError"


def _asserts_false(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Assert) and isinstance(node.test, ast.Constant) and not node.test.value
    )


_WAYS_TO_FAIL: tuple[Callable[[ast.stmt], bool], ...] = (
    _calls_fail,
    _raises_assertion,
    _asserts_false,
)


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one == other or (one[0] < other[1] and other[0] < one[1])


def distinct(found: Iterable[Check]) -> tuple[Check, ...]:
    """No two checks may edit one place (nested functions are walked twice, blocks hold calls)."""
    taken: list[tuple[int, int]] = []
    kept: list[Check] = []
    for one in found:
        places = [(edit.start, edit.end) for edit in one.edits]
        if not any(_meet(place, other) for place in places for other in taken):
            taken += places
            kept.append(one)
    return tuple(kept)
