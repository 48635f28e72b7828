"""The HTML page: one file, nothing loaded, nothing executed, every hostile text escaped."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser

from agent_loop.evals import plots
from agent_loop.evals.outputs import history_of, write_beside
from agent_loop.evals.page import comparison_page, report_page, trend_of
from agent_loop.evals.svg import draw
from agent_loop.stats.compare import compare, figures
from agent_loop.store.reportnumbers import arm_of
from agent_loop.store.reports import report_path, write_report
from tests.fakes.reports import filled, identity, made, outcomes

HOSTILE = (
    '"><script>alert(1)</script><img src=http://evil/x onerror=a> \x1b[2J \u202e $a_b$ 日本 \x00'
)
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """Every tag of a page, its nesting checked."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(text):
    page = Page(text)
    assert page.open == []
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "img", "iframe", "link", "object", "form", "a", "base"}
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for tag, attrs in page.tags:
        assert not [name for name in attrs if name.startswith("on") or name == "style"], (
            tag,
            attrs,
        )
        assert attrs.get("href", "#").startswith("#")
        for target in re.findall(r"url\(#([^)]+)\)", " ".join(filter(None, attrs.values()))):
            assert target in ids
        if tag == "use":
            assert attrs["href"][1:] in ids
    return page


def policy(text):
    return re.search(r'Content-Security-Policy" content="([^"]+)"', text).group(1)


def test_the_page_stands_alone_under_a_strict_policy():
    text = report_page(outcomes("base", {"a": "PF-", "b": "PPP"}))
    checked(text)
    assert "http" not in re.sub(r"http-equiv", "", text)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    mark = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy(text) == (
        f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    )
    assert "prefers-color-scheme: dark" in style


def test_hostile_names_and_problems_stay_text():
    report = outcomes("x", {HOSTILE: "PF"})
    rows = [replace(r, problem=HOSTILE, thread=HOSTILE, outcome=HOSTILE) for r in report.attempts]
    report = replace(filled(report, rows), label=HOSTILE)
    other = replace(report, label=HOSTILE + "2", created="2026-12-01T00:00:00Z")
    for text in (
        report_page(report, [other]),
        comparison_page([report, other], compare([arm_of(report), arm_of(other)]), [HOSTILE]),
    ):
        page = checked(text)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert any("<script>alert(1)" in word for word in page.words)  # as words


def test_where_nothing_was_judged_the_picture_has_a_gap():
    found = figures(arm_of(outcomes("x", {"a": "--", "b": "  ", "c": "PP"})))
    plot = plots.task_rates([found])
    assert plot.svg.count("not measured") == 2
    assert dict(plot.rows)["a"] == "not measured"
    text = report_page(made("nothing"))
    checked(text)
    assert "nan" not in text.lower()


def test_a_trend_joins_only_what_may_be_compared():
    first = outcomes("one", {"a": "PF"}, created="2026-01-01T00:00:00Z")
    second = outcomes("two", {"a": "PP"}, created="2026-01-02T00:00:00Z")
    other = identity(fixtures={"a": "b" * 64})
    third = outcomes("three", {"a": "PP"}, created="2026-01-03T00:00:00Z", identity=other)
    empty = outcomes("four", {"a": "--"}, created="2026-01-04T00:00:00Z", identity=other)
    points = trend_of([third, empty, first, second, first])
    assert [(p[0], p[3]) for p in points] == [
        ("one", False),
        ("two", True),
        ("three", False),
        ("four", True),
    ]
    assert points[-1][2] is None
    checked(report_page(empty, [first, second, third]))


def test_two_hundred_tasks_draw_the_forty_with_the_lowest_rates():
    table = {f"task-{at:03}": "F" if at % 4 == 0 else "P" for at in range(200)}
    plot = plots.task_rates([figures(arm_of(outcomes("x", table)))])
    assert len(plot.rows) == 200
    assert "160 tasks with higher rates are only in the table" in plot.says
    assert "task-000" in plot.svg
    assert "task-001" not in plot.svg


def test_drawing_is_the_same_each_time_and_unknown_letters_cost_no_warning():
    def paint(figure):
        figure.add_subplot().set_xlabel("日本 \U0001f600 $x^2$ <b>")

    first = draw(200, 100, paint, prefix="p")
    assert first == draw(200, 100, paint, prefix="p")
    assert "&lt;b&gt;" in first
    assert "$x^2$" in first  # no formula is set: the text stays as it is


def test_markdown_and_page_are_written_beside_the_report(tmp_path):
    old = outcomes("old", {"a": "PF"}, created="2026-01-01T00:00:00Z")
    other_suite = replace(old, label="suite", plan=replace(old.plan, suite="humaneval"))
    report = outcomes("new", {"a": "PP"}, created="2026-01-02T00:00:00Z")
    for one in (old, other_suite, report):
        write_report(report_path(tmp_path, one.label, one.created), one)
    (tmp_path / "evals" / "torn.json").write_text("{")
    path = report_path(tmp_path, report.label, report.created)
    assert [one.label for one in history_of(report, tmp_path)] == ["old"]
    assert [p.name for p in write_beside(path, report, tmp_path)] == [
        f"{path.stem}.md",
        f"{path.stem}.html",
    ]
    assert "old" in path.with_suffix(".html").read_text()


def test_the_rule_is_shown_with_what_it_saw():
    adopted = {
        "decision": "undecided",
        "rule": "adopt if <b> against 'c'",
        "rule_hash": "f" * 64,
        "reason": "a <i> reason",
        "conditions": [{"words": "passes at most 2 lower", "observed": None, "held": None}],
    }
    page = checked(report_page(replace(outcomes("x", {"a": "P"}), adopted=adopted)))
    assert "undecided" in page.words
    assert any("a <i> reason" in word for word in page.words)
