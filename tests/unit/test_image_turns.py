"""Two processes that need the same image: built once, and nobody takes the other's stages."""

import threading
from contextlib import contextmanager
from typing import ClassVar

import pytest

from agent_loop.sandbox.base_image import IMAGE_MARK
from agent_loop.sandbox.project_image import ImageBuilder


class Engine:
    """As much of an engine as a build of an own Dockerfile asks of it."""

    version: ClassVar = {}

    def __init__(self, meet):
        self.meet = meet
        self.images = []
        self.builds = 0

    @contextmanager
    def client(self, purpose):
        yield Client(self)


class Client:
    def __init__(self, engine):
        self.engine = engine

    def images(self, filters):
        wanted = filters["label"]
        return [one for one in self.engine.images if wanted in (IMAGE_MARK, one["label"])]

    def inspect_image(self, name):
        return {}

    def build(self, *, labels, **_):
        self.engine.builds += 1
        self.engine.meet()
        number = len(self.engine.images)
        label = f"{IMAGE_MARK}={labels[IMAGE_MARK]}"
        self.engine.images.append(
            {"Id": f"sha256:{number}", "label": label, "Created": number, "RepoTags": []}
        )
        return []


def built_by_two(engine, tmp_path, turns):
    """What two builders, as of two processes, get for one Dockerfile."""
    (tmp_path / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\n")
    got = []

    def build(at):
        builder = ImageBuilder(engine, base="sha256:b", env={}, notify=print, turns=at)
        got.append(builder.own_image(tmp_path / "Dockerfile"))

    threads = [threading.Thread(target=build, args=(at,)) for at in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return got


def test_the_second_waits_and_finds_what_the_first_has_built(tmp_path):
    said = threading.Event()
    engine = Engine(lambda: said.wait(0.3))
    got = built_by_two(engine, tmp_path, [tmp_path / "turns"] * 2)
    assert engine.builds == 1
    assert got == ["sha256:0", "sha256:0"]


@pytest.mark.parametrize("places", [("one", "other"), ("no/such/folder", "no/such/folder")])
def test_control_without_a_turn_both_build(tmp_path, places):
    both = threading.Barrier(2)
    engine = Engine(lambda: both.wait(60))
    built_by_two(engine, tmp_path, [tmp_path / place for place in places])
    assert engine.builds == 2


def test_a_turn_that_never_ends_is_not_waited_for(tmp_path):
    from agent_loop.sandbox.turns import turn

    with turn(tmp_path / "turns"), turn(tmp_path / "turns", wait_s=0.2):
        pass
