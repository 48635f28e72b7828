"""Takes away what dead processes left: their containers, and our images that nobody uses."""

import queue
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from docker.errors import APIError

from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox.base_image import IMAGE_MARK
from agent_loop.sandbox.container import Container, remove
from agent_loop.sandbox.engine import Engine
from agent_loop.sandbox.owner import MARK, Owner, gone


def sweep(engine: Engine, me: Owner, notify: Callable[[str], None]) -> list[str]:
    """Remove the containers whose owner is gone; never one whose owner may live.

    Returns the names removed.
    """
    with engine.client("list containers") as api:
        found = api.containers(all=True, filters={"label": MARK})
    removed = []
    for container in found:
        # A number of another machine says nothing here: engines reached over a network are shared.
        if not (engine.is_local and gone(container.get("Labels") or {}, me)):
            continue
        name = container["Names"][0].lstrip("/") if container.get("Names") else container["Id"]
        try:
            remove(engine, name)
            removed.append(name)
        except SandboxUnavailable as error:
            notify(f"an orphan could not be removed: {error}. Fix: docker rm -f {name}")
    if removed:
        notify(f"removed {len(removed)} containers that a killed run had left behind")
    return removed


def prune_images(engine: Engine, keep: Iterable[str]) -> list[str]:
    """Remove our images except `keep` (ids) and those that containers still use.

    Returns the ids removed.
    """
    kept = set(keep)
    with engine.client("list images") as api:
        found = [image["Id"] for image in api.images(filters={"label": IMAGE_MARK})]
        removed = []
        for image in found:
            if image in kept:
                continue
            # 409: a container or another image stands on it.
            with suppress(APIError):
                api.remove_image(image)
                removed.append(image)
    return removed


class Remover:
    """Removes used containers in the background."""

    THREADS = 2
    BACKLOG = 16
    """With more than this waiting, whoever brings the next one does the work."""

    def __init__(self) -> None:
        self._queue: queue.Queue[Container | None] = queue.Queue(self.BACKLOG)
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def put(self, container: Container) -> None:
        """Have it removed soon; at once when too many wait or all is closing."""
        with self._lock:
            while len(self._threads) < self.THREADS and not self._closed:
                thread = threading.Thread(target=self._work, name="remover", daemon=True)
                self._threads.append(thread)
                thread.start()
            if not self._closed:
                try:
                    self._queue.put_nowait(container)
                except queue.Full:
                    pass
                else:
                    return
        container.remove_now()

    @property
    def idle(self) -> bool:
        """Everything brought is gone."""
        return self._queue.unfinished_tasks == 0

    def close(self) -> None:
        """Wait until everything brought is gone."""
        with self._lock:
            self._closed = True
            threads = self._threads
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        while (container := self._queue.get()) is not None:
            container.remove_now()
            self._queue.task_done()
