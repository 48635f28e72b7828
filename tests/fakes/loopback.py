"""A real HTTP server on the loopback that writes what it is told, byte for byte."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Seen:
    """One request as it came in."""

    method: str
    path: str
    body: dict
    headers: dict = field(default_factory=dict)


class Answer(BaseHTTPRequestHandler):
    """Helpers to answer with JSON or a stream, or to break off."""

    protocol_version = "HTTP/1.1"
    server: "Loopback"

    def log_message(self, format, *args):
        """Quiet."""

    def do_GET(self):
        self._take({})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        self._take(json.loads(raw) if raw else {})

    def _take(self, body):
        seen = Seen(self.command, self.path, body, dict(self.headers))
        with self.server.lock:
            self.server.seen.append(seen)
        try:
            self.server.answer(self, seen)
        except (BrokenPipeError, ConnectionResetError):
            self.server.broken_off += 1
            self.close_connection = True

    def json(self, data, status=200):
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def start_stream(self, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def piece(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def drop(self):
        """Close the connection in the middle of whatever was being said."""
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(2)

    def wait(self, seconds):
        """Sleep, but not past the end of the server."""
        self.server.ended.wait(seconds)


class Loopback(ThreadingHTTPServer):
    """Start with `with`; `url` says where it is; subclasses answer."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.seen: list[Seen] = []
        self.broken_off = 0
        """Requests whose client went away before the answer was out."""
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def bodies(self, path):
        """The bodies of the requests to `path`, in order."""
        return [s.body for s in self.seen if s.path.split("?")[0] == path]

    def answer(self, handler, seen):
        raise NotImplementedError

    def handle_error(self, request, client_address):
        """A client that went away is no news here."""

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self.ended.set()
        self.shutdown()
        self._thread.join()
        self.server_close()
