"""Which image model-written code runs in: by digest or by id, never by tag, never pulled late."""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from docker.errors import APIError, ImageNotFound

from agent_loop.errors import SandboxUnavailable
from agent_loop.paths import atomic_write
from agent_loop.sandbox.base_image import (
    BASE_NAME,
    IMAGE_MARK,
    NAMES_MARK,
    build_base_image,
    recipe,
)
from agent_loop.sandbox.engine import Engine

LOCK = "image.lock"
PULL_S = 600.0
NATIVE_TOO = {"amd64": "386", "arm64": "arm"}
"""A processor of the first kind runs images of the second by itself."""
SET_UP = "make image (in a clone), or python -m agent_loop.sandbox"


def pinned_image(engine: Engine, wanted: str, state_dir: Path) -> str:
    """The id of the image to use now; looks only at what is on this engine.

    Args:
        engine: where.
        wanted: `name@sha256:…` from the configuration, or empty.
        state_dir: holds the lock of an image built here.

    Raises:
        SandboxUnavailable: neither is there, the lock is damaged, or the image is for another
            processor; the message has the fix.
    """
    if wanted and (found := _inspect(engine, reference(wanted))):
        _refuse_emulated(engine, found)
        return str(found["Id"])
    pinned = read_lock(state_dir / LOCK)
    if pinned is None:
        raise SandboxUnavailable(
            f"no base image: {wanted or 'no digest in the configuration'} is not on this engine "
            f"and none was built here. Fix: {SET_UP}"
        )
    if (found := _inspect(engine, pinned)) is None or found["Id"] != pinned:
        raise SandboxUnavailable(
            f"the base image {pinned[:19]} of {state_dir / LOCK} is not on this engine any more. "
            f"Fix: {SET_UP}"
        )
    return pinned


def set_up_image(
    engine: Engine, wanted: str, state_dir: Path, notify: Callable[[str], None]
) -> str:
    """Make an image available and pin it: there already, pulled, found, or built once.

    Raises:
        SandboxUnavailable: none of the four worked; the message says why each did not.
    """
    if _outdated(engine, state_dir / LOCK, notify):
        (state_dir / LOCK).unlink(missing_ok=True)
    with suppress(SandboxUnavailable):
        return pinned_image(engine, wanted, state_dir)
    if wanted and _pull(engine, wanted, notify):
        return pinned_image(engine, wanted, state_dir)
    image = _built_before(engine) or build_base_image(engine, notify)
    lock = {"version": 1, "image": image, "recipe": recipe().digest, "pinned_at": time.time()}
    atomic_write(state_dir / LOCK, json.dumps(lock) + "\n")
    notify(f"base image {image[:19]} pinned in {state_dir / LOCK}")
    return image


def read_lock(path: Path) -> str | None:
    """The pinned image id; `None` where nothing is pinned.

    Raises:
        SandboxUnavailable: the file holds something else.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise SandboxUnavailable(f"{path} cannot be read: {error}. Fix: {SET_UP}") from error
    try:
        image = json.loads(text)["image"]
    except (ValueError, KeyError, TypeError) as error:
        raise SandboxUnavailable(f"{path} is damaged. Fix: {SET_UP} (it is made again)") from error
    if not is_id(image):
        raise SandboxUnavailable(f"{path} pins no image id. Fix: {SET_UP} (it is made again)")
    return str(image)


def is_id(text: object) -> bool:
    """Whether this is an image id: a tag can be moved to another image behind our back."""
    if not isinstance(text, str) or not text.startswith("sha256:"):
        return False
    digits = text.removeprefix("sha256:")
    return len(digits) == 64 and set(digits) <= set("0123456789abcdef")


def reference(wanted: str) -> str:
    """`python:3.12-slim@sha256:x` as `python@sha256:x`: the digest alone decides."""
    name, _, digest = wanted.partition("@")
    head, slash, leaf = name.rpartition("/")
    return f"{head}{slash}{leaf.partition(':')[0]}@{digest}"


def refuse_emulation(engine: Engine, image: str) -> None:
    """Emulated code is ten times slower: it would meet its limits and look like wrong answers.

    Raises:
        SandboxUnavailable: the image is for another kind of processor than the engine's.
    """
    if found := _inspect(engine, image):
        _refuse_emulated(engine, found)


def _refuse_emulated(engine: Engine, found: Mapping[str, Any]) -> None:
    here = str(engine.version.get("Arch") or "")
    wanted = str(found.get("Architecture") or "")
    if here and wanted and wanted not in (here, NATIVE_TOO.get(here)):
        raise SandboxUnavailable(
            f"the image {str(found['Id'])[:19]} is for {wanted} and this engine runs on {here}: "
            f"emulated it would crawl into its limits. Fix: name the digest of an image for {here} "
            "(that of the whole tag fits every processor), or leave sandbox_image empty"
        )


def environment(engine: Engine, image: str) -> dict[str, str]:
    """The variables an image sets by itself."""
    lines = _config(engine, image).get("Env") or []
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def knows_names(engine: Engine, image: str) -> bool:
    """Whether `localhost` means something in it without the engine's help."""
    return NAMES_MARK in (_config(engine, image).get("Labels") or {})


def _config(engine: Engine, image: str) -> Mapping[str, Any]:
    found = _inspect(engine, image) or {}
    return found.get("Config") or {}


def _inspect(engine: Engine, image: str) -> Mapping[str, Any] | None:
    with engine.client("look for an image") as api:
        try:
            found: Mapping[str, Any] = api.inspect_image(image)  # type: ignore[no-untyped-call]
        except (ImageNotFound, APIError) as error:
            if error.status_code is not None and error.status_code < 500:
                return None
            raise
    return found


def _outdated(engine: Engine, lock: Path, notify: Callable[[str], None]) -> bool:
    """Damaged, of an image that is gone, or of one built by an older recipe."""
    try:
        pinned = read_lock(lock)
    except SandboxUnavailable as error:
        notify(str(error))
        return True
    if pinned is None:
        return False
    labels = _config(engine, pinned).get("Labels") or {}
    return labels.get(IMAGE_MARK) != recipe().digest


def _pull(engine: Engine, wanted: str, notify: Callable[[str], None]) -> bool:
    """Whether a registry gave the image; said, not raised, when it did not."""
    name, _, digest = reference(wanted).partition("@")
    deadline = time.monotonic() + PULL_S
    notify(f"pulling {wanted}")
    try:
        with engine.client("pull the base image") as api:
            for line in api.pull(name, tag=digest, stream=True, decode=True):
                if "error" in line:
                    notify(f"not pulled: {line['error']}")
                    return False
                if time.monotonic() > deadline:
                    notify(f"not pulled: it took longer than {PULL_S:.0f} s")
                    return False
    except SandboxUnavailable as error:
        notify(f"not pulled: {error}")
        return False
    return True


def _built_before(engine: Engine) -> str | None:
    """An image built from the same recipe for another checkout of this machine."""
    digest = recipe().digest
    found = _inspect(engine, f"{BASE_NAME}:{digest}")
    # Labels are inherited: an image with a parent was built on a base, and is none.
    if found is None or found.get("Parent"):
        return None
    labels = (found.get("Config") or {}).get("Labels") or {}
    return str(found["Id"]) if labels.get(IMAGE_MARK) == digest else None
