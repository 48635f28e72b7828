"""Hostile names, traces and replies at the server: only files of runs, text stays text."""

import http.client
import json
import os
import re
import time
from html.parser import HTMLParser
from urllib.parse import quote

import pytest

from agent_loop.viewer.api import About, Api
from agent_loop.viewer.app import make_app
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.static import Static
from agent_loop.viewer.writing import visible
from agent_loop.webguard import Guard, Rate, WebError
from tests.fakes.clock import FakeClock
from tests.fakes.hostile import ALL
from tests.fakes.webdoor import opened

SECRET = "the-secret-outside"
NAMES = [
    "..", ".", "../outside", "..%2foutside", "%2e%2e/outside", "%2e%2e%2foutside", "..%5coutside",
    "..%252foutside", "....//outside", "/etc/passwd", "%2fetc%2fpasswd", "//etc/passwd",
    "~", "~root", "C:", "C:%5cwindows", "%5c%5chost%5cshare", "file:%2f%2f%2fetc%2fpasswd",
    "linked", "linked/", "con", "CON", "nul", "aux.txt", "com1", "lpt9.json", "prn",
    "checkpoints.sqlite", "checkpoints.sqlite-wal", "evals", "a.json", "good.json", "lock",
    ".hidden", ".", "-rf", "--help", "good.", "good%20", "%20good", "good%00", "good%00.json",
    "good%0a", "good%0d%0aX-Evil:%201", "good%09", "%00", "%ff%fe", "%c0%ae%c0%ae", "%e2%80%ae",
    "g%C3%B6%C3%B6d", "%EF%BC%8E%EF%BC%8E", "*", "good*", "%3Cscript%3E", "good;rm", "$(id)",
    "%25", "%", "a" * 101, "a" * 5_000, "good/..", "good/../good", "good%2f..", "good/trace.jsonl",
    "__proto__",
]  # fmt: skip
ADDRESSES = ("/api/runs/{}", "/api/runs/{}/events", "/api/runs/{}/events/1", "/api/runs/{}/patch",
             "/api/runs/{}/text", "/api/runs/{}/figures", "/api/runs/{}/export.html",
             "/api/runs/{}/files/job.json", "/api/evals/{}", "/static/{}")  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    base = tmp_path_factory.mktemp("hostile")
    runs, outside = base / "runs", base / "outside"
    event = {"v": 1, "n": 1, "at": "", "thread": "outside", "kind": "fault", "problem": SECRET}
    for folder in (runs, outside, runs / "good", runs / "evals"):
        folder.mkdir()
    for name in ("trace.jsonl", "changes.patch", "job.json", "certificate.json", "lock"):
        (outside / name).write_text(json.dumps(event) + "\n")
    (base / "outside.json").write_text(json.dumps({"summary": {"thread": "linked"}, "x": SECRET}))
    (runs / "linked").symlink_to(outside)
    (runs / "linked.json").symlink_to(base / "outside.json")
    for name in ("trace.jsonl", "changes.patch", "job.json", "lock", "owner_reply.json"):
        (runs / "good" / name).symlink_to(outside / "trace.jsonl")
    os.mkfifo(runs / "good" / "certificate.json")
    (runs / "good" / "answer.md").mkdir()
    (runs / "evals" / "linked.json").symlink_to(base / "outside.json")
    summary = {"thread": "good", "kind": "code", "task": "t", "outcome": "paused", "started": "1"}
    (runs / "good.json").write_text(f'{{\n"version": 1,\n"summary": {json.dumps(summary)}\n}}\n')
    return runs


@pytest.fixture(scope="module")
def door(root):
    desk = Desk(root, monotonic=FakeClock().monotonic)

    def guarded(launch):
        about = About(kind="dashboard", version="0", launch=launch)
        return Guard(make_app("t", "0", [Api(desk, about).router()], Static()), launch)

    with opened(guarded) as made:
        yield made


@pytest.fixture
def client(door):
    with door.client() as made:
        yield made


@pytest.mark.parametrize("name", NAMES)
def test_no_name_leads_out_of_runs(door, name):
    for address in ADDRESSES:
        status, headers, text = raw_get(door, address.format(name))
        assert SECRET not in text
        assert status in (400, 404), (address, status)
        assert "x-evil" not in headers


