"""Each protection taken away alone is seen by the probe, from inside a real container."""

import copy

import pytest

from agent_loop.errors import SandboxUnavailable
from agent_loop.ports import Box, Mount, Program
from agent_loop.sandbox.docker import look_inside
from agent_loop.sandbox.flags import container_config
from agent_loop.sandbox.probe import PROTECTIONS, Expected, judge
from tests.conftest import open_docker_sandbox

pytestmark = pytest.mark.docker
BOX = Box(program=Program(name="none", modules=(), entry=""))


def host(**changes):
    return lambda config: config["HostConfig"].update(changes)


def network(mode):
    def take(config):
        config["NetworkDisabled"] = False
        config["HostConfig"]["NetworkMode"] = mode

    return take


def ulimits(config, **changes):
    for entry in config["HostConfig"]["Ulimits"]:
        if entry["Name"] in changes:
            entry["Soft"] = entry["Hard"] = changes[entry["Name"]]


def uts_of_the_host(config):
    del config["Hostname"]
    config["HostConfig"]["UTSMode"] = "host"


# What is taken away: the protection that must notice, and how.
TAKEN = {
    "root user": ("non-root user", lambda c: c.update(User="0:0")),
    "root group": ("non-root user", lambda c: c.update(User="65534:0")),
    "capabilities": ("capabilities", host(CapDrop=[])),
    "one capability": ("capabilities", host(CapAdd=["DAC_OVERRIDE"])),
    "no-new-privileges": ("no-new-privileges", host(SecurityOpt=[])),
    "seccomp": ("seccomp", host(SecurityOpt=["no-new-privileges", "seccomp=unconfined"])),
    "network none": ("network", network("bridge")),
    "network of the host": ("network", network("host")),
    "read-only root": ("read-only root", host(ReadonlyRootfs=False)),
    "noexec": ("noexec /tmp", host(Tmpfs={"/tmp": "rw,exec,nosuid,nodev,size=16m"})),
    "size of /tmp": ("size of /tmp", host(Tmpfs={"/tmp": "rw,noexec,nosuid,nodev,size=64m"})),
    "a second tmpfs": (
        "read-only root",
        host(Tmpfs={"/tmp": "rw,noexec,nosuid,nodev,size=16m", "/var/tmp": "rw,size=16m"}),
    ),
    "a host folder": ("host paths", host(Binds=["/usr/share:/data:ro"])),
    "the engine's socket": ("host paths", host(Binds=["/var/run/docker.sock:/run/docker.sock"])),
    "a device": (
        "devices",
        host(
            Devices=[
                {
                    "PathOnHost": "/dev/kmsg",
                    "PathInContainer": "/dev/kmsg",
                    "CgroupPermissions": "r",
                }
            ]
        ),
    ),
    "memory limit": ("memory limit", host(Memory=0, MemorySwap=0)),
    "swap off": ("swap", host(MemorySwap=512 << 20)),
    "process limit": ("process limit", host(PidsLimit=0)),
    "processor limit": ("processor limit", host(NanoCpus=0)),
    "file limit": ("file limit", lambda c: ulimits(c, nofile=1024)),
    "ipc none": ("shared memory", host(IpcMode="private")),
    "ipc of the host": ("namespaces", host(IpcMode="host")),
    "pid space": ("process space", host(PidMode="host")),
    "uts space": ("namespaces", uts_of_the_host),
    "environment": ("environment", lambda c: c["Env"].append("AWS_SECRET_ACCESS_KEY=x")),
    "privileged": ("capabilities", host(Privileged=True)),
}
# gVisor keeps its own kernel, so these make no difference that could be seen or used inside.
NOT_UNDER_RUNSC = {
    "seccomp": "gVisor answers system calls itself",
    "memory limit": "held as address space of each process",
    "swap off": "no cgroup to be seen",
    "process limit": "counted by gVisor",
    "processor limit": "no cgroup to be seen",
    "ipc none": "gVisor's own, not writable",
    "ipc of the host": "gVisor's own",
    "uts space": "gVisor's own",
    "no-new-privileges": "always on in gVisor",
    "network none": "a runsc with --network=none has no other",
    "network of the host": "a runsc with --network=none has no other",
    "a device": "gVisor does not pass it on",
    "pid space": "gVisor's own",
}


