"""What the dashboard promises, broken one at a time by a client: refused, with a control."""

import json
import socket
import time

import pytest

from agent_loop import __version__
from agent_loop.graph.drive import resume, start
from agent_loop.store import MailboxOwner, RunStore
from agent_loop.viewer.api import About, Api
from agent_loop.viewer.app import make_app
from agent_loop.viewer.desk import Desk
from agent_loop.viewer.static import Static
from agent_loop.webguard import Bounds, Guard, Launch
from tests.fakes.clock import FakeClock
from tests.fakes.runs import RIGHT, job, parts, wrong
from tests.fakes.webdoor import opened

ADDRESSES = ("/", "/static/app.js", "/api/session", "/api/runs", "/api/runs/paused", "/api/evals",
             "/api/runs/stream", "/api/openapi.json", "/api/nothing")  # fmt: skip


@pytest.fixture(scope="module")
def clock():
    return FakeClock()


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    found = RunStore(tmp_path_factory.mktemp("runs"))
    start("passed", job(), parts(worker=[RIGHT]), found)
    start("paused", job(rejection_cap=1), parts(worker=[wrong(1)]), found)
    return found


@pytest.fixture(scope="module")
def door(store, clock):
    def guarded(launch):
        desk = Desk(store.root, monotonic=clock.monotonic)
        about = About(kind="dashboard", version=__version__, launch=launch)
        app = make_app("test", __version__, [Api(desk, about).router()], Static())
        return Guard(app, launch)

    with opened(guarded) as made:
        yield made


@pytest.fixture
def client(door):
    with door.client() as made:
        yield made


@pytest.fixture
def reply(door, client, store, clock):
    """Sends an answer that is right but for what is changed; a second has passed."""

    def send(thread="paused", headers=None, raw=None, body=None, drop=()):
        clock.sleep(1.1)
        pause = client.get("/api/runs/paused").json()["pause"]
        whole = {"nonce": pause["nonce"], "kind": "guidance", "text": "Return 1."} | (body or {})
        sent = {**door.writing, "Content-Type": "application/json"} | (headers or {})
        sent = {key: value for key, value in sent.items() if key not in drop}
        content = json.dumps(whole).encode() if raw is None else raw
        return client.post(f"/api/runs/{thread}/reply", content=content, headers=sent)

    mailbox = store.mailbox("paused").path
    mailbox.unlink(missing_ok=True)
    yield send
    mailbox.unlink(missing_ok=True)


def code(response):
    return response.status_code, response.json()["error"]["code"]


# --- who may come in


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_shown_without_the_cookie(door, client, address):
    with door.stranger() as stranger:
        assert stranger.get(address).status_code == 401
    if "stream" not in address:
        assert client.get(address).status_code in (200, 404)


def test_the_printed_address_opens_once(door):
    link = door.launch.link()
    with door.stranger() as first, door.stranger() as second:
        answer = first.get(link)
        assert answer.status_code == 303
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert first.get("/api/session").status_code == 200
        assert second.get(link).status_code == 403
        assert second.get("/api/session").status_code == 401


@pytest.mark.parametrize("token", ["", "x", "é" * 40, "a" * 5_000, "' or 1=1 --"])
def test_a_guessed_token_opens_nothing(door, token):
    with door.stranger() as stranger:
        answer = stranger.get("/login", params={"token": token})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_a_look_ahead_does_not_spend_the_token(door):
    link = door.launch.link()
    with door.stranger() as stranger:
        assert stranger.get(link, headers={"Sec-Purpose": "prefetch"}).status_code == 405
        assert stranger.head(link).status_code == 405
        assert stranger.get(link).status_code == 303


def test_each_launch_has_its_own_secrets(door):
    other = Launch(door.launch.port)
    assert (other.cookie, other.csrf) != (door.launch.cookie, door.launch.csrf)
    assert len({Launch(1).link() for _ in range(50)}) == 50
    with door.stranger() as stranger:
        stranger.cookies.set(other.cookie_name, other.cookie, domain="127.0.0.1")
        assert stranger.get("/api/session").status_code == 401


def test_guessing_is_slowed_down(store):
    def guarded(launch):
        return Guard(make_app("test", "0", [], Static()), launch, bounds=Bounds(logins_burst=3))

    with opened(guarded) as made, made.stranger() as stranger:
        answers = [stranger.get("/login?token=x").status_code for _ in range(6)]
    assert answers[:3] == [403] * 3
    assert answers[-1] == 429


