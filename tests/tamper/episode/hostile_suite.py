"""Runs hostile episodes in real containers: `python -m tests.tamper.episode.hostile_suite`."""

import argparse
import hashlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import docker

from agent_loop.config import SandboxSettings
from agent_loop.episode.tools import BashTools, Container, Ground
from agent_loop.ports import Limits, SystemClock, ToolCall
from agent_loop.sandbox import make_sandbox
from agent_loop.workspace import Tree, copy_project
from tests.tamper.episode.hostile_cases import CASES, Case, Found

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "projects" / "slugify_demo"
COMMAND_S = 2.5
FILES = 6_000
"""Fewer than by default, so that using them up takes no time."""
LIFE_S = 1800.0
"""All cases share one container, and the machine may be busy."""
PROTECTED = re.compile(
    r"(.*/)?tests/.*|(.*/)?(conftest|sitecustomize)\.py|.*\.(pth|ini|toml|cfg)|(.*/)?\.git/.*"
)


@contextmanager
def episode(sandbox, folder: Path, command_s: float) -> Iterator[BashTools]:
    """The demo project in a container of its own."""
    project = folder / "copy"
    copy_project(DEMO, project)
    (project / "kept.txt").write_text("kept\n")
    clock = SystemClock()
    container = Container(
        sandbox,
        clock,
        project=project,
        ground=Ground(limits=Limits(life_s=LIFE_S), workspace_files=FILES),
        protected=lambda path: bool(PROTECTED.fullmatch(path)),
    )
    tools = BashTools(container, clock, command_s=command_s)
    try:
        yield tools
    finally:
        tools.close()


def call(tools: BashTools, command: str):
    call = ToolCall(id="1", name="bash", arguments={"command": command})
    return tools.call(call, deadline=time.monotonic() + 30)


def run_case(tools: BashTools, case: Case, marker: Path) -> Found:
    """One case in a running episode, everything that it must and must not do."""
    found = Found(case=case)
    began = time.monotonic()
    given = call(tools, case.command.replace("{marker}", str(marker)))
    found.text = given.text
    found.expect(case.says, given.text, "said")
    if case.never and re.search(case.never, given.text, re.MULTILINE):
        found.problems.append(f"said what it must not: {given.text[:300]!r}")
    found.restarted = AFRESH in given.text
    if found.restarted and not case.restart:
        found.problems.append("the container ended")
    if case.ok is not None and given.ok != case.ok:
        found.problems.append(f"ok is {given.ok}")
    if case.then:
        look_behind(tools, case, found)
    look_at_tree(tools, case, found)
    found.seconds = time.monotonic() - began
    if found.seconds > case.within_s + 2 * tools._command_s:
        found.problems.append(f"it took {found.seconds:.1f} s")
    if marker.exists():
        found.problems.append("a program ran on the host")
    call(tools, PUT_BACK)
    return found


def look_behind(tools: BashTools, case: Case, found: Found) -> None:
    """The next command: nothing of the first may be left."""
    text = call(tools, case.then).text
    if AFRESH in text and case.restart:
        found.restarted = True
        text = call(tools, case.then).text
    found.expect(case.then_says, text, "then")
    if case.then_never and re.search(case.then_never, text, re.MULTILINE):
        found.problems.append(f"then said what it must not: {text[:300]!r}")


AFRESH = "A fresh one was started"
PUT_BACK = (
    "chmod -R u+rwx .; find . -mindepth 1 -maxdepth 1 ! -name tests -exec rm -rf {} +; "
    "rm -rf /tmp/*; mkdir -p slugify; echo 'x = 1' > slugify/core.py; "
    "echo kept > kept.txt; echo r > README.md"
)


def look_at_tree(tools: BashTools, case: Case, found: Found) -> None:
    if not (case.taken or case.not_taken or case.left_out):
        return
    harvest = tools.harvest()
    for path in case.taken:
        if path not in harvest.files:
            found.problems.append(f"{path} is not in the tree")
    for path in case.not_taken:
        if path in harvest.files:
            found.problems.append(f"{path} is in the tree")
    found.expect(case.left_out, "\n".join(harvest.left_out), "left out")


