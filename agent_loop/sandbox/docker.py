"""`ports.Sandbox` in Docker: probe first, then warm one-shot containers."""

import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agent_loop.errors import DeadlinePassed, SandboxUnavailable
from agent_loop.ports import Box, Json, ProbeLine, Program
from agent_loop.sandbox import image as images
from agent_loop.sandbox.bundle import bundle, inside
from agent_loop.sandbox.container import start
from agent_loop.sandbox.engine import Engine
from agent_loop.sandbox.flags import Config, container_config
from agent_loop.sandbox.lives import Lives
from agent_loop.sandbox.owner import MARK, this_process
from agent_loop.sandbox.pool import Pool
from agent_loop.sandbox.probe import Expected, judge, missing
from agent_loop.sandbox.reaper import Remover, sweep
from agent_loop.sandbox.session import PipeSession

PROBE_S = 30.0
NOT_FOUND = 127
EMPTY = Program(name="probe", modules=(), entry="")
SHELVES = 4
"""How many kinds of container may wait at the same time, each with a full pool."""


class DockerSandbox:
    """Containers of one engine, one runtime and one base image.

    Args:
        engine: where; closed by `close`.
        image: id of the base image.
        runtime: `runc` or `runsc`.
        pool: how many containers of one kind may wait.
        notify: gets one line for each thing the owner should know.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        image: str,
        runtime: str,
        pool: int,
        notify: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._image = image
        self._runtime = runtime
        self._notify = notify
        self._owner = this_process()
        self._remover = Remover()
        self._lives = Lives()
        self._pool = Pool(self._start_probed, per_box=pool, in_all=pool * SHELVES)
        self._open: set[PipeSession] = set()
        self._probing = threading.Lock()
        self._names: dict[str, bool] = {}
        self._probed: dict[tuple[str, bool, bool, bool], list[ProbeLine]] = {}
        sweep(engine, self._owner, notify)

    # --- ports.Sandbox ---

    def probe(self) -> Sequence[ProbeLine]:
        return self._probe(Box(program=EMPTY))

    def open(self, box: Box) -> PipeSession:
        self._probe(box)
        session = self._pool.take(box) or self._start(box)
        self._open.add(session)
        session.on_close = lambda over: self._over(over, box)
        self._lives.watch(session, box.limits.life_s)
        return session

    def warm(self, box: Box, count: int) -> None:
        self._pool.want(box, count)

    def waiting(self, box: Box) -> int:
        """How many sessions of this kind are ready now."""
        return self._pool.ready(box)

    def describe(self) -> Mapping[str, Json]:
        return {
            "kind": "docker",
            "engine": str(self._engine.version.get("Version", "unknown")),
            "runtime": self._runtime,
            "image": self._image,
            "cgroups": str(self._engine.info.get("CgroupVersion", "unknown")),
        }

    def close(self) -> None:
        self._pool.close()
        for session in list(self._open):
            session.close()
        self._lives.close()
        self._remover.close()
        self._engine.close()

    # --- inner ---

    def _over(self, session: PipeSession, box: Box) -> None:
        self._open.discard(session)
        self._lives.forget(session)
        self._pool.used(box)

    def _start_probed(self, box: Box) -> PipeSession:
        """For the pool: the probe runs while a model is still thinking."""
        self._probe(box)
        return self._start(box)

    def _start(self, box: Box) -> PipeSession:
        config = self.config(box)
        return start(
            self._engine,
            config,
            box.limits,
            first=bundle(box.program),
            notify=self._notify,
            remove=self._remover.put,
        )

    def config(self, box: Box) -> Config:
        """The create request of this kind of container.

        Raises:
            SandboxUnavailable: the box names an image by tag, or a folder that is not there.
        """
        image = box.image or self._image
        if not images.is_id(image):
            raise SandboxUnavailable(f"{image} is not an image id (sha256:…); tags are not used")
        for mount in box.mounts:
            if not Path(mount.source).exists():
                raise SandboxUnavailable(f"{mount.source} is not there; it cannot be mounted")
        return container_config(
            box,
            image=image,
            runtime=self._runtime,
            labels=self._owner.labels() | {f"{MARK}.program": box.program.name},
            selinux=self._engine.selinux,
            names=bool(box.mounts or box.workspace) and not self._knows_names(image),
        )

    def _knows_names(self, image: str) -> bool:
        """Tests of projects start servers on localhost; asked once for each image."""
        if image not in self._names:
            self._names[image] = images.knows_names(self._engine, image)
        return self._names[image]

    def _probe(self, box: Box) -> list[ProbeLine]:
        """Once per image and kind of container; the first caller looks, the others wait."""
        key = (box.image or self._image, bool(box.mounts), box.workspace is not None, box.init)
        with self._probing:
            if (known := self._probed.get(key)) is None:
                known = look_inside(self._engine, self.config(box), box, notify=self._notify)
                self._probed[key] = known
        if problem := missing(known):
            raise SandboxUnavailable(
                f"the sandbox does not hold, so no model code ran: {problem}. "
                "Fix the engine and try again (loop.py --doctor shows every protection)"
            )
        return known


def look_inside(
    engine: Engine, config: Config, box: Box, *, notify: Callable[[str], None]
) -> list[ProbeLine]:
    """Start one container exactly so, look at every protection from inside, remove it.

    Raises:
        SandboxUnavailable: it could not be started or gave no facts.
    """
    targets = [mount.target for mount in box.mounts]
    workspace = box.workspace.target if box.workspace else ""
    wanted = f"TARGETS = {targets!r}\nWORKSPACE = {workspace!r}\n"
    modules = (("wanted", wanted), ("looks", inside("probe")))
    program = Program(name="probe", modules=modules, entry="looks:main")
    deadline = time.monotonic() + PROBE_S
    said = bytearray()
    with start(engine, config, box.limits, first=bundle(program), notify=notify) as session:
        with suppress(DeadlinePassed):
            while piece := session.receive(deadline=deadline):
                said += piece
        end = session.end(deadline=deadline)
    try:
        facts = json.loads(bytes(said))
    except ValueError as error:
        problem = f"{end.stderr[-800:]} {end.why}".strip()
        if end.code == NOT_FOUND:
            problem += (
                f". The image has no {box.python[0]}, which our programs need inside. Fix: install "
                "Python 3 in the task's Dockerfile"
            )
        raise SandboxUnavailable(
            f"the probe gave no facts, so no model code ran: {problem}"
        ) from error
    return judge(facts, _expected(engine, config, box))


def _expected(engine: Engine, config: Config, box: Box) -> Expected:
    kernel = str(engine.info.get("KernelVersion", ""))
    here = os.uname().release if hasattr(os, "uname") else ""
    return Expected(
        box=box,
        runtime=config["HostConfig"]["Runtime"],
        host_namespaces=_own_namespaces() if kernel == here and engine.is_local else {},
        host_kernel=kernel,
        image_environment=images.environment(engine, config["Image"]),
        selinux=engine.selinux,
    )


def _own_namespaces() -> dict[str, str]:
    found = {}
    for name in ("net", "ipc", "pid", "mnt", "uts"):
        with suppress(OSError):
            found[name] = str(Path(f"/proc/self/ns/{name}").readlink())
    return found