def test_no_link_is_followed_whatever_it_is_called(client, root):
    assert [row["thread"] for row in client.get("/api/runs").json()["runs"]] == ["good"]
    run = client.get("/api/runs/good").json()
    assert run["trace"]["events"] == 0
    assert run["files"] == []
    assert run["pause"] is None
    assert client.get("/api/runs/good/events").json()["events"] == []
    for name in (
        "changes.patch",
        "job.json",
        "certificate.json",
        "answer.md",
        "lock",
        "trace.jsonl",
    ):
        assert client.get(f"/api/runs/good/files/{name}").status_code == 404, name
    assert client.get("/api/runs/linked").status_code == 404
    assert client.get("/api/evals").json()["reports"] == []
    assert SECRET not in client.get("/api/runs/good/export.html").text
    assert SECRET in (root / "linked" / "trace.jsonl").read_text()  # they do lead there


def test_a_file_that_becomes_a_link_is_not_followed_either(tmp_path):
    desk = Desk(tmp_path, monotonic=time.monotonic)
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "a").mkdir()
    patch = tmp_path / "a" / "changes.patch"
    patch.write_text("diff --git a/x b/x\n")
    assert desk.places.read("a", "changes.patch", 100)
    patch.unlink()
    patch.symlink_to(tmp_path / "secret")
    assert desk.places.read("a", "changes.patch", 100) is None
    (tmp_path / "a").rename(tmp_path / "real")
    (tmp_path / "real" / "changes.patch").unlink()
    (tmp_path / "real" / "changes.patch").write_text(SECRET)
    (tmp_path / "a").symlink_to(tmp_path / "real")
    assert desk.places.read("a", "changes.patch", 100) is None
    assert not desk.places.there("a")


@pytest.mark.parametrize(
    "path", ["../main.py", "..%2fmain.py", "%2e%2e/main.py", "....//main.py", "package.json",
             "/etc/passwd", "app.js/..", "app.js%00", "APP.JS", "index.html/x", ".", "",
             "app.js?x"],
)  # fmt: skip
def test_the_page_has_a_fixed_list_of_files(door, path):
    status, _, text = raw_get(door, f"/static/{path}")
    assert status == (200 if path == "app.js?x" else 404)
    assert "def main" not in text


def raw_get(door, path):
    """The path as it stands: other clients tidy it up before they send it."""
    made = http.client.HTTPConnection("127.0.0.1", door.launch.port, timeout=60)
    try:
        cookie = f"{door.launch.cookie_name}={door.launch.cookie}"
        made.request("GET", path, headers={"Cookie": cookie})
        answer = made.getresponse()
        names = {name.lower() for name, _ in answer.getheaders()}
        return answer.status, names, answer.read().decode("utf-8", "replace")
    finally:
        made.close()


# --- sixty texts, everywhere a model or a file may put one


def hostile_run(root, thread, text):
    folder = root / thread
    folder.mkdir()
    kinds = [
        ("run_started", {"task": text, "config": {text[:50]: text}}),
        ("node_started", {"node": text, "lap": 1}),
        ("model_asked", {"node": text, "messages": [{"role": text, "content": text}]}),
        ("model_replied", {"node": text, "role": text, "answered": text, "text": text}),
        ("verdict", {"lap": 1, "passed": False, "reason": text, "output": text, "proofs": [text]}),
        ("review", {"lap": 1, "approved": True, "text": text}),
        ("fault", {"node": text, "problem": text}), (text[:30], {text[:30]: text}),
        ("paused", {"nonce": text, "question": text}),
    ]  # fmt: skip
    with (folder / "trace.jsonl").open("w", encoding="utf-8") as file:
        for n, (kind, fields) in enumerate(kinds, 1):
            head = {"v": 1, "n": n, "at": "2026-01-01T00:00:00Z", "thread": thread, "kind": kind}
            file.write(json.dumps(fields | head, ensure_ascii=False) + "\n")
    summary = {"thread": thread, "kind": text, "task": text, "outcome": "paused", "started": "1"}
    record = {"summary": summary, "kind": text, "task": text, "answer": text, "plan": text,
              "test_output": text, "reason": text, "tokens": {text: {text: 1}},
              "verdict": {"passed": True, "reason": text,
                          "looks": [{"signal": text, "detail": text}],
                          "proofs": [{"name": text, "held": True, "detail": text}]}}  # fmt: skip
    lines = f'{{\n"version": 1,\n"summary": {json.dumps(summary)},\n'
    (root / f"{thread}.json").write_text(lines + json.dumps(record)[1:])
    (folder / "changes.patch").write_text(f"diff --git a/{text} b/{text}\n@@ -1 +1 @@\n-{text}\n")


