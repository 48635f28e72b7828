"""A dashboard in a process of its own, and a browser that looks at it."""

import contextlib
import ipaddress
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
# What keeps Chromium from looking for Google's hosts on its own.
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--disable-domain-reliability", "--disable-default-apps",
    "--disable-component-extensions-with-background-pages", "--no-default-browser-check",
    "--disable-features=AutofillServerCommunication,OptimizationHints,MediaRouter,Translate",
    "--disable-client-side-phishing-detection", "--no-pings",
]  # fmt: skip


def chromium() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


@contextlib.contextmanager
def served(runs: Path, module: str = "agent_loop.dashboard", *more: str):
    """`(process, link)` of a web door on a free port; ended at the end."""
    argv = [sys.executable, "-m", module, "--runs", str(runs), "--port", "0", "--no-open", *more]
    process = subprocess.Popen(
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        yield process, _link(process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
        process.stdout.close()


def _link(process) -> str:
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"http://127\.0\.0\.1:\d+/login\?token=\S+", line):
            return found[0]
    raise AssertionError(f"the door said no address: {said}")


class Recorder:
    """A proxy that lets nobody through and remembers who wanted to leave this machine."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.wanted = []
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self):
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            with peer, contextlib.suppress(OSError):
                peer.settimeout(2)
                self.wanted.append(peer.recv(400).split(b"\r\n")[0].decode("latin-1"))
                peer.sendall(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self):
        self._socket.close()


class Watched:
    """A browser context whose pages may say nothing on the console, and the pages themselves."""

    def __init__(self, context, base):
        self.context = context
        self.base = base
        self.said = []
        self.asked = []
        self.forgiven = None
        """What the console may say in this test, as a pattern."""
        context.on("console", self._console)
        context.on("weberror", lambda error: self.said.append(str(error.error)))
        context.on("request", lambda request: self.asked.append(request.url))
        context.set_default_timeout(60_000)

    def _console(self, message):
        if self.forgiven and re.search(self.forgiven, message.text):
            return
        if message.type in ("error", "warning"):
            self.said.append(f"{message.type}: {message.text}")

    def open(self, place="#", *, ready=True):
        page = self.context.new_page()
        page.goto(f"{self.base}/{place}")
        if ready:
            page.locator("main h1").first.wait_for()
        return page

    def go(self, page, place):
        page.evaluate("place => { location.hash = place; }", place)


def logged_in(browser, link):
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.locator("main h1").wait_for()
    state = context.storage_state()
    context.close()
    return link.split("/login")[0], state


def elsewhere(wanted):
    """Without what Chromium asks for itself, whatever page it shows (and whatever its flags)."""
    return [one for one in wanted if not re.search(r"[/ .]google(apis)?\.com[:/]", one)]


def open_elsewhere():
    """Sockets of the browser's processes that lead out of this machine, past any proxy."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            found += [one.raddr for one in process.net_connections("inet") if one.raddr]
    return [one for one in found if not ipaddress.ip_address(one.ip).is_loopback]


@contextlib.contextmanager
def watching(browser, base, state, recorder, **more):
    context = browser.new_context(storage_state=state, **more)
    made = Watched(context, base)
    before = len(recorder.wanted)
    yield made
    context.close()
    assert made.said == []
    assert [url for url in made.asked if not url.startswith((base, "about:"))] == []
    assert elsewhere(recorder.wanted[before:]) == []
    assert open_elsewhere() == []
