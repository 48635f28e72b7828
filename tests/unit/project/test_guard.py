"""What the guard calls replaced: functions, methods and classes of Python and of pytest."""

import random
import sys
import types
import unittest

import pytest
from _pytest.mark import MarkGenerator

from agent_loop.checks.project.inside import inside_guard

PLACES = [
    (random, "choice", "random.choice"),
    (random, "shuffle", "random.shuffle"),
    (random, "random", "random.random"),
    (random.Random, "choice", "random.Random.choice"),
    (pytest, "raises", "pytest.raises"),
    (pytest, "Item", "pytest.Item"),
    (unittest.TestCase, "assertEqual", "unittest.case.TestCase.assertEqual"),
    (MarkGenerator, "__getattr__", "_pytest.mark.structures.MarkGenerator.__getattr__"),
    ("builtins", "len", "builtins.len"),
    ("builtins", "AssertionError", "builtins.AssertionError"),
]


@pytest.mark.parametrize(("holder", "key", "name"), PLACES, ids=[one[2] for one in PLACES])
def test_what_is_replaced_is_named_until_it_is_back(holder, key, name):
    holder = sys.modules[holder] if isinstance(holder, str) else holder
    differing = inside_guard.start()
    assert differing() == []
    with pytest.MonkeyPatch.context() as patch:
        was = getattr(holder, key)
        patch.setattr(holder, key, type(key, (was,), {}) if isinstance(was, type) else lambda *_: 0)
        found = differing()
    assert name in found
    assert differing() == []


def test_a_function_with_other_code_is_named():
    differing = inside_guard.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random.Random.choice, "__code__", (lambda self, seq: 4).__code__)
        assert {"random.Random.choice", "random.choice"} <= set(differing())
    assert differing() == []


def test_a_module_in_place_of_another_is_named():
    differing = inside_guard.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "statistics", types.ModuleType("statistics"))
        assert "statistics.mean" in differing()
    assert differing() == []


def test_what_a_test_may_do_is_not_named():
    differing = inside_guard.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random, "own", len, raising=False)
        patch.setitem(sys.modules, "random_more", types.ModuleType("random_more"))
        random.seed(3)
        assert differing() == []
