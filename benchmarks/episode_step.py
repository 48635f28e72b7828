"""One step of an episode: our container's server against mini-swe-agent's `docker exec`.

Both run the same commands in the same image, in turns. mini-swe-agent comes from the package index
into a virtual environment of its own, which is gone afterwards.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_loop.config import Config, state_dir
from agent_loop.episode.tools import BashTools, Container, Ground
from agent_loop.ports import SystemClock, ToolCall
from agent_loop.sandbox import make_sandbox
from benchmarks.row import Row, halves, middle

STEPS = 50
COMMANDS = ("true", "ls")
THEIRS = "mini-swe-agent==2.4.6"
WITH = (
    "pydantic", "pydantic-core", "annotated-types", "typing-extensions", "typing-inspection",
    "platformdirs", "python-dotenv", "rich", "markdown-it-py", "mdurl", "pygments", "jinja2",
    "markupsafe", "pyyaml",
)  # fmt: skip
"""What its environments import; the rest of what it asks for are model clients."""
CHILD = """
import json, sys, time
from minisweagent.environments.docker import DockerEnvironment
env = DockerEnvironment(image=sys.argv[1], cwd="/tmp", interpreter=["bash", "-c"],
                        run_args=["--rm", "--network=none", "--label=agent-loop.test=benchmark"])
print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    began = time.perf_counter()
    done = env.execute({"command": json.loads(line)})
    print(json.dumps([time.perf_counter() - began, done["returncode"]]), flush=True)
env.cleanup()
"""


def episode_step_row() -> Row:
    """Medians over all steps of both commands; the first of each is not counted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = installed(folder)
        with our_step(folder) as (ours, image), their_step(folder, python, image) as theirs:
            mine: list[float] = []
            other: list[float] = []
            for command in COMMANDS:
                ours(command), theirs(command)
                for _ in range(STEPS // len(COMMANDS)):
                    mine.append(ours(command))
                    other.append(theirs(command))
    return Row(
        what="one step of an episode, median",
        against=f"{THEIRS.replace('==', ' ')}, Docker environment, the same command",
        goal=0.2,
        ours=middle(mine, 1e3),
        theirs=middle(other, 1e3),
        spread=halves(mine, other, 1e3),
        more={"steps": len(mine), "commands": list(COMMANDS)},
    )


def installed(folder: Path) -> Path:
    """The interpreter of an environment that has mini-swe-agent."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [python, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, THEIRS, *WITH], check=True, stdout=sys.stderr)
    return python


@contextmanager
def our_step(folder: Path) -> Iterator[tuple]:
    """Give what runs a command and says how many seconds that took, and the image."""
    project = folder / "project"
    project.mkdir()
    (project / "a.py").write_text("a = 1\n")
    clock = SystemClock()
    settings = Config().sandbox_settings
    sandbox = make_sandbox(settings, state_dir=state_dir(), env=os.environ)
    try:
        container = Container(
            sandbox, clock, project=project, ground=Ground(), protected=lambda _: False
        )
        tools = BashTools(container, clock)

        def step(command: str) -> float:
            began = time.perf_counter()
            call = ToolCall(id="1", name="bash", arguments={"command": command})
            done = tools.call(call, deadline=clock.monotonic() + 30)
            if not done.ok:
                raise RuntimeError(f"{command}: {done.text}")
            return time.perf_counter() - began

        yield step, str(sandbox.describe()["image"])
    finally:
        sandbox.close()


@contextmanager
def their_step(folder: Path, python: Path, image: str) -> Iterator:
    """The same for mini-swe-agent, in a process of its own."""
    env = {**os.environ, "HOME": str(folder), "MSWEA_SILENT_STARTUP": "1"}
    child = subprocess.Popen(
        [python, "-c", CHILD, image],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        text=True,
    )

    def step(command: str) -> float:
        child.stdin.write(json.dumps(command) + "\n")
        child.stdin.flush()
        seconds, code = answer()
        if code:
            raise RuntimeError(f"{command}: exit code {code}")
        return seconds

    def answer() -> list:
        for line in child.stdout:
            try:
                return json.loads(line)
            except ValueError:
                continue  # its greeting
        raise RuntimeError("mini-swe-agent's environment has ended")

    try:
        answer()
        yield step
    finally:
        child.stdin.close()
        child.wait(60)
        child.stdout.close()
        remove(image)


def remove(image: str) -> None:
    """Its clean-up goes on in the background; ours does not wait for that."""
    listed = subprocess.run(
        ["docker", "ps", "-aq", "--filter", "label=agent-loop.test=benchmark", "--filter",
         f"ancestor={image}"],
        check=True, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    if listed:
        subprocess.run(["docker", "rm", "-f", *listed], check=False, capture_output=True)
