"""The base image where no registry answers: built once from the system's own packages."""

import hashlib
import json
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from agent_loop import procs
from agent_loop.errors import SandboxUnavailable
from agent_loop.sandbox.engine import Engine
from agent_loop.sandbox.owner import MARK

BUILD_S = 900.0
IMAGE_MARK = f"{MARK}.image"
"""Label of every image of ours; its value says what it was built from."""
BASE_NAME = f"{MARK}-base"
"""With the recipe's digest as its tag: only to find it again; what is used is the id."""
SET_ID_BITS = 0o6000
NAMES_MARK = f"{MARK}.names"
"""Label of images that know `localhost` by themselves; images built on them inherit it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that decides what is in the image."""

    version: int = 2
    suite: str = "bookworm"
    mirror: str = ""
    """Empty: the one debootstrap knows."""
    # The engine gives containers without a network no names; the last one knows localhost anyway.
    packages: tuple[str, ...] = ("python3", "python3-venv", "libnss-myhostname")
    # Nothing of these is needed to run Python; together about 150 MB.
    emptied: tuple[str, ...] = (
        "var/cache/apt",
        "var/lib/apt/lists",
        "usr/share/doc",
        "usr/share/man",
        "usr/share/info",
        "usr/share/locale",
        "var/log",
    )

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


def recipe(etc: Path = Path("/etc")) -> Recipe:
    """For this machine: its own release, from the mirror it uses already."""
    release = _release(etc / "os-release")
    if release.get("ID") not in ("debian", "ubuntu") or "VERSION_CODENAME" not in release:
        return Recipe()
    return Recipe(suite=release["VERSION_CODENAME"], mirror=_mirror(etc / "apt"))


def build_base_image(engine: Engine, notify: Callable[[str], None]) -> str:
    """Build and import the image; the id of what came out.

    Raises:
        SandboxUnavailable: this machine cannot; says what to do instead.
    """
    if shutil.which("debootstrap") is None or os.name == "nt" or os.geteuid() != 0:
        raise SandboxUnavailable(
            "no registry gave the base image, and it can only be built as root on Debian or "
            "Ubuntu with debootstrap. Fix: sandbox/engine.sh as root; elsewhere load the image of "
            "sandbox_image from a machine that has it (docker save, docker load)"
        )
    wanted = recipe()
    notify(f"building the base image from {wanted.suite} packages, once (about a minute)")
    with tempfile.TemporaryDirectory(prefix="agent-loop-image-") as folder:
        root, archive = Path(folder) / "root", Path(folder) / "root.tar"
        _bootstrap(wanted, root)
        for name in wanted.emptied:
            _empty(root / name)
        with tarfile.open(archive, "w") as tar:
            tar.add(root, arcname=".", filter=_plain_modes)
        return _import(engine, archive, wanted)


def _bootstrap(wanted: Recipe, root: Path) -> None:
    # In a mount namespace of its own: what it mounts goes with it, also when it is killed.
    argv = ["unshare", "--mount"] if shutil.which("unshare") else []
    argv += ["debootstrap", "--variant=minbase", f"--include={','.join(wanted.packages)}"]
    argv += [wanted.suite, str(root)] + ([wanted.mirror] if wanted.mirror else [])
    done = procs.run(argv, timeout_s=BUILD_S)
    if done.code != 0:
        tail = (done.out + done.err).decode("utf-8", "replace")[-800:]
        raise SandboxUnavailable(f"debootstrap failed with code {done.code}: {tail}")


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)


def _plain_modes(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nothing in the image may change who it runs as."""
    member.mode &= ~SET_ID_BITS
    return member


def _import(engine: Engine, archive: Path, wanted: Recipe) -> str:
    label = f"LABEL {MARK}=image {IMAGE_MARK}={wanted.digest} {NAMES_MARK}=own"
    with engine.client("import the base image") as api:
        answer = api.import_image_from_file(
            str(archive), repository=BASE_NAME, tag=wanted.digest, changes=label
        )
    try:
        return str(json.loads(answer.strip().splitlines()[-1])["status"])
    except (ValueError, KeyError, IndexError) as error:
        raise SandboxUnavailable(f"docker import answered {answer[:300]!r}") from error


def _release(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines)
    return {name: value.strip("\"'") for name, _, value in pairs}


def _mirror(apt: Path) -> str:
    """The first address in the package sources."""
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.sources"))]
    files += sorted((apt / "sources.list.d").glob("*.list"))
    for path in files:
        if path.is_file():
            text = path.read_text("utf-8", "replace")
            if found := re.search(r"^(?:deb(?:\s+\[.*?\])?|URIs:)\s+(https?://\S+)", text, re.M):
                return found[1]
    return ""
