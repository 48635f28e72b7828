"""A web door on a real port of the loopback, for as long as a block lasts."""

import contextlib
import threading
import time
from dataclasses import dataclass

import httpx
import uvicorn

from agent_loop.webguard import Launch, bound
from agent_loop.webguard.serving import settings


@dataclass
class Door:
    """A door that is open."""

    launch: Launch
    server: uvicorn.Server

    @property
    def base(self):
        return f"http://127.0.0.1:{self.launch.port}"

    def stranger(self, **more):
        """A client that is not logged in."""
        return httpx.Client(base_url=self.base, timeout=60, **more)

    def client(self, **more):
        """A client that is logged in, as the page is."""
        made = self.stranger(**more)
        # Tests that share a door would use up its tries to log in.
        made.cookies.set(self.launch.cookie_name, self.launch.cookie, domain="127.0.0.1")
        return made

    @property
    def writing(self):
        """The headers a browser and the page send with a POST."""
        return {"Origin": self.base, "X-CSRF-Token": self.launch.csrf}


@contextlib.contextmanager
def opened(guarded, *, api_key=None):
    """`guarded(launch)` makes the application."""
    socket = bound(0)
    launch = Launch(socket.getsockname()[1], api_key=api_key)
    server = uvicorn.Server(settings(guarded(launch)))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]})
    thread.start()
    try:
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until and thread.is_alive():
            time.sleep(0.01)
        yield Door(launch, server)
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()
