"""Best of k in evals: pass@k and pass^k over the answers to one plan; what an attempt cost."""

from agent_loop.evals.render_markdown import _answers
from agent_loop.evals.rows import _cost
from agent_loop.store.report import Attempt


class Some:
    """A report, as far as that table looks at one."""

    def __init__(self, *attempts):
        self.attempts = attempts


def attempt(n, *passed):
    return Attempt(task="a", n=n, thread=f"t{n}", status="finished", samples=passed)


def test_the_table_counts_what_k_answers_give():
    text = _answers(Some(attempt(1, True, False), attempt(2, False, False), attempt(3)))
    rows = [line.split("|")[1:-1] for line in text.splitlines()[4:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["1", "25 %", "25 %", "2"],
        ["2", "50 %", "0 %", "2"],
    ]


def test_no_table_where_a_lap_has_one_answer():
    assert _answers(Some(attempt(1), attempt(2, True))) == ""


def test_the_cost_of_an_attempt_is_known_unknown_or_nothing():
    assert _cost({"worker": {"cost_usd": 0.5}, "lead": {"cost_usd": 0.25}}) == 0.75
    assert _cost({"worker": {"cost_usd": 0.5}, "lead": {"unpriced_calls": 1}}) is None
    assert _cost({"worker": {"cost_usd": 0.0}}) is None
