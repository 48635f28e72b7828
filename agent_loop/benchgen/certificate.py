"""What the gate said of a gold patch, in words that are the same each time."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from agent_loop.checks.project.proofs import TWINS_FAIL
from agent_loop.ports import Verdict

VERSION = 1


def certified(
    gold: bytes,
    wanted: Sequence[str],
    verdict: Verdict,
    evidence: Mapping[str, Any],
    **counts: int,
) -> dict[str, Any]:
    """The certificate of one task.

    Args:
        gold: the patch.
        wanted: FAIL_TO_PASS.
        verdict: what the gate found.
        evidence: what it was found on, of the check.
        counts: how often what was tried.
    """
    return {
        "version": VERSION,
        "gold_sha256": hashlib.sha256(gold).hexdigest(),
        "image": evidence["image"],
        "tree_hash": evidence["tree_hash"],
        "test_tree_hash": evidence["test_tree_hash"],
        "red_runs": 2,
        **counts,
        "wanted": list(wanted),
        "executed": len(verdict.executed),
        **_findings(verdict),
    }


def _findings(verdict: Verdict) -> dict[str, Any]:
    """Proofs and looks, without how many twins failed: which are run is drawn each time."""
    proofs = [
        {"name": one.name, "held": one.held, "detail": "" if one.name == TWINS_FAIL else one.detail}
        for one in verdict.proofs
    ]
    looks = [
        {"signal": one.signal, "detail": one.detail}
        for one in verdict.looks
        if one.signal != TWINS_FAIL
    ]
    return {"proofs": proofs, "looks": looks}