# --- from where


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost", "127.0.0.1:1",
     "0.0.0.0:{port}",
     "127.0.0.1:{port}.evil.example", "LOCALHOST:{port}", "[::1]:{port}", "127.1:{port}", ""],
)  # fmt: skip
def test_another_host_is_refused(client, door, host):
    sent = {"Host": host.replace("{port}", str(door.launch.port))}
    assert client.get("/api/session", headers=sent).status_code in (400, 403)
    assert client.get("/api/session").status_code == 200


def test_both_names_of_the_loopback_are_ours(door):
    with door.stranger() as stranger:
        sent = {
            "Host": f"localhost:{door.launch.port}",
            "Cookie": f"{door.launch.cookie_name}={door.launch.cookie}",
        }
        assert stranger.get("/api/session", headers=sent).status_code == 200


def test_a_request_with_two_hosts_is_refused(door):
    raw = (
        f"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:{door.launch.port}\r\nHost: evil.example\r\n"
        f"Cookie: {door.launch.cookie_name}={door.launch.cookie}\r\nConnection: close\r\n\r\n"
    )
    assert spoken(door, raw.encode()).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_requests_that_other_pages_start_are_refused(client, site):
    # Another port of this machine is the same site: it gets our cookie.
    assert client.get("/api/runs", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert client.get("/api/runs", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_no_other_page_may_read_an_answer(client):
    sent = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answers = [client.options("/api/runs", headers=sent), client.get("/api/runs", headers=sent)]
    assert [answer.status_code for answer in answers] == [405, 403]
    for answer in [*answers, client.get("/api/runs")]:
        assert not [name for name in answer.headers if name.startswith("access-control")]
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_only_the_loopback_listens(door):
    assert door.server.servers[0].sockets[0].getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
def test_there_are_three_methods(client, method):
    assert client.request(method, "/api/runs").status_code == 405


# --- what the browser may do with it


@pytest.mark.parametrize("address", [*ADDRESSES[:6], "/login?token=x", "/api/nothing"])
def test_every_answer_forbids_inline_and_outside(client, address):
    answer = client.get(address)
    rules = answer.headers["content-security-policy"].split("; ")
    assert "default-src 'none'" in rules
    assert "script-src 'self'" in rules
    assert "style-src 'self'" in rules
    assert "require-trusted-types-for 'script'" in rules
    assert "frame-ancestors 'none'" in rules
    assert not any(word in answer.headers["content-security-policy"]
                   for word in ("unsafe", "http:", "https:", "data:", "*"))  # fmt: skip
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] in ("no-store", "no-cache", "no-store, no-transform")


# --- the one thing that is written


def test_the_right_reply_is_taken_used_once_and_deleted(reply, store, tmp_path):
    answer = reply()
    assert answer.status_code == 202
    mailbox = store.mailbox("paused").path
    left = json.loads(mailbox.read_text())
    assert (left["kind"], left["text"]) == ("guidance", "Return 1.")
    pause = left["nonce"]
    assert store.mailbox("paused").take(pause).text == "Return 1."
    assert not mailbox.exists()
    assert store.mailbox("paused").take(pause) is None


def test_a_reply_without_login_is_refused(door, reply):
    assert reply().status_code == 202
    with door.stranger() as stranger:
        answer = stranger.post("/api/runs/paused/reply", json={}, headers=door.writing)
        assert code(answer) == (401, "login")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:{port}",
               "http://localhost:{port}", "http://127.0.0.1:{port}/",
               "http://127.0.0.1:{port}.x", ""],
)  # fmt: skip
def test_a_reply_from_another_origin_is_refused(door, reply, store, origin):
    sent = {"Origin": origin.replace("{port}", str(door.launch.port))}
    assert code(reply(headers=sent)) == (403, "origin")
    assert not store.mailbox("paused").path.exists()


def test_a_reply_without_an_origin_is_refused(reply):
    assert code(reply(drop=("Origin",))) == (403, "origin")


