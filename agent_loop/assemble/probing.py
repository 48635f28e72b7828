"""The probe of a process, run while the first model thinks."""

import contextlib
import threading

from agent_loop.ports import Sandbox

PROBE_S = 20.0


class Probing:
    """Looks at the protections once, in a thread; a miss is raised by whoever opens first."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, sandbox: Sandbox) -> None:
        """Begin, if nobody has."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=_look, args=(sandbox,), daemon=True)
                self._thread.start()

    def wait(self) -> None:
        """Until its container is given back; not for ever."""
        if self._thread is not None:
            self._thread.join(PROBE_S)


def _look(sandbox: Sandbox) -> None:
    # Raised again by whoever opens a session first.
    with contextlib.suppress(Exception):
        sandbox.probe()
