"""An arXiv server on this machine: serves feeds, and misbehaves on demand. Shipped for tests.

`python tests/fakes/arxiv_server.py FEED.xml` serves one file and prints its address.
"""

import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ATOM = "application/atom+xml; charset=utf-8"


@dataclass
class Answer:
    """What one request gets."""

    body: bytes = b""
    status: int = 200
    type: str | None = ATOM
    headers: dict = field(default_factory=dict)
    stall_s: float = 0.0
    """Silence before the first byte."""
    drip_s: float = 0.0
    """Silence after each byte."""
    drip_head_s: float = 0.0
    """The same, in the headers."""
    unsized: bool = False
    """No Content-Length: the body ends with the connection."""
    endless: bytes = b""
    """Repeated until the client goes."""


@dataclass
class Asked:
    """One request the server saw."""

    at: float
    path: str
    agent: str


class FakeArxiv:
    """Answers come in order; the last one is repeated."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []
        self._lock = threading.Lock()
        self.stop = threading.Event()

    def next(self, handler):
        with self._lock:
            self.asked.append(
                Asked(time.monotonic(), handler.path, handler.headers.get("User-Agent", ""))
            )
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @contextmanager
    def serving(self):
        """The address, while the server is up."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (_Handler,), {"fake": self}))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            self.stop.set()
            server.shutdown()
            server.server_close()
            thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    fake = None

    def do_GET(self):
        answer = self.fake.next(self)
        if answer.stall_s:
            self.fake.stop.wait(answer.stall_s)
        try:
            self._send(answer)
        except OSError:
            self.close_connection = True

    def _send(self, answer):
        headers = {"Content-Type": answer.type} if answer.type else {}
        if not (answer.endless or answer.unsized):
            headers["Content-Length"] = str(len(answer.body))
        lines = [f"HTTP/1.0 {answer.status} Said"]
        lines += [f"{name}: {value}" for name, value in {**headers, **answer.headers}.items()]
        head = "\r\n".join([*lines, "", ""]).encode()
        self._write(head, answer.drip_head_s)
        self._write(answer.body, answer.drip_s)
        while answer.endless and not self.fake.stop.is_set():
            self.wfile.write(answer.endless)

    def _write(self, data, drip_s):
        if not drip_s:
            self.wfile.write(data)
            return
        for byte in data:
            self.wfile.write(bytes([byte]))
            if self.fake.stop.wait(drip_s):
                return

    def log_message(self, *_):
        pass


def feed(*entries, total=None):
    """A feed of `entry(...)` texts."""
    count = len(entries) if total is None else total
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" '
        'xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">'
        f"<title>q</title><opensearch:totalResults>{count}</opensearch:totalResults>"
        + "".join(entries)
        + "</feed>"
    ).encode()


def entry(identity, summary, *, title="A Title", published="2024-01-01T00:00:00Z", comment=""):
    """One paper; `summary` is XML text."""
    said = f"<arxiv:comment>{comment}</arxiv:comment>" if comment else ""
    return (
        f"<entry><id>http://arxiv.org/abs/{identity}</id><title>{title}</title>"
        f"<summary>{summary}</summary><published>{published}</published>"
        f"<updated>{published}</updated><author><name>A. Author</name></author>{said}"
        '<arxiv:primary_category term="cs.LG"/></entry>'
    )


if __name__ == "__main__":
    with FakeArxiv(Answer(Path(sys.argv[1]).read_bytes())).serving() as address:
        print(address, flush=True)
        threading.Event().wait()