@pytest.mark.parametrize("token", ["", "x", "é"])
def test_a_reply_without_the_token_of_this_launch_is_refused(reply, token):
    assert code(reply(headers={"X-CSRF-Token": token.encode()})) == (403, "csrf")
    assert code(reply(drop=("X-CSRF-Token",))) == (403, "csrf")


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_reply_that_says_it_is_no_json_is_refused(reply, kind):
    assert code(reply(headers={"Content-Type": kind})) == (415, "json")


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b'"stop"', b"\xff\xfe", b"[" * 4_000, b"\x00" * 100,
            b'{"nonce": "x", "kind": "stop", "text": "\\ud800"}',
            b'{"nonce": "x", "kind": "stop", "extra": 1}'],
)  # fmt: skip
def test_a_reply_that_is_no_answer_is_refused(reply, raw):
    assert reply(raw=raw).status_code in (400, 409, 422)


def test_a_reply_of_more_than_four_kilobytes_is_refused(door, reply):
    assert code(reply(raw=b"{" + b" " * 4_096)) == (413, "large")
    assert reply(raw=b" " * 4_096).status_code == 422
    head = (
        f"POST /api/runs/paused/reply HTTP/1.1\r\nHost: 127.0.0.1:{door.launch.port}\r\n"
        f"Cookie: {door.launch.cookie_name}={door.launch.cookie}\r\nOrigin: {door.base}\r\n"
        f"X-CSRF-Token: {door.launch.csrf}\r\nContent-Type: application/json\r\n"
    )
    piece = b"400\r\n" + b" " * 1_024 + b"\r\n"
    sent = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + piece * 5
    assert spoken(door, sent).startswith(b"HTTP/1.1 413")
    assert spoken(door, f"{head}Content-Length: -1\r\n\r\n".encode()).startswith(b"HTTP/1.1 400")


def test_a_reply_to_a_run_that_is_not_paused_is_refused(reply):
    assert code(reply(thread="passed")) == (409, "not_paused")
    assert code(reply(thread="nobody")) == (404, "run")


def test_a_reply_to_another_pause_is_refused(reply):
    assert code(reply(body={"nonce": "0" * 32})) == (409, "stale_nonce")


@pytest.mark.parametrize(
    "text", ["", "   ", "\n", "a\x00b", "a\x1b[2Jb", "\u202estop", "a\x7fb", "a\x85b", "\u2066x"]
)
def test_a_reply_that_acts_instead_of_being_read_is_refused(reply, text):
    assert code(reply(body={"text": text})) == (422, "bad_text")


def test_the_length_of_a_reply_has_an_end(reply):
    assert reply(body={"text": "x" * 2_001}).status_code == 422
    assert reply(body={"text": "x" * 2_000}).status_code == 202


@pytest.mark.parametrize(("kind", "text"), [("guidance", "Stop."), ("stop", "accept"),
                                            ("accept", "please go on")])  # fmt: skip
def test_a_button_and_a_text_that_disagree_are_refused(reply, kind, text):
    assert code(reply(body={"kind": kind, "text": text})) == (422, "kind_mismatch")


def test_a_second_reply_to_a_pause_is_refused_while_one_waits(reply):
    assert reply().status_code == 202
    assert code(reply()) == (409, "reply_waiting")


def test_an_answer_to_an_older_pause_does_not_stand_in_the_way(reply, store):
    store.mailbox("paused").put("0" * 32, "old words")
    assert reply().status_code == 202


def test_there_is_one_try_a_second(reply, client, door):
    assert code(reply(body={"nonce": "x"})) == (409, "stale_nonce")
    answer = client.post("/api/runs/paused/reply", headers=door.writing,
                         json={"nonce": "x", "kind": "stop"})  # fmt: skip
    assert code(answer) == (429, "too_soon")
    assert answer.headers["retry-after"] == "1"


def test_a_run_goes_on_with_the_reply_of_the_page(tmp_path, clock):
    store = RunStore(tmp_path)
    start("one", job(rejection_cap=1), parts(worker=[wrong(1)]), store)
    desk = Desk(tmp_path, monotonic=time.monotonic)
    nonce = desk.run("one")["pause"]["nonce"]
    desk.replies.leave("one", nonce, "guidance", "Say right.")
    owner = MailboxOwner(store.mailbox("one"), clock, wait_s=0)
    result = resume("one", parts(worker=[RIGHT], owner=owner), store)
    assert result.outcome == "passed"
    assert not store.mailbox("one").path.exists()
    assert desk.run("one")["pause"] is None


def spoken(door, raw):
    """What the door answers to these bytes."""
    with socket.create_connection(("127.0.0.1", door.launch.port), timeout=60) as made:
        made.sendall(raw)
        return made.recv(4_096)
