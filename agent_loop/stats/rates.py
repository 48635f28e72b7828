"""Chances of several attempts together, estimated without bias from the attempts made."""

from math import comb


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """Chance that at least one of `k` attempts passes, from `c` passes in `n` attempts.

    `None` with fewer than `k` attempts. Source: Chen et al. 2021, "Evaluating Large Language Models
    Trained on Code", equation 1.
    """
    if _too_few(n, c, k):
        return None
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)  # whole numbers up to the one division


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """Chance that all of `k` attempts pass (pass^k); `None` with fewer than `k` attempts.

    Source: Yao et al. 2024, "tau-bench", section 4.
    """
    return None if _too_few(n, c, k) else comb(c, k) / comb(n, k)


def _too_few(n: int, c: int, k: int) -> bool:
    if not 0 <= c <= n:
        raise ValueError(f"{c} passes in {n} attempts")
    return k < 1 or n < k
