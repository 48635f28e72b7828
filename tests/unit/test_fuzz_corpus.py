# ruff: noqa: E501 - patches
"""The seeds of the fuzzers and every input that ever crashed one, through the same targets."""

import random

import pytest

from tests.fuzz.__main__ import CORPUS
from tests.fuzz.targets import SEEDS, TARGETS

KEPT = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))]


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_cuts_and_changed_bytes(name):
    target, rng = TARGETS[name], random.Random(name)
    assert SEEDS[name]
    target(b"")
    for seed in SEEDS[name]:
        target(seed)
        for _ in range(20):
            cut = rng.randrange(len(seed) + 1)
            target(seed[:cut])
            changed = bytearray(seed)
            changed[rng.randrange(len(seed))] = rng.randrange(256)
            target(bytes(changed))


@pytest.mark.parametrize(("name", "path"), KEPT, ids=[f"{n}/{p.name}" for n, p in KEPT])
def test_what_once_crashed_does_not(name, path):
    TARGETS[name](path.read_bytes())


def test_the_corpus_is_small_and_known():
    assert sum(path.stat().st_size for _, path in KEPT) < 200_000
    assert {name for name, _ in KEPT} <= set(TARGETS)
    assert set(SEEDS) == set(TARGETS)


@pytest.mark.parametrize(
    "odd",
    [
        b"diff --git a/x\xdc b/x\xdc\n", b'diff --git "a/\\777" "b/\\777"\n', b"diff --git \n",
        b"diff --git a/pkg/a.py b/pkg/a.py\n@@ -" + b"9" * 5_000 + b" +1 @@\n",
        b"diff --git a/pkg/a.py b/pkg/a.py\n@@ -0,1 +0,0 @@\n-    return 1\n",
        b"diff --git a/pkg/a.py b/pkg/a.py\n@@ -99,1 +0,0 @@\n-    return 1\n",
        b"diff --git a/pkg/a.py b/pkg/a.py\n@@ -2,1 +2,0 @@\n-    return 1\n@@ -1,1 +1,0 @@\n-def f():\n",
    ],
)  # fmt: skip
def test_odd_patches_are_refused(odd):
    from agent_loop.workspace.patchread import BadPatch, applied
    from tests.fuzz.targets import FILES

    with pytest.raises(BadPatch):
        applied(odd, {path: (data, False) for path, data in FILES.items()})
