"""A PostgreSQL server in a temporary folder on the loopback, of Debian's package, for tests."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

PASSWORD = "s3cret-never-in-a-record"


def programs():
    """The folder of `initdb` and `postgres`; `None` where they are not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    beside = shutil.which("initdb")
    return found[-1].parent if found else Path(beside).parent if beside else None


def needs_postgres():
    """Skip, or fail where REQUIRE_POSTGRES=1; gives the folder of the programs."""
    where = programs()
    if where is None or sys.platform == "win32":
        problem = "PostgreSQL's server is not installed (Debian: apt-get install postgresql)"
        if os.environ.get("REQUIRE_POSTGRES") == "1":
            pytest.fail(problem)
        pytest.skip(problem)
    return where


@contextmanager
def serving():
    """The URL of a fresh database, login included, while the server is up."""
    where = needs_postgres()
    folder = Path(tempfile.mkdtemp(prefix="agent-loop-pg-"))
    as_user = _unprivileged(folder)
    try:
        _make(where, folder, as_user)
        port = _free_port()
        log = (folder / "log").open("wb")
        server = subprocess.Popen(
            [where / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder,
             "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=60"],
            stdout=subprocess.DEVNULL, stderr=log, cwd=folder, **as_user,
        )  # fmt: skip
        log.close()
        try:
            url = f"postgresql://owner:{PASSWORD}@127.0.0.1:{port}/postgres"
            _wait(url, server, folder / "log")
            yield url
        finally:
            server.terminate()
            server.wait(60)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder):
    """PostgreSQL refuses to run as root."""
    import pwd  # not on Windows

    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _make(where, folder, as_user):
    secret = folder / "secret"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    subprocess.run(
        [where / "initdb", "-D", folder / "data", "-U", "owner", "--no-sync", "-A",
         "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8", "--locale=C"],
        check=True, capture_output=True, timeout=120, cwd=folder, **as_user,
    )  # fmt: skip


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait(url, server, log):
    import psycopg

    for _ in range(600):
        if server.poll() is not None:
            pytest.fail(f"PostgreSQL ended: {log.read_text()[-2000:]}")
        try:
            psycopg.connect(url, connect_timeout=5).close()
        except psycopg.Error:
            time.sleep(0.1)
        else:
            return
    pytest.fail(f"PostgreSQL did not answer: {log.read_text()[-2000:]}")