def config_for(image, runtime, box=BOX):
    return container_config(box, image=image, runtime=runtime, labels={"agent-loop": "test"})


def look(engine, config, box=BOX):
    return {line.protection: line for line in look_inside(engine, config, box, notify=print)}


@pytest.fixture(params=["runc", "runsc"])
def runtime(request, engine):
    if request.param not in engine.info["Runtimes"]:
        pytest.skip(f"this engine has no {request.param}")
    return request.param


def test_everything_holds_as_built(engine, base_image, runtime):
    lines = look(engine, config_for(base_image, runtime))
    for line in lines.values():
        print(f"{runtime}: {line.protection}: {line.detail}")
    assert not [line for line in lines.values() if not line.held]
    assert list(lines) == list(PROTECTIONS)


@pytest.mark.parametrize("what", TAKEN)
def test_one_protection_taken_away_is_seen(engine, base_image, runtime, what):
    protection, take = TAKEN[what]
    config = copy.deepcopy(config_for(base_image, runtime))
    take(config)
    try:
        lines = look(engine, config)
    except SandboxUnavailable as error:
        # An engine that refuses to start such a container protects as well.
        print(f"{runtime}: without {what}: the engine refuses: {error}")
        assert runtime == "runsc"
        return
    line = lines[protection]
    print(f"{runtime}: without {what}: {protection}: held={line.held}: {line.detail}")
    if runtime == "runsc" and what in NOT_UNDER_RUNSC:
        return
    assert not line.held


@pytest.mark.parametrize("what", ["as", "nproc"])
def test_what_holds_under_runsc_without_cgroups(engine, base_image, what):
    if "runsc" not in engine.info["Runtimes"]:
        pytest.skip("this engine has no runsc")
    config = copy.deepcopy(config_for(base_image, "runsc"))
    ulimits(config, **{what: 1 << 40})
    if "--ignore-cgroups" not in str(engine.info["Runtimes"]["runsc"]):
        pytest.skip("this runsc shows cgroups")
    protection = {"as": "memory limit", "nproc": "process limit"}[what]
    assert not look(engine, config)[protection].held


def test_runc_does_not_pass_for_runsc(engine):
    """A daemon whose `runsc` points to runc."""
    facts = {"kernel": f"Linux version {engine.info['KernelVersion']} (x)"}
    expected = Expected(
        box=BOX,
        runtime="runsc",
        host_namespaces={},
        host_kernel=engine.info["KernelVersion"],
        image_environment={},
    )
    lines = {line.protection: line for line in judge(facts, expected)}
    assert not lines["kernel"].held


def test_a_mount_that_cannot_be_read_is_named(engine, base_image, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    box = Box(program=BOX.program, mounts=(Mount(source=str(folder), target="/work"),))
    folder.chmod(0o755)
    lines = look(engine, config_for(base_image, "runc", box), box)
    assert lines["mounts readable"].held, lines["mounts readable"].detail
    assert lines["host paths"].held, lines["host paths"].detail
    folder.chmod(0o700)
    line = look(engine, config_for(base_image, "runc", box), box)["mounts readable"]
    assert not line.held
    assert "EACCES" in line.detail


def test_a_writable_mount_is_named(engine, base_image, tmp_path):
    tmp_path.chmod(0o777)
    box = Box(program=BOX.program, mounts=(Mount(source=str(tmp_path), target="/work"),))
    config = config_for(base_image, "runc", box)
    config["HostConfig"]["Mounts"][0]["ReadOnly"] = False
    lines = look(engine, config, box)
    assert not lines["host paths"].held
    assert not lines["read-only root"].held


def test_one_miss_stops_everything_before_model_code(base_image):
    sandbox = open_docker_sandbox(base_image)
    sound = sandbox.config
    sandbox.config = lambda box: sound(box) | {"User": "0:0"}
    with pytest.raises(SandboxUnavailable, match=r"no model code ran: non-root user") as caught:
        sandbox.open(BOX)
    print(caught.value)
    with pytest.raises(SandboxUnavailable, match="no model code ran"):
        sandbox.probe()
    sandbox.close()


def test_the_probe_runs_once(base_image):
    sandbox = open_docker_sandbox(base_image)
    assert sandbox.probe() is sandbox.probe()
    sandbox.close()
