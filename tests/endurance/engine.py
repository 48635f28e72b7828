"""Stops and starts the Docker engine in the middle of a run. Not on a shared machine."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from agent_loop.errors import SandboxUnavailable
from agent_loop.graph import drive
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.image import set_up_image
from agent_loop.store import RunStore

PID = Path("/var/run/docker.pid")
STALE = (PID, Path("/var/run/docker/containerd/containerd.pid"))
WAIT_S = 60.0


def stop() -> None:
    """As the service manager would; waits until it is gone."""
    number = int(PID.read_text())
    os.kill(number, signal.SIGTERM)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until and Path(f"/proc/{number}").exists():
        time.sleep(0.1)
    for path in STALE:
        path.unlink(missing_ok=True)


def start() -> None:
    """In a session of its own, as sandbox/engine.sh does; waits until it answers."""
    with open("/tmp/agent-loop-dockerd.log", "ab") as log:
        subprocess.Popen(
            ["dockerd"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        if subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.3)
    raise SandboxUnavailable("dockerd did not come back")


def restart_in_the_middle(found):
    """Down at three moments of a run with the real gate; up again; the run goes on."""
    from tests.fakes.killable import drive_real
    from tests.fakes.kills import bare

    if os.geteuid() != 0 or not PID.exists() or not shutil.which("dockerd"):
        found.skipped = "needs root and a dockerd started by hand"
        return found
    engine = find_engine(os.environ, Path.home())
    image = set_up_image(engine, "", Path(__file__).resolve().parents[2] / ".scratch", print)
    engine.close()
    with tempfile.TemporaryDirectory() as name:
        root, store = Path(name).resolve(), RunStore(Path(name).resolve())
        began = time.monotonic()
        drive_real(str(root), "whole", 0.1, image)
        took, whole = time.monotonic() - began, bare(store.read_record("whole"))
        for part in (0.2, 0.5, 0.8):
            thread = f"d{part}"
            stopper = threading.Timer(took * part, stop)
            stopper.start()
            try:
                outcome = drive_real(str(root), thread, 0.1, image)
            except SandboxUnavailable:
                outcome = "error"
            stopper.join()
            start()
            if outcome != "passed":
                drive.standing(store, thread)
                outcome = drive_real(str(root), thread, 0.1, image)
            same = bare(store.read_record(thread)) == whole
            found.take(outcome == "passed", not same, f"{thread}: {outcome}")
    return found
