"""Honest numbers from few attempts. Pure: plain numbers in, plain numbers out.

The formulas are SciPy's and statsmodels' (extra `evals`), imported when first used.
Rates are shares between 0 and 1. `None` means "not measured", which is not the same as 0.
"""

from agent_loop.stats.intervals import Interval, bootstrap_mean, paired_bootstrap_by_task, wilson
from agent_loop.stats.paired import (
    PairCounts,
    holm,
    mcnemar_exact,
    pair_counts,
    sign_flip_p,
)
from agent_loop.stats.planning import Sensitivity, mde, power, sensitivity
from agent_loop.stats.rates import pass_at_k, pass_hat_k
from agent_loop.stats.sequential import anytime_p, can_still_decide

__all__ = [
    "Interval",
    "PairCounts",
    "Sensitivity",
    "anytime_p",
    "bootstrap_mean",
    "can_still_decide",
    "holm",
    "mcnemar_exact",
    "mde",
    "pair_counts",
    "paired_bootstrap_by_task",
    "pass_at_k",
    "pass_hat_k",
    "power",
    "sensitivity",
    "sign_flip_p",
    "wilson",
]
