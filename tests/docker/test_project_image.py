"""Images for projects: what a requirement may do, and what stays of the build."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agent_loop.errors import UserError
from agent_loop.ports import Box, Program
from agent_loop.sandbox.project_image import PYTHON, RECIPES, ImageBuilder
from tests.conftest import open_docker_sandbox
from tests.contract.test_sandbox import read_all, soon
from tests.docker.test_docker_sandbox import wait_until

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(scope="module")
def builder(engine, base_image):
    return ImageBuilder(engine, base=base_image, env=dict(os.environ), notify=print)


@pytest.fixture(scope="module")
def plain_image(builder):
    try:
        return builder.project_image()
    except UserError as error:
        # Without a package index nothing can be built; everything else here needs this image.
        pytest.skip(f"no package index can be reached: {str(error)[-300:]}")


def test_pytest_runs_in_it_and_nothing_of_the_build_is_left(engine, base_image, plain_image):
    text = """
import os, socket, subprocess, sys
def main():
    done = subprocess.run([sys.executable, '-I', '-m', 'pytest', '--version'], capture_output=True)
    socket.create_server(("localhost", 0)).close()
    left = [p for p in ('/build', '/root/.cache', '/root/.config/pip') if os.path.exists(p)]
    print(done.stdout.decode().strip(), left, flush=True)
"""
    program = Program(name="x", modules=(("m", text),), entry="m:main")
    sandbox = open_docker_sandbox(base_image)
    with sandbox.open(Box(program=program, image=plain_image, python=(PYTHON, "-I", "-u"))) as s:
        said = read_all(s, 16).decode()
        end = s.end(deadline=soon())
    sandbox.close()
    assert said.startswith("pytest 9"), (said, end)
    assert said.endswith("[]\n"), said
    with engine.client("look") as api:
        history = json.dumps(api.history(plain_image))
    assert "ca.pem" not in history
    assert "index-url" not in history


def test_the_same_things_give_the_same_image(engine, base_image, plain_image):
    said = []
    again = ImageBuilder(engine, base=base_image, env={}, notify=said.append)
    assert again.project_image(()) == plain_image
    assert said == []


def test_an_edit_of_a_recipe_is_another_image(engine, base_image, builder, tmp_path):
    from agent_loop.sandbox.project_image import _digest

    files = builder._recipe()
    first = _digest(base_image, files)
    for name in files:
        assert _digest(base_image, files | {name: files[name] + b"\n"}) != first
    assert _digest("sha256:other", files) != first


def test_a_build_that_fails_gives_pips_words_and_leaves_nothing(engine, builder, plain_image):
    def dangling():
        with engine.client("list") as api:
            return {i["Id"] for i in api.images(filters={"dangling": True})}

    before = dangling()
    with pytest.raises(UserError, match="no-such-package-of-agent-loop"):
        builder.project_image(("no-such-package-of-agent-loop==1.0",))
    # Another test beside this one may be building: its stages go with its end.
    wait_until(lambda: dangling() <= before)


def test_an_own_dockerfile(engine, builder, base_image, tmp_path):
    (tmp_path / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\nRUN echo here > /here\n")
    image = builder.own_image(tmp_path / "Dockerfile")
    program = Program(name="x", modules=(("m", OWN),), entry="m:main")
    sandbox = open_docker_sandbox(base_image)
    with sandbox.open(Box(program=program, image=image)) as session:
        assert read_all(session, 5) == b"here\n"
    sandbox.close()
    (tmp_path / "Dockerfile").write_text("FROM\n")
    with pytest.raises(UserError, match="could not be built"):
        builder.own_image(tmp_path / "Dockerfile")
    with pytest.raises(UserError, match="No such file"):
        builder.own_image(tmp_path / "none")


OWN = """
import socket
def main():
    socket.create_server(("localhost", 0)).close()
    print(open("/here").read(), end="")
"""


# --- the verifier, in a throw-away environment ---

VERIFIER = RECIPES / "verify_pytest.py"


def wheel(folder: Path, files: dict[str, str], name: str = "evil") -> Path:
    """A wheel that installs exactly these files."""
    path = folder / f"{name}-1-py3-none-any.whl"
    info = f"{name}-1.dist-info"
    files = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in files) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(file, text)
    return path


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    """Our own test environment's pytest, copied so that it can be spoiled."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    here = Path(pytest.__file__).parents[1]
    names = ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "pygments", "pytest_timeout")
    for entry in here.iterdir():
        low = entry.name.lower()
        if low.startswith(names) or low == "py.py":
            subprocess.run(["cp", "-r", entry, site], check=True)
    return folder, site


def verify(venv, *arguments):
    return subprocess.run(
        [venv[0] / "bin" / "python", "-I", VERIFIER, *arguments], capture_output=True, text=True
    )


SPOILS = {
    "a file of pytest replaced": {"_pytest/runner.py": "x = 1\n"},
    "a module put into pytest": {"_pytest/extra.py": "x = 1\n"},
    "pytest shadowed by a module": {"pytest.py": "x = 1\n"},
    "pluggy shadowed by an extension": {"pluggy.so": "x"},
    "code at every start": {"evil.pth": "import evil\n"},
    "sitecustomize": {"sitecustomize.py": "x = 1\n"},
    "usercustomize as a package": {"usercustomize/__init__.py": "x = 1\n"},
}


@pytest.mark.parametrize("what", [*SPOILS, None])
def test_a_requirement_that_touches_pytest_fails_the_build(venv, tmp_path, what):
    """The control is `None`: an honest requirement beside pytest."""
    picture = tmp_path / "picture.json"
    assert verify(venv, "snapshot", picture, tmp_path / "held.txt").returncode == 0
    assert "pluggy==" in (tmp_path / "held.txt").read_text()
    files = SPOILS.get(what, {"honest/__init__.py": "x = 1\n", "honest.pth": "honest\n"})
    before = {}
    with zipfile.ZipFile(wheel(tmp_path, files)) as archive:
        for name in archive.namelist():
            path = venv[1] / name
            before[path] = path.read_bytes() if path.exists() else None
            archive.extract(name, venv[1])
    done = verify(venv, "check", picture)
    for path, data in before.items():
        path.unlink() if data is None else path.write_bytes(data)
        if data is None and path.parent != venv[1] and not any(path.parent.iterdir()):
            path.parent.rmdir()
    assert done.returncode == (1 if what else 0), done.stdout + done.stderr
    assert verify(venv, "check", picture).returncode == 0
    if what:
        assert "a requirement touches pytest" in done.stdout
