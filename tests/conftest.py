"""Fixtures that several rooms share."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from agent_loop.errors import SandboxUnavailable

# No deadline: a busy machine is no bug. The same examples every time in CI: neither is bad luck.
settings.register_profile(
    "house",
    deadline=None,
    derandomize=os.environ.get("CI") == "true",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

ROOT = Path(__file__).resolve().parents[1]


def lacking(what: str, error: Exception) -> None:
    """Skip the test, or fail it where CI says that `what` has to be there."""
    if os.environ.get(f"REQUIRE_{what}") == "1":
        pytest.fail(f"REQUIRE_{what}=1, but: {error}")
    pytest.skip(str(error))


@pytest.fixture(scope="session")
def engine():
    """The Docker engine of this machine."""
    from agent_loop.sandbox.engine import find_engine

    try:
        found = find_engine(os.environ, Path.home())
    except SandboxUnavailable as error:
        lacking("DOCKER", error)
    yield found
    found.close()


@pytest.fixture(scope="session")
def base_image(engine):
    """Id of the base image; built here once where no checkout of this machine has it."""
    from agent_loop.sandbox.image import set_up_image

    try:
        return set_up_image(engine, "", ROOT / ".scratch", print)
    except SandboxUnavailable as error:
        lacking("DOCKER", error)


@pytest.fixture(scope="session")
def project_image(engine, base_image):
    """Id of the image with pytest and nothing else; needs a package index the first time."""
    from agent_loop.errors import UserError
    from agent_loop.sandbox.project_image import ImageBuilder

    try:
        return ImageBuilder(engine, base=base_image, env=os.environ, notify=print).project_image()
    except UserError as error:
        lacking("DOCKER", error)


@pytest.fixture
def docker_sandbox(engine, base_image):
    """A sandbox of its own for one test; leaves nothing."""
    made = open_docker_sandbox(base_image)
    yield made
    made.close()


def open_docker_sandbox(image, *, runtime="runc", pool=2, notify=print):
    from agent_loop.sandbox import DockerSandbox
    from agent_loop.sandbox.engine import find_engine

    engine = find_engine(os.environ, Path.home())
    return DockerSandbox(engine, image=image, runtime=runtime, pool=pool, notify=notify)
