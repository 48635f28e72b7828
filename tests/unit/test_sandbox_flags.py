"""The security flags are data, so each is held without an engine."""

import pytest

from agent_loop.ports import Box, Limits, Mount, Program, Workspace
from agent_loop.sandbox.flags import container_config

PROGRAM = Program(name="x", modules=(), entry="")
IMAGE = "sha256:" + "a" * 64


def config(box=None, runtime="runc", **rest):
    return container_config(
        box or Box(program=PROGRAM), image=IMAGE, runtime=runtime, labels={"a": "b"}, **rest
    )


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("NetworkMode", "none"),
        ("IpcMode", "none"),
        ("CgroupnsMode", "private"),
        ("ReadonlyRootfs", True),
        ("Tmpfs", {"/tmp": "rw,noexec,nosuid,nodev,mode=1777,size=16m"}),
        ("CapDrop", ["ALL"]),
        ("SecurityOpt", ["no-new-privileges"]),
        ("Privileged", False),
        ("LogConfig", {"Type": "none"}),
        ("Memory", 256 << 20),
        ("MemorySwap", 256 << 20),
        ("NanoCpus", 1_000_000_000),
        ("PidsLimit", 128),
        ("Init", True),
        ("Mounts", []),
    ],
)
def test_flag(flag, value):
    assert config()["HostConfig"][flag] == value


def test_nothing_else_is_asked_for():
    """A flag that comes later has to be looked at here."""
    assert set(config()["HostConfig"]) == {
        *("Runtime", "NetworkMode", "IpcMode", "CgroupnsMode", "ReadonlyRootfs", "Tmpfs"),
        *("CapDrop", "SecurityOpt", "Privileged", "LogConfig", "RestartPolicy", "Init"),
        *("Memory", "MemorySwap", "NanoCpus", "PidsLimit", "Ulimits", "Mounts"),
    }


def test_the_process_is_nobody_and_its_input_ends_with_us():
    made = config()
    assert made["User"] == "65534:65534"
    assert made["StdinOnce"]
    assert made["NetworkDisabled"]
    assert made["OpenStdin"]
    assert not made["Tty"]
    assert made["Image"] == IMAGE
    assert made["Labels"] == {"a": "b"}
    assert {line.partition("=")[0] for line in made["Env"]} == {"PATH", "HOME", "LANG"}


def test_limits_follow_the_box():
    limits = Limits(memory_mib=64, cpus=0.5, pids=16, open_files=32, tmp_mib=4, life_s=30)
    made = config(Box(program=PROGRAM, limits=limits))["HostConfig"]
    assert made["Memory"] == made["MemorySwap"] == 64 << 20
    assert made["NanoCpus"] == 500_000_000
    assert made["PidsLimit"] == 16
    assert "size=4m" in made["Tmpfs"]["/tmp"]
    hard = {entry["Name"]: entry["Hard"] for entry in made["Ulimits"]}
    assert hard == {"nofile": 32, "core": 0, "cpu": 40, "msgqueue": 0}


def test_runsc_counts_inside_because_it_may_have_no_cgroups():
    hard = {e["Name"]: e["Hard"] for e in config(runtime="runsc")["HostConfig"]["Ulimits"]}
    assert hard["nproc"] == 128
    assert hard["as"] == 512 << 20


def test_mounts_are_read_only():
    box = Box(program=PROGRAM, mounts=(Mount(source="/a", target="/w"),))
    (mount,) = config(box)["HostConfig"]["Mounts"]
    assert mount == {"Type": "bind", "Source": "/a", "Target": "/w", "ReadOnly": True}


def test_selinux_gets_a_label_together_with_read_only():
    box = Box(program=PROGRAM, mounts=(Mount(source="/a", target="/w"),))
    made = config(box, selinux=True)["HostConfig"]
    assert made["Binds"] == ["/a:/w:ro,z"]
    assert "Mounts" not in made
    assert ",z" not in str(config(box)["HostConfig"])


def test_the_interpreter_is_the_box_s():
    assert config()["Entrypoint"][:5] == ["python3", "-I", "-S", "-B", "-u"]
    own = Box(program=PROGRAM, python=("/opt/venv/bin/python", "-I", "-u"))
    assert config(own)["Entrypoint"][:4] == ["/opt/venv/bin/python", "-I", "-u", "-c"]


def test_a_workspace_is_memory_that_goes_with_its_container():
    fresh = container_config(
        Box(program=PROGRAM, workspace=Workspace(target="/project", size_mib=8, files=100)),
        image=IMAGE,
        runtime="runc",
        labels={},
    )["HostConfig"]
    (volume,) = fresh["Mounts"]
    assert "Source" not in volume, "a volume with a name is not removed with its container"
    options = volume["VolumeOptions"]["DriverConfig"]["Options"]
    assert options["type"] == options["device"] == "tmpfs"
    wanted = {"size=8m", "nr_inodes=100", "uid=65534", "nosuid", "nodev"}
    assert wanted <= set(options["o"].split(","))
    shared = Workspace(target="/project", of="agent-loop-1")
    second = container_config(
        Box(program=PROGRAM, workspace=shared, init=False), image=IMAGE, runtime="runc", labels={}
    )["HostConfig"]
    assert second["VolumesFrom"] == ["agent-loop-1:rw"]
    assert second["Mounts"] == []
    assert not second["Init"]


def test_selinux_gets_a_label_for_the_workspace_too():
    box = Box(
        program=PROGRAM,
        mounts=(Mount(source="/a/tests", target="/project/tests"),),
        workspace=Workspace(target="/project"),
    )
    made = config(box, selinux=True)["HostConfig"]
    (volume,) = made["Mounts"]
    options = volume["VolumeOptions"]["DriverConfig"]["Options"]["o"]
    assert "context=system_u:object_r:container_file_t:s0" in options.split(",")
    assert made["Binds"] == ["/a/tests:/project/tests:ro,z"]
    assert "context=" not in str(config(box)["HostConfig"])
