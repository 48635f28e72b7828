"""Docker elsewhere is found by the rules of the command line, or it is said where was looked."""

import hashlib
import json
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.places import DEFAULT, active_place, other_places


def write_context(settings: Path, name: str, url: str, current: bool = True) -> Path:
    folder = settings / "contexts" / "meta" / hashlib.sha256(name.encode()).hexdigest()
    folder.mkdir(parents=True)
    meta = {"Name": name, "Metadata": {}, "Endpoints": {"docker": {"Host": url}}}
    (folder / "meta.json").write_text(json.dumps(meta))
    if current:
        (settings / "config.json").write_text(json.dumps({"currentContext": name}))
    return folder / "meta.json"


def test_the_default(tmp_path):
    assert active_place({}, tmp_path).url == DEFAULT


def test_the_active_context_counts(tmp_path):
    write_context(tmp_path / ".docker", "colima", "unix:///home/x/.colima/docker.sock")
    place = active_place({}, tmp_path)
    assert place.url == "unix:///home/x/.colima/docker.sock"
    assert "colima" in place.named_by


def test_the_environment_beats_the_context(tmp_path):
    write_context(tmp_path / ".docker", "colima", "unix:///c.sock")
    assert active_place({"DOCKER_HOST": "tcp://h:1"}, tmp_path).url == "tcp://h:1"


def test_a_context_by_environment_and_another_folder(tmp_path):
    write_context(tmp_path / "elsewhere", "a", "unix:///a.sock")
    write_context(tmp_path / "elsewhere", "b", "unix:///b.sock", current=False)
    env = {"DOCKER_CONFIG": str(tmp_path / "elsewhere"), "DOCKER_CONTEXT": "b"}
    assert active_place(env, tmp_path).url == "unix:///b.sock"
    assert active_place(env | {"DOCKER_CONTEXT": "default"}, tmp_path).url == DEFAULT


def test_keys_of_a_context_are_used(tmp_path):
    write_context(tmp_path / ".docker", "far", "tcp://h:2376")
    digest = hashlib.sha256(b"far").hexdigest()
    keys = tmp_path / ".docker" / "contexts" / "tls" / digest / "docker"
    keys.mkdir(parents=True)
    assert active_place({}, tmp_path).tls_folder == keys


@pytest.mark.parametrize("text", ["", "[]", "{", '{"currentContext": 3}', "\xff"])
def test_a_damaged_settings_file_means_the_default(tmp_path, text):
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text(text, "latin-1")
    assert active_place({}, tmp_path).url == DEFAULT


def test_a_context_that_cannot_be_read_is_named(tmp_path):
    path = write_context(tmp_path / ".docker", "gone", "unix:///x")
    path.unlink()
    with pytest.raises(ValueError, match="'gone'"):
        active_place({}, tmp_path)
    with pytest.raises(SandboxUnavailable, match="docker context use default"):
        find_engine({}, tmp_path)


def test_a_stale_variable_is_named_with_the_way_out(tmp_path):
    with pytest.raises(SandboxUnavailable) as caught:
        find_engine({"DOCKER_HOST": f"unix://{tmp_path}/gone.sock"}, tmp_path)
    text = str(caught.value)
    assert "DOCKER_HOST in the environment" in text
    assert "Install Docker" not in text


def test_docker_elsewhere_gives_the_export_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = tmp_path / ".colima" / "default" / "docker.sock"
    there.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(there))  # a socket path has 107 bytes
        write_context(tmp_path / ".docker", "old", f"unix://{tmp_path}/old.sock")
        with pytest.raises(SandboxUnavailable) as caught:
            find_engine({}, tmp_path)
    text = str(caught.value)
    assert "export DOCKER_HOST=unix://" in text
    assert "old.sock" in text
    assert "context 'old'" in text
    assert "Install Docker" not in text


def test_other_places_leave_out_the_one_tried(tmp_path):
    place = active_place({}, tmp_path)
    assert DEFAULT not in [other.url for other in other_places({}, tmp_path, place)]


def test_nothing_anywhere_says_what_to_install(tmp_path, monkeypatch):
    import agent_loop.sandbox.places as places

    monkeypatch.setattr(places, "DEFAULT", f"unix://{tmp_path}/docker.sock")
    monkeypatch.setattr(places, "other_places", lambda *a: [])
    import agent_loop.sandbox.engine as engine

    monkeypatch.setattr(engine, "other_places", lambda *a: [])
    with pytest.raises(SandboxUnavailable, match="Install Docker"):
        find_engine({}, tmp_path)


def test_an_engine_that_hangs_is_given_up_in_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("hang.sock")
        listener.listen()
        monkeypatch.setattr("agent_loop.sandbox.engine.ANSWER_S", 1.0)
        began, before = time.monotonic(), threading.active_count()
        with pytest.raises(SandboxUnavailable):
            find_engine({"DOCKER_HOST": f"unix://{tmp_path}/hang.sock"}, tmp_path)
    assert time.monotonic() - began < 30
    assert threading.active_count() < before + 10


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ({"DOCKER_HOST": "ssh://me@there"}, "ssh -fNL"),
        ({"DOCKER_HOST": "npipe:////./pipe/docker_engine"}, "WSL 2"),
        (
            {"DOCKER_HOST": "tcp://h:2376", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/c"},
            "TLS",
        ),
    ],
)
def test_an_address_that_sessions_cannot_use_says_what_to_do(tmp_path, env, words):
    with pytest.raises(SandboxUnavailable, match="Fix:") as caught:
        find_engine(env, tmp_path)
    assert words in str(caught.value)
