"""What the probe makes of facts that this machine cannot give: cgroup v2, virtual machines."""

import pytest

from agent_loop.ports import Box, Mount, Program, Workspace
from agent_loop.sandbox.probe import PROTECTIONS, Expected, judge, missing

V2 = {"memory.max": "268435456", "memory.swap.max": "0", "pids.max": "128"}
V2["cpu.max"] = "100000 100000"
MOUNTS = [
    {"point": "/", "root": "/", "kind": "overlay", "options": "ro,relatime,rw"},
    {"point": "/proc", "root": "/", "kind": "proc", "options": "rw"},
    {"point": "/tmp", "root": "/", "kind": "tmpfs", "options": "rw,noexec"},
    {"point": "/etc/hosts", "root": "/x/hosts", "kind": "ext4", "options": "rw"},
    {"point": "/sbin/docker-init", "root": "/usr/bin/tini", "kind": "ext4", "options": "ro"},
]
FACTS = {
    "uids": [65534] * 6,
    "status": {"Seccomp": "2"} | {f"Cap{n}": "0" * 16 for n in ("Inh", "Prm", "Eff", "Bnd", "Amb")},
    "no_new_privileges": 1,
    "interfaces": ["lo"],
    "connect": "ENETUNREACH",
    "mounts": MOUNTS,
    "root_read_only": True,
    "writable": ["/tmp"],
    "tmp_bytes": 16 << 20,
    "workspace_bytes": 0,
    "tmp_program": "refused",
    "cgroup": V2,
    "nofile": [256, 256],
    "address_space": -1,
    "nproc": -1,
    "shared_memory": [],
    "namespaces": {"net": "net:[1]", "pid": "pid:[2]"},
    "processes": {"1": "docker-init", "7": "python3"},
    "environment": {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOSTNAME": "sandbox"},
    "devices": ["null", "zero"],
    "swap_kib": 1024,
    "kernel": "Linux version 6.1.0-18-amd64 (x)",
    "readable": {},
}


def expected(**changes):
    wanted = {
        "box": Box(program=Program(name="x", modules=(), entry="")),
        "runtime": "runc",
        "host_namespaces": {"net": "net:[9]"},
        "host_kernel": "6.1.0-18-amd64",
        "image_environment": {},
    }
    return Expected(**(wanted | changes))


def lines(facts=None, **changes):
    judged = judge(FACTS | (facts or {}), expected(**changes))
    return {line.protection: line for line in judged}


def test_a_sound_container_under_cgroup_v2_holds():
    assert missing(list(lines().values())) == ""


@pytest.mark.parametrize(
    ("changes", "protection"),
    [
        ({"memory.max": "max"}, "memory limit"),
        ({"memory.max": "268435457"}, "memory limit"),
        ({"memory.swap.max": "max"}, "swap"),
        ({"pids.max": "max"}, "process limit"),
        ({"cpu.max": "max 100000"}, "processor limit"),
        ({"cpu.max": "200000 100000"}, "processor limit"),
    ],
)
def test_each_limit_of_cgroup_v2_is_read(changes, protection):
    found = lines({"cgroup": V2 | changes})
    assert [line.protection for line in found.values() if not line.held] == [protection]


def test_no_cgroup_at_all_is_no_limit():
    found = lines({"cgroup": {}})
    gone = {line.protection for line in found.values() if not line.held}
    assert gone == {"memory limit", "swap", "process limit", "processor limit"}


def test_a_kernel_that_does_not_count_swap_needs_no_swap():
    without = {name: value for name, value in V2.items() if name != "memory.swap.max"}
    assert lines({"cgroup": without, "swap_kib": 0})["swap"].held
    line = lines({"cgroup": without})["swap"]
    assert not line.held
    assert "swapaccount=1" in line.detail


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_what_could_not_be_seen_does_not_hold(protection):
    """An error text, a missing key, the wrong type: never a pass."""
    seen = {
        "non-root user": "uids",
        "capabilities": "status",
        "no-new-privileges": "no_new_privileges",
        "seccomp": "status",
        "network": "connect",
        "read-only root": "mounts",
        "noexec /tmp": "tmp_program",
        "size of /tmp": "tmp_bytes",
        "workspace": "workspace_bytes",
        "host paths": "mounts",
        "mounts readable": "readable",
        "devices": "devices",
        "memory limit": "cgroup",
        "swap": "cgroup",
        "process limit": "cgroup",
        "processor limit": "cgroup",
        "file limit": "nofile",
        "shared memory": "shared_memory",
        "process space": "processes",
        "namespaces": "namespaces",
        "environment": "environment",
        "kernel": "kernel",
    }[protection]
    assert not lines({seen: "error: PermissionError(13)"})[protection].held
    without = {name: value for name, value in FACTS.items() if name != seen}
    found = {line.protection: line for line in judge(without, expected())}
    assert not found[protection].held
    assert "could not be seen" in found[protection].detail


def test_selinux_is_named_with_what_to_do():
    box = Box(program=Program(name="x", modules=(), entry=""))
    facts = {"readable": {"/work": "EACCES"}}
    line = lines(facts, box=box, selinux=True)["mounts readable"]
    assert not line.held
    assert "SELinux" in line.detail
    assert "chcon" in line.detail
    assert "SELinux" not in lines(facts, box=box)["mounts readable"].detail


@pytest.mark.parametrize(
    "mount",
    [
        {"point": "/run/docker.sock", "root": "/docker.sock", "kind": "tmpfs", "options": "rw"},
        {"point": "/data", "root": "/home", "kind": "ext4", "options": "ro"},
        {"point": "/work", "root": "/w", "kind": "ext4", "options": "rw"},
        {"point": "/dev/shm", "root": "/", "kind": "ext4", "options": "rw"},
    ],
)
def test_a_mount_of_the_host_is_seen_whatever_its_kind(mount):
    box = Box(
        program=Program(name="x", modules=(), entry=""),
        mounts=(Mount(source="/w", target="/work"),),
    )
    assert not lines({"mounts": [*MOUNTS, mount]}, box=box)["host paths"].held


def test_a_wanted_mount_that_is_missing_is_seen():
    box = Box(
        program=Program(name="x", modules=(), entry=""),
        mounts=(Mount(source="/w", target="/work"),),
    )
    assert "/work is missing" in lines(box=box)["host paths"].detail
    there = {"point": "/work", "root": "/w", "kind": "ext4", "options": "ro"}
    assert lines({"mounts": [*MOUNTS, there]}, box=box)["host paths"].held


def test_the_images_own_environment_is_no_leak():
    facts = {"environment": {"PYTHON_VERSION": "3.12", "PATH": "/usr/local/bin:/usr/bin:/bin"}}
    assert lines(facts, image_environment={"PYTHON_VERSION": "3.12"})["environment"].held
    assert not lines(facts, image_environment={"PYTHON_VERSION": "3.13"})["environment"].held
    assert not lines(facts)["environment"].held


def test_missing_names_every_miss():
    text = missing(list(lines({"uids": [0], "interfaces": ["lo", "eth0"]}).values()))
    assert "non-root user" in text
    assert "network" in text


WORK = {"point": "/project", "root": "/", "kind": "tmpfs", "options": "rw,nosuid,nodev,size=8192k"}


def work_lines(mount, size_bytes):
    box = Box(
        program=Program(name="x", modules=(), entry=""),
        workspace=Workspace(target="/project", size_mib=8),
    )
    facts = {
        "mounts": [*FACTS["mounts"], mount],
        "writable": ["/project", "/tmp"],
        "workspace_bytes": size_bytes,
    }
    return {name: line.held for name, line in lines(facts, box=box).items()}


def test_a_workspace_is_the_one_writable_place_more():
    assert all(work_lines(WORK, 8 << 20).values())
    other = {"mounts": [*FACTS["mounts"], WORK], "writable": ["/project", "/tmp"]}
    found = lines(other)
    assert not found["read-only root"].held
    assert not found["host paths"].held


@pytest.mark.parametrize(
    ("mount", "size_bytes"),
    [
        (WORK | {"kind": "ext4"}, 8 << 20),
        (WORK | {"options": "rw,nodev"}, 8 << 20),
        (WORK | {"options": "rw,nosuid"}, 8 << 20),
        (WORK, (8 << 20) + 1),
        (WORK, 0),
        (WORK | {"point": "/elsewhere"}, 8 << 20),
    ],
)
def test_a_workspace_of_another_kind_or_size_does_not_hold(mount, size_bytes):
    assert not work_lines(mount, size_bytes)["workspace"]