@pytest.fixture(scope="module")
def sixty(tmp_path_factory):
    root = tmp_path_factory.mktemp("sixty")
    for n, text in enumerate(ALL):
        hostile_run(root, f"h{n}", text)
    desk = Desk(root, monotonic=time.monotonic)

    def guarded(launch):
        about = About(kind="dashboard", version="0", launch=launch)
        return Guard(make_app("t", "0", [Api(desk, about).router()], Static()), launch)

    with opened(guarded) as made, made.client() as client:
        yield client


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = set(), set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text.append(data)


OURS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "h4", "p", "pre",
        "table", "tr", "th", "td"}  # fmt: skip


@pytest.mark.parametrize("n", range(len(ALL)))
def test_hostile_text_leaves_as_text_only(sixty, n):
    text = ALL[n]
    run = f"/api/runs/h{n}"
    told = sixty.get(run)
    assert told.headers["content-type"] == "application/json"
    assert told.headers["x-content-type-options"] == "nosniff"
    assert told.json()["record"]["answer"] == text
    assert told.json()["row"]["task"] == text[:200]
    events = sixty.get(f"{run}/events?chars=20000").json()["events"]
    assert events[3]["text"] == text
    assert sixty.get(f"{run}/events/3/text?pointer=/messages/0/content").text == text
    for address in ("/figures", "/patch", "/events?q=" + quote(text[:50])):
        answer = sixty.get(run + address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    raw = sixty.get(f"{run}/files/changes.patch")
    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert raw.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("n", range(len(ALL)))
def test_hostile_text_stays_text_in_an_export(sixty, n):
    page = sixty.get(f"/api/runs/h{n}/export.html")
    assert page.headers["content-disposition"] == f'attachment; filename="h{n}.html"'
    found = Tags()
    found.feed(page.text)
    assert found.tags <= OURS
    assert found.attributes <= {"lang", "charset", "http-equiv", "content", "name"}
    assert visible(ALL[n].replace("\r\n", "\n")).strip() in "".join(found.text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page.text)
    marked = sixty.get(f"/api/runs/h{n}/export.md").text
    assert "<" not in outside_code(marked)
    assert "](" not in outside_code(marked)


def outside_code(marked):
    """The Markdown that is neither in a fence nor in a code span, as CommonMark reads it."""
    left, fence = [], None
    for line in marked.split("\n"):
        run = re.match(r"`{3,}", line)
        if fence is None and run:
            fence = run[0]
        elif fence is not None:
            if line.strip("`") == "" and len(line) >= len(fence):
                fence = None
        else:
            left.append(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
    assert fence is None
    return "\n".join(left)


ACTS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_a_hostile_reply_is_taken_as_it_is_or_refused(tmp_path):
    clock = FakeClock()
    desk = Desk(tmp_path, monotonic=clock.monotonic)
    for n, text in enumerate(ALL):
        hostile_run(tmp_path, f"h{n}", "n")
        clock.sleep(2.0)
        said = text.replace("\r\n", "\n").strip()
        left = tmp_path / f"h{n}" / "owner_reply.json"
        if len(text) > 2_000 or ACTS.search(said):
            with pytest.raises(WebError) as refused:
                desk.replies.leave(f"h{n}", "n", "guidance", text)
            assert refused.value.status == 422
            assert not left.exists()
        else:
            desk.replies.leave(f"h{n}", "n", "guidance", text)
            assert json.loads(left.read_text())["text"] == said


def test_the_rate_of_tries_is_counted_over_all_runs():
    clock = FakeClock()
    rate = Rate(1.0, 1.0, clock.monotonic)
    assert [rate.allows(), rate.allows()] == [True, False]
    clock.sleep(0.9)
    assert not rate.allows()
    clock.sleep(0.2)
    assert rate.allows()
