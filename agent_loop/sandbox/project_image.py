"""Images for projects: the base, pytest held fast, and what the task requires."""

import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from docker.errors import APIError

from agent_loop.errors import SandboxUnavailable, UserError
from agent_loop.redact import redact
from agent_loop.sandbox.base_image import IMAGE_MARK
from agent_loop.sandbox.engine import Engine, plain
from agent_loop.sandbox.image import refuse_emulation
from agent_loop.sandbox.owner import MARK
from agent_loop.sandbox.pip_settings import certificates, pip_config, proxies
from agent_loop.sandbox.reaper import prune_images
from agent_loop.sandbox.requirements import checked
from agent_loop.sandbox.turns import place_of_turns, turn

INSTALLED = Path(__file__).resolve().parent / "recipes"
"""Where the wheel has the files of the clone's `sandbox/`."""
RECIPES = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2] / "sandbox"
FILES = ("Dockerfile", "install.sh", "pytest.txt", "verify_pytest.py")
PYTHON = "/opt/venv/bin/python"
KEPT = 20
"""Project images that stay; older ones that nothing uses are removed."""
TAIL_CHARS = 3000


class ImageBuilder:
    """Builds what is missing; what was built from the same things is found again.

    Args:
        engine: where.
        base: id of the base image.
        env: for the certificate bundle, the proxies and pip's own settings.
        notify: gets one line for each thing the owner should know.
        recipes: folder of the Dockerfile and its scripts.
        turns: the file that all builds of this machine wait at.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        base: str,
        env: Mapping[str, str],
        notify: Callable[[str], None],
        recipes: Path = RECIPES,
        turns: Path | None = None,
    ) -> None:
        self._engine = engine
        self._base = base
        self._env = env
        self._notify = notify
        self._recipes = recipes
        self._turns = turns or place_of_turns()
        self._building = threading.Lock()

    def project_image(self, requirements: Sequence[str] = ()) -> str:
        """Id of the image with pytest and `requirements`; its interpreter is `PYTHON`.

        Raises:
            UserError: a requirement cannot be taken or installed; the message has pip's words.
            SandboxUnavailable: the engine failed.
        """
        files = self._recipe() | {"requirements.txt": _lines(checked(requirements))}
        digest = _digest(self._base, files)
        return self._once(digest, lambda: self._build(self._with_settings(files), digest))

    def own_image(self, dockerfile: Path) -> str:
        """Id of the image of a task's own Dockerfile; build argument BASE is our base image.

        Raises:
            UserError: it cannot be read or does not build.
            SandboxUnavailable: the engine failed, or the image is for another processor.
        """
        try:
            files = {"Dockerfile": dockerfile.read_bytes()}
        except OSError as error:
            raise UserError(
                f"{dockerfile}: {error.strerror}. Fix: dockerfile: in the task"
            ) from error
        digest = _digest(self._base, files)
        image = self._once(digest, lambda: self._build(files, digest))
        refuse_emulation(self._engine, image)
        return image

    def close(self) -> None:
        """Give the engine's connections back; the images stay."""
        self._engine.close()

    # --- inner ---

    def _once(self, digest: str, build: Callable[[], str]) -> str:
        if found := self._found(digest):
            return found
        with self._building, turn(self._turns):
            if found := self._found(digest):
                return found
            image = build()
            self._forget_old(image)
        return image

    def _recipe(self) -> dict[str, bytes]:
        try:
            return {name: (self._recipes / name).read_bytes() for name in FILES}
        except OSError as error:
            raise SandboxUnavailable(
                f"{error.filename} is missing: this installation is not whole. "
                "Fix: install agent-loop again"
            ) from error

    def _with_settings(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        config = pip_config(self._env, self._notify).encode()
        return {**files, "pip.conf": config, "ca.pem": certificates(self._env)}

    def _found(self, digest: str) -> str | None:
        with self._engine.client("list images") as api:
            images = api.images(filters={"label": f"{IMAGE_MARK}={digest}"})
        return str(images[0]["Id"]) if images else None

    def _build(self, files: Mapping[str, bytes], digest: str) -> str:
        self._notify("building an image for the project (once for these requirements)")
        said: list[str] = []
        try:
            problem = self._run_build(files, digest, said)
        finally:
            self._drop_stages(said, digest)
        if problem:
            text = redact("".join(said)[-TAIL_CHARS:])
            raise UserError(f"the project's image could not be built: {problem}\n{text}")
        if (image := self._found(digest)) is None:
            raise SandboxUnavailable("the image was built and is not there")
        return image

    def _run_build(self, files: Mapping[str, bytes], digest: str, said: list[str]) -> str:
        """What was wrong with the files; empty when nothing was. Collects what the build says."""
        with self._engine.client("build an image") as api:
            try:
                lines = api.build(
                    fileobj=_tar(files),
                    custom_context=True,
                    decode=True,
                    rm=True,
                    forcerm=True,
                    tag=f"{MARK}-project:{digest}",
                    buildargs={"BASE": self._base, **proxies(self._env)},
                    labels={MARK: "image", IMAGE_MARK: digest},
                )
                return _follow(lines, said)
            except APIError as error:
                if not error.is_client_error():
                    raise
                return plain(error)

    def _drop_stages(self, said: Sequence[str], digest: str) -> None:
        """Remove the first stage: its layers hold the package settings."""
        stages = [line.split()[-1] for line in said if line.startswith(" ---> ")]
        with self._engine.client("remove the stages of a build") as api:
            for stage in dict.fromkeys(reversed(stages)):
                with suppress(APIError):
                    found = api.inspect_image(stage)  # type: ignore[no-untyped-call]
                    if not _is_kept(found, digest):
                        api.remove_image(stage)

    def _forget_old(self, image: str) -> None:
        with self._engine.client("list images") as api:
            images = api.images(filters={"label": IMAGE_MARK})
        newest = sorted(images, key=lambda one: int(one["Created"]), reverse=True)
        keep = {str(one["Id"]) for one in newest[:KEPT]} | {image, self._base}
        # Base images of other checkouts are not ours to judge.
        keep |= {str(one["Id"]) for one in images if not _is_project(one)}
        prune_images(self._engine, keep)


def _follow(lines: Any, said: list[str]) -> str:  # noqa: ANN401 - the client's stream
    """Collect what the build says; its error, empty when it went well."""
    for line in lines:
        said.append(str(line.get("stream", "")))
        if "error" in line:
            return str(line["error"])
    return ""


def _is_kept(image: Mapping[str, Any], digest: str) -> bool:
    """Labels are inherited, so only the value tells the result from the stages."""
    labels = (image.get("Config") or {}).get("Labels") or {}
    return bool(image.get("RepoTags")) or labels.get(IMAGE_MARK) == digest


def _is_project(image: Mapping[str, Any]) -> bool:
    return any(str(tag).startswith(f"{MARK}-project:") for tag in image.get("RepoTags") or ())


def _lines(requirements: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in requirements).encode()


def _digest(base: str, files: Mapping[str, bytes]) -> str:
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    return hashlib.sha256(json.dumps([base, sums]).encode()).hexdigest()[:24]


def _tar(files: Mapping[str, bytes]) -> io.BytesIO:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
    made.seek(0)
    return made
