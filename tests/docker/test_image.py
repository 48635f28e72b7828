"""The base image: pinned, looked at again, and set up anew when the pin is damaged."""

import hashlib
import io
import json
import tarfile
import tempfile
from pathlib import Path

import pytest

from agent_loop.config import SandboxSettings
from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox import make_sandbox
from agent_loop.sandbox.base_image import recipe
from agent_loop.sandbox.image import (
    _built_before,
    pinned_image,
    refuse_emulation,
    set_up_image,
)
from agent_loop.sandbox.turns import turn

pytestmark = pytest.mark.docker


@pytest.fixture
def own_tags():
    """The engine's tags for one test: the one that moves them would mislead others beside it."""
    with turn(Path(tempfile.gettempdir()) / "agent-loop-tests-of-tags.lock"):
        yield


def test_no_pin_fails_closed(engine, tmp_path):
    with pytest.raises(SandboxUnavailable, match=r"no base image.*make image"):
        pinned_image(engine, "", tmp_path)
    absent = "python@sha256:" + "0" * 64
    with pytest.raises(SandboxUnavailable, match="is not on this engine"):
        pinned_image(engine, absent, tmp_path)


def test_a_pin_of_an_image_that_is_gone_fails_closed(engine, tmp_path):
    lock = {"version": 1, "image": "sha256:" + "1" * 64}
    (tmp_path / "image.lock").write_text(json.dumps(lock))
    with pytest.raises(SandboxUnavailable, match="not on this engine any more"):
        pinned_image(engine, "", tmp_path)


@pytest.mark.parametrize("text", ["{", json.dumps({"image": "sha256:" + "1" * 64}), None])
def test_set_up_mends_the_pin_without_building_again(engine, base_image, own_tags, tmp_path, text):
    if text is not None:
        (tmp_path / "image.lock").write_text(text)
    said = []
    image = set_up_image(engine, "", tmp_path, said.append)
    # Another checkout may have built its own meanwhile; what counts is that nothing was built.
    assert not any("building" in line for line in said)
    assert pinned_image(engine, "", tmp_path) == image
    assert ("damaged" in " ".join(said)) == (text == "{")


def test_what_is_built_on_a_base_is_never_taken_for_one(engine, base_image, own_tags, tmp_path):
    """Labels are inherited, and the tag can be moved by anybody who may use the engine."""
    name = f"agent-loop-base:{recipe().digest}"
    with engine.client("prepare") as api:
        honest = api.inspect_image(name)["Id"]
        lines = api.build(
            fileobj=io.BytesIO(f"FROM {base_image}\nRUN touch /planted\n".encode()),
            decode=True,
            rm=True,
        )
        planted = next(line["aux"]["ID"] for line in list(lines) if "aux" in line)
        api.tag(planted, "agent-loop-base", recipe().digest, force=True)
    try:
        assert _built_before(engine) is None
    finally:
        with engine.client("put back") as api:
            api.tag(honest, "agent-loop-base", recipe().digest, force=True)
            api.remove_image(planted)
    assert _built_before(engine) == honest


def loaded(engine, architecture):
    """Id of an empty image that says it is for this processor; `docker import` cannot."""
    config = json.dumps(
        {"architecture": architecture, "os": "linux", "config": {}, "rootfs": {"type": "layers"}}
    ).encode()
    name = f"sha256:{hashlib.sha256(config).hexdigest()}"
    parts = {"c.json": config, "manifest.json": b'[{"Config": "c.json", "Layers": []}]'}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path, data in parts.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    with engine.client("prepare") as api:
        list(api.load_image(packed.getvalue()))
    return name


def test_an_image_of_another_processor_is_refused_before_anything_runs_in_it(engine):
    """H4: emulated it would be a row of attempts that ran out of time."""
    image = loaded(engine, "s390x")
    try:
        with pytest.raises(SandboxUnavailable, match="is for s390x and this engine runs on"):
            refuse_emulation(engine, image)
    finally:
        with engine.client("clean up") as api:
            api.remove_image(image)
    refuse_emulation(engine, "sha256:" + "0" * 64)


def test_made_from_settings(base_image, tmp_path):
    (tmp_path / "image.lock").write_text(json.dumps({"image": base_image}))
    sandbox = make_sandbox(SandboxSettings(), state_dir=tmp_path)
    assert all(line.held for line in sandbox.probe())
    assert sandbox.describe()["image"] == base_image
    sandbox.close()


def test_nothing_in_the_image_changes_who_runs_it(engine, base_image, docker_sandbox):
    from tests.contract.test_sandbox import box, read_all

    text = """
import os
def main():
    found = []
    for folder, _, names in os.walk("/usr"):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path) and os.stat(path).st_mode & 0o6000:
                found.append(path)
    print(found)
"""
    with docker_sandbox.open(box(text)) as session:
        assert read_all(session, 3) == b"[]\n"