def run_control(client, image: str, case: Case) -> str:
    """What the same trick does where nothing holds it; empty when it works, as it must."""
    try:
        said = client.containers.run(
            image,
            ["/bin/bash", "-c", case.control],
            remove=True,
            labels={"agent-loop.test": "control"},
        ).decode("utf-8", "replace")
    except docker.errors.ContainerError as error:
        said = str(error.stderr)
    if re.search(case.plain, said, re.MULTILINE):
        return ""
    return f"the control shows nothing: {said[:300]!r}"


def state_of(folder: Path) -> str:
    """Everything about a folder that a hostile episode could have changed."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        total.update(f"{path}:{status.st_mode}:{status.st_size}:{status.st_mtime_ns};".encode())
    total.update(Tree(folder).digest().encode())
    return total.hexdigest()


def run_suite(
    cases: Sequence[Case],
    runtime="runc",
    *,
    controls=True,
    tell=lambda _: None,
    command_s=COMMAND_S,
):
    """Give what each case found, and what was left of all of them: must be nothing."""
    state = ROOT / ".scratch"
    settings = SandboxSettings(runtime=runtime)
    client = docker.from_env()
    others = set(containers_of_this_process(client))  # of a sandbox that another test holds
    sandbox = make_sandbox(settings, state_dir=state, notify=tell, env=os.environ)
    image = sandbox.describe()["image"]
    results, left = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        marker = folder / "ran-on-the-host"
        try:
            with episode(sandbox, folder, command_s) as tools:
                before = state_of(folder / "copy")
                for case in cases:
                    found = run_case(tools, case, marker)
                    if case.control and controls:
                        found.problems += filter(None, [run_control(client, image, case)])
                    results.append(found)
                    tell(line(found))
                if state_of(folder / "copy") != before:
                    left.append("the project copy on the host has changed")
                volumes = [m["Name"] for m in mounts_of(client, tools)]
        finally:
            sandbox.close()
        if marker.exists():
            left.append("a program ran on the host")
    left += [one for one in remains(client, volumes) if one not in others]
    client.close()
    return results, left


def mounts_of(client, tools: BashTools) -> list:
    name = tools.container._keeper.session.name
    inside = client.api.inspect_container(name)["Mounts"]
    return [mount for mount in inside if mount["Type"] == "volume"]


def containers_of_this_process(client) -> list[str]:
    mine = {"label": f"agent-loop.pid={os.getpid()}"}
    return [c.name for c in client.containers.list(all=True, filters=mine)]


def remains(client, volumes: list[str]) -> list[str]:
    """Containers and volumes of this process that are still there."""
    found = containers_of_this_process(client)
    there = {volume.name for volume in client.volumes.list()}
    return found + [volume for volume in volumes if volume in there]


def line(found: Found) -> str:
    mark = "ok  " if not found.problems else "FAIL"
    control = "control shows it" if found.case.control else ""
    more = "restarted" if found.restarted else control
    text = f"{mark} {found.seconds:5.1f} s  {found.case.name:<62} {more}"
    return text + "".join(f"\n       {problem}" for problem in found.problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", default="runc", choices=["runc", "runsc"])
    parser.add_argument("--verbose", action="store_true", help="show what each said")
    parser.add_argument("--command-s", type=float, default=COMMAND_S, help="for each command")
    parser.add_argument("--only", default="", help="part of a case's name")
    options = parser.parse_args()
    chosen = [case for case in CASES if options.only in case.name]
    results, left = run_suite(chosen, options.runtime, tell=print, command_s=options.command_s)
    for found in results if options.verbose else ():
        print(f"\n--- {found.case.name}\n{found.text[:900]}")
    bad = [found for found in results if found.problems]
    left_text = left or "nothing"
    print(f"{len(results)} hostile episodes, {len(bad)} with problems; left behind: {left_text}")
    return 1 if bad or left else 0


if __name__ == "__main__":
    sys.exit(main())
