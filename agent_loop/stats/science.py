"""The one place that imports SciPy and statsmodels, and only when they are needed.

Together they take about a second to import, and a page that shows no interval needs neither.
"""

from types import ModuleType

from agent_loop.errors import MissingExtra


def scipy_stats() -> ModuleType:
    """`scipy.stats`.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        from scipy import stats  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("evals", "SciPy") from None
    return stats


def multipletests() -> ModuleType:
    """`statsmodels.stats.multitest`.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        from statsmodels.stats import multitest  # noqa: PLC0415
    except ImportError:
        raise MissingExtra("evals", "statsmodels") from None
    return multitest  # type: ignore[no-any-return]
