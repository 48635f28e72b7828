"""Source packages from the package index: fetched by pip, unpacked as hostile archives."""

import lzma
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from agent_loop import procs
from agent_loop.errors import UserError
from agent_loop.paths import OutsidePath, inside
from agent_loop.redact import redact

FETCH_S = 300.0
MOST_FILES = 20_000
MOST_BYTES = 500 << 20
_DAMAGED = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError,
    OutsidePath, RuntimeError,
)  # fmt: skip
"""`RuntimeError`: what zipfile says of encrypted archives and unknown compressions."""
_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+_-]+")


def fetch_source(requirement: str, folder: Path, env: Mapping[str, str]) -> Path:
    """The source archive of `NAME==VERSION`, downloaded by pip with the user's own settings.

    pip asks the package's build program for its metadata, as any installation from source does.

    Raises:
        UserError: no pinned name, no source archive, or pip failed; the message has pip's words.
    """
    if not _PINNED.fullmatch(requirement):
        raise UserError(f"pypi:{requirement[:80]}: name one version, e.g. pypi:toolz==1.2.0")
    folder.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    argv += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    done = procs.run(argv, timeout_s=FETCH_S, env=env)
    name = re.sub(r"[-_.]+", "-", requirement.partition("==")[0]).lower()
    found = [one for one in sorted(folder.iterdir()) if _stem(one).startswith(f"{name}-")]
    if done.code != 0 or not found:
        said = redact(done.err.decode("utf-8", "replace"))[-800:].strip()
        raise UserError(f"pypi:{requirement}: pip gave no source archive. It says: {said}")
    return found[0]


def _stem(path: Path) -> str:
    return re.sub(r"[-_.]+", "-", path.name).lower()


def unpack(archive: Path, target: Path) -> Path:
    """The one folder inside a source archive, unpacked under `target`.

    Raises:
        UserError: a path leads out, a file is special, it is too large, or no single folder.
    """
    target.mkdir(parents=True, exist_ok=True)
    try:
        if archive.suffix == ".zip":
            _unzip(archive, target)
        else:
            _untar(archive, target)
    except _DAMAGED as error:
        raise UserError(f"{archive.name}: cannot be unpacked safely: {error}.") from error
    tops = sorted(target.iterdir())
    if len(tops) != 1 or not tops[0].is_dir():
        raise UserError(f"{archive.name}: holds no single folder, so it is no source package.")
    return tops[0]


def _untar(archive: Path, target: Path) -> None:
    with tarfile.open(archive) as tar:
        files = total = 0
        for member in tar:
            files, total = files + 1, total + max(member.size, 0)
            _bounded(archive, files, total)
            # By hand: Python 3.11 before 3.11.4 (Debian 12 has such a one) knows no filters.
            if member.isfile() and (held := tar.extractfile(member)):
                place = inside(target, member.name)
                place.parent.mkdir(parents=True, exist_ok=True)
                with held, place.open("wb") as file:
                    shutil.copyfileobj(held, file)


def _unzip(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as source:
        entries = source.infolist()
        _bounded(archive, len(entries), sum(one.file_size for one in entries))
        for entry in entries:
            if not entry.is_dir():
                place = inside(target, entry.filename)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(_whole(source, entry))


def _whole(source: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with source.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) > entry.file_size:
        raise zipfile.BadZipFile(f"{entry.filename} is longer than the archive says")
    return data


def _bounded(archive: Path, files: int, total: int) -> None:
    if files > MOST_FILES or total > MOST_BYTES:
        raise UserError(
            f"{archive.name}: more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB unpacked."
        )
