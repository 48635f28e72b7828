"""A container as data: the request body of `POST /containers/create` (Engine API 1.41)."""

import math
from collections.abc import Mapping
from typing import Any

from agent_loop.ports import Box, Workspace
from agent_loop.sandbox.bundle import command

Config = dict[str, Any]
USER = "65534:65534"
"""nobody: owns nothing in an image, and nothing on the host."""
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - inside the container
    "LANG": "C.UTF-8",
}
MIB = 1 << 20
RUNSC = "runsc"
RUNSC_SPARE_MIB = 256
"""Address space beyond the memory limit: thread stacks are reserved, not used."""


def container_config(
    box: Box,
    *,
    image: str,
    runtime: str,
    labels: Mapping[str, str],
    selinux: bool = False,
    names: bool = False,
) -> Config:
    """Everything that holds a container, in one place.

    Args:
        box: what kind of container is wanted.
        image: image id; a tag could be moved to another image behind our back.
        runtime: `runc` or `runsc`.
        labels: who owns it.
        selinux: the engine labels files: mounts must carry a label that containers may read.
        names: have the engine write names (`localhost`) into the container.
    """
    return {
        "Image": image,
        "Entrypoint": command(box.python),
        "Cmd": [],
        "User": USER,
        "WorkingDir": "/",
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
        # Beside NetworkMode none: spares the engine a second start of itself for each container
        # (half the time of a start, measured). The loopback is there all the same, its name not.
        "NetworkDisabled": not names,
        "Tty": False,
        "OpenStdin": True,
        # Without StdinOnce a closed input, or our death, would never reach the program.
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "Labels": dict(labels),
        "HostConfig": _isolation(box, runtime) | _limits(box, runtime) | _mounts(box, selinux),
    }


def _isolation(box: Box, runtime: str) -> Config:
    return {
        "Runtime": runtime,
        "NetworkMode": "none",
        "IpcMode": "none",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "Tmpfs": {"/tmp": f"rw,noexec,nosuid,nodev,mode=1777,size={box.limits.tmp_mib}m"},  # noqa: S108
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Privileged": False,
        "LogConfig": {"Type": "none"},
        "RestartPolicy": {"Name": "no"},
        # PID 1 that reaps: a judge forks, and a signal sent to itself must work.
        "Init": box.init,
    }


def _limits(box: Box, runtime: str) -> Config:
    limits = box.limits
    # Outlives us if we are killed: an endless loop then ends by its own processor time.
    cpu_s = math.ceil(limits.life_s * max(1.0, limits.cpus)) + 10
    hard = {"nofile": limits.open_files, "core": 0, "cpu": cpu_s, "msgqueue": 0}
    if runtime == RUNSC:
        # gVisor is often run without cgroups; these hold inside it, each process for itself.
        # Not under runc: there the number of processes is counted over all containers of a user.
        hard |= {"as": (limits.memory_mib + RUNSC_SPARE_MIB) * MIB, "nproc": limits.pids}
    return {
        "Memory": limits.memory_mib * MIB,
        "MemorySwap": limits.memory_mib * MIB,
        "NanoCpus": int(limits.cpus * 1_000_000_000),
        "PidsLimit": limits.pids,
        "Ulimits": [{"Name": name, "Soft": n, "Hard": n} for name, n in hard.items()],
    }


def _mounts(box: Box, selinux: bool) -> Config:
    mounts: list[Config] = []
    config: Config = {}
    if selinux:
        # Only the short form can relabel; `z` is shared, for several containers read one copy.
        config["Binds"] = [f"{m.source}:{m.target}:ro,z" for m in box.mounts]
    else:
        mounts = [
            {"Type": "bind", "Source": m.source, "Target": m.target, "ReadOnly": True}
            for m in box.mounts
        ]
    if box.workspace is not None and box.workspace.of:
        config["VolumesFrom"] = [f"{box.workspace.of}:rw"]
    elif box.workspace is not None:
        mounts.append(_volume(box.workspace, selinux))
    if mounts or not selinux:
        config["Mounts"] = mounts
    return config


def _volume(workspace: Workspace, selinux: bool) -> Config:
    """A volume without a name is removed together with its container."""
    uid, _, gid = USER.partition(":")
    options = (
        f"size={workspace.size_mib}m,nr_inodes={workspace.files},uid={uid},gid={gid},"
        "mode=0755,nosuid,nodev"
    )
    if selinux:
        options += ",context=system_u:object_r:container_file_t:s0"
    driver = {
        "Name": "local",
        "Options": {"type": "tmpfs", "device": "tmpfs", "o": options},
    }
    return {
        "Type": "volume",
        "Target": workspace.target,
        "VolumeOptions": {"NoCopy": True, "DriverConfig": driver},
    }
