"""Stopping early without paying for it in false alarms.

Looking at a McNemar p value after every pair and stopping at the first p <= 0.05 finds a difference
where there is none far more often than 1 time in 20. What is here may be looked at always.
"""

from math import exp, lgamma, log


def anytime_p(b: int, c: int) -> float:
    """A p value of the discordant pairs `b` and `c` that may be looked at after every pair.

    The mixture (Beta(1/2, 1/2)) of likelihood ratios against "each variant wins a discordant pair
    equally often" is a martingale with mean 1 under that claim; its inverse is below alpha at any
    time at most alpha of the time. Sources: Ville 1939; Robbins 1970, "Statistical methods related
    to the law of the iterated logarithm".
    """
    if b < 0 or c < 0:
        raise ValueError(f"{b} and {c} pairs")
    return min(1.0, exp(-_log_evidence(b, c)))


def can_still_decide(b: int, c: int, left: int, *, alpha: float = 0.05) -> bool:
    """Whether `left` further pairs, all won by one side, could still bring `anytime_p` to alpha.

    Stopping where they could not costs no error: it only ends what cannot answer any more.
    """
    return min(anytime_p(b + left, c), anytime_p(b, c + left)) <= alpha


def _log_evidence(b: int, c: int) -> float:
    return _log_beta(b + 0.5, c + 0.5) - _log_beta(0.5, 0.5) + (b + c) * log(2)


def _log_beta(x: float, y: float) -> float:
    return lgamma(x) + lgamma(y) - lgamma(x + y)
