"""Containers as sandboxes: what Podman and Docker are told, and what really happens in them, where they work."""

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Generator, Sequence
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxLimits, SandboxProfile
from claw_acp.process.blocking import BlockingChild
from claw_acp.sandbox.attacks.attack import ATTACKS
from claw_acp.sandbox.attacks.proof import proof
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.container.backend import Container
from claw_acp.sandbox.container.call_rules import call_rules
from claw_acp.sandbox.container.command_line import Engine, docker_engine, podman_engine
from claw_acp.sandbox.files import SandboxFiles
from claw_acp.sandbox.findings import CONTAINERS
from claw_acp.sandbox.machine import findings, sandbox_of_this_machine
from claw_acp.sandbox.system_calls import ARCHITECTURES
from tests.sandbox.container_image import IMAGE, build_image, remove_image
from tests.sandbox.inside import run_inside
from tests.sandbox.sessions import run, session
from tests.sandbox.test_network_programs import HOST, inside
from tests.support.disk import directory_on_disk
from tests.support.program.agent_process import eventually

ENGINES = (docker_engine("/usr/bin/docker"), podman_engine("/usr/bin/podman", init=True))
filtered = pytest.mark.skipif(platform.machine() not in ARCHITECTURES, reason="there is no filter for this machine")


def line(engine: Engine, profile: SandboxProfile, tmp_path: Path, **variables: str) -> Sequence[str]:
    """The command line for `true` in a container, from the program that runs containers on."""
    backend = Container(
        engine, image="image", options=("--user", "1:1"), python="", files=SandboxFiles(tmp_path / "own")
    )
    confinement = backend.confine(profile)
    launch = Launch(argv=("true",), env={"HOME": "/home/somebody", **variables}, cwd=profile.writable[0])
    argv = confinement(launch).argv
    confinement.release()
    return argv[argv.index("--") + 1 :]


@filtered
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_a_container_has_the_project_and_nothing_else_of_this_machine(engine: Engine, tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    for name in ("hooks", "keys"):
        (project / name).mkdir(parents=True)
    profile = SandboxProfile(
        writable=(project,),
        read_only=(project / "hooks",),
        unreadable=(project / "keys", Path("/etc/shadow")),
        limits=SandboxLimits(processes=7, memory=1 << 30, file_size=1 << 20),
    )
    options = line(engine, profile, tmp_path)
    assert [option for option in options if option.startswith("type=bind")] == [
        f"type=bind,source={project},target={project}",
        f"type=bind,source={project / 'hooks'},target={project / 'hooks'},readonly",
    ]
    memory = engine.in_memory
    assert f"{project / 'keys'}:{memory},nosuid,nodev,ro,mode=0000" in options
    assert f"/home/somebody:{memory},nosuid,nodev,exec,mode=1777" in options
    assert "/etc/shadow" not in " ".join(options)
    said = " ".join(options)
    assert "--network none" in said
    assert "--cap-drop ALL --security-opt no-new-privileges" in said
    assert "--pull never" in said
    assert all(word in options for word in ("--read-only", "--rm", "--init", "fsize=1048576:1048576", "1073741824"))
    assert options[options.index("image") :][-1] == "true"


@filtered
def test_a_container_gets_no_variable_that_names_a_place_of_this_machine_and_none_is_on_its_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    monkeypatch.setenv("LANG", "C")
    project = tmp_path.resolve()
    backend = Container(ENGINES[0], image="image", options=(), python="", files=SandboxFiles(tmp_path / "own"))
    confinement = backend.confine(SandboxProfile(writable=(project,)))
    own = {"PATH": "/usr/bin", "JAVA_HOME": "/opt/java", "LANG": "C", "DOCKER_HOST": "unix:///run/d", "TOKEN": "secret"}
    launch = confinement(Launch(argv=("true",), env={**own, "DATA": "/data", "LONG": "1\n2"}, cwd=project))
    (record,) = (tmp_path / "own" / "containers").iterdir()
    assert record.read_text().splitlines() == ["LANG=C", "TOKEN=secret", "DATA=/data"]
    assert "LONG=1\n2" in launch.argv
    assert "secret" not in " ".join(launch.argv)
    assert "TOKEN" not in launch.env
    confinement.release()
    assert not record.exists()


def test_a_path_that_would_be_read_as_more_options_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project,readonly"
    project.mkdir()
    with pytest.raises(OSError, match="containers take no path like"):
        line(ENGINES[0], SandboxProfile(writable=(project,)), tmp_path)


def test_the_filter_of_containers_refuses_what_our_own_one_refuses() -> None:
    for machine in ARCHITECTURES:
        rules = json.loads(call_rules(machine))["syscalls"]
        whole = {name for rule in rules if not rule["args"] for name in rule["names"]}
        some = {name for rule in rules if rule["args"] for name in rule["names"]}
        assert {"ptrace", "mount", "bpf", "keyctl", "clone3", "openat2"} <= whole
        assert some == {
            "clone", "unshare", "ioctl", "socket", "chmod", "fchmod", "fchmodat", "fchmodat2", "mknod", "mknodat",
            "creat", "open", "openat",
        }  # fmt: skip


# ---------------------------------------------------------------- a real one


@pytest.fixture(scope="module", params=CONTAINERS)
def containers(request: pytest.FixtureRequest) -> Generator[tuple[SandboxBackend, Path]]:
    """A program that runs containers, with an image of this machine's programs, and a directory on the disk."""
    engine: str = request.param
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not here")
    with directory_on_disk() as disk, pytest.MonkeyPatch.context() as patch:
        try:
            variables = build_image(engine, disk)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"{engine} does not work here: {error}")
        for name, value in variables.items():
            patch.setenv(name, value)
        try:
            backend = sandbox_of_this_machine(engine, image=IMAGE, cache=disk / "cache")
            if backend is None:
                found = findings(disk / "cache", image=IMAGE)
                pytest.skip(f"{engine} does not work here: {next(one.problem for one in found if one.name == engine)}")
            yield backend, disk
        finally:
            remove_image(engine, variables)


CHOSEN = (
    "lift what hides a key", "write outside", "change rights outside", "replace .git", "create a file of agents",
    "connect to this machine", "use the socket of a container daemon", "survive in a session of its own",
    "outlive what started it", "leave a program with the rights of its owner", "start many processes",
    "write a large file", "use much memory",
)  # fmt: skip
"""Some attacks of each kind: each takes half a second. `claw-acp doctor --prove --sandbox podman` carries out all."""


@pytest.mark.timeout(120)
@pytest.mark.parametrize("owner", [None, 65534], ids=["ours", "somebody else's"])
def test_a_container_stops_the_attacks(containers: tuple[SandboxBackend, Path], owner: int | None) -> None:
    if owner is not None and os.geteuid() != 0:
        pytest.skip("only a superuser works in projects of others")
    backend, disk = containers
    attacks = [attack for attack in ATTACKS if attack.name in CHOSEN][:: 1 if owner is None else 4]
    outcomes = list(proof(backend, base=disk, attacks=attacks, owner=owner))
    assert {one.attack.name: one.reached or one.doubt for one in outcomes if one.verdict != "stopped"} == {}


@pytest.mark.timeout(60)
async def test_a_session_runs_its_commands_in_a_container_where_an_image_is_named(
    containers: tuple[SandboxBackend, Path], cache: Path
) -> None:
    assert cache
    place = containers[1] / "session"
    for folder in ("project", "home"):
        (place / folder).mkdir(parents=True)
    config = f'[sandbox]\nbackend = "{containers[0].name}"\nimage = "{IMAGE}"\n'
    where = {name: os.environ[name] for name in os.environ if name.startswith(("CONTAINERS_", "DOCKER_"))}
    command = "echo made > made; command -v tar || echo no tar in the image"
    async with session(place, run(command), config=config, env=where) as done:
        shown = done.shown(0)
    assert (place / "project" / "made").read_text() == "made\n"
    assert "no tar in the image" in shown


@pytest.mark.timeout(60)
async def test_a_container_reaches_permitted_hosts_through_the_proxy_and_no_others(
    containers: tuple[SandboxBackend, Path],
) -> None:
    backend, disk = containers
    project = disk / "networked"
    project.mkdir()
    fetch = """
import os, socket, sys
address, port = os.environ["http_proxy"].removeprefix("http://").split(":")
stream = socket.create_connection((address, int(port)), 5)
lines = f"GET http://{sys.argv[1]}/f HTTP/1.1", f"Host: {sys.argv[1]}", "Connection: close", "", ""
stream.sendall("\\r\\n".join(lines).encode())
print(b"".join(iter(lambda: stream.recv(4096), b"")))
"""
    async with inside(project, {"/f": b"found it"}, backend=backend) as sandbox:
        answers = [await sandbox.run("python3", "-I", "-S", "-c", fetch, host) for host in (HOST, "other.test")]
    assert b"found it" in answers[0].stdout, answers[0].stderr
    assert b"Blocked-by-claw-acp" in answers[1].stdout


def test_a_program_keeps_its_exit_code_and_its_outputs_apart(containers: tuple[SandboxBackend, Path]) -> None:
    backend, disk = containers
    project = disk / "exits"
    project.mkdir()
    ended = run_inside(
        backend, "echo out; echo err >&2; exit 7", cwd=project, profile=SandboxProfile(writable=(project,))
    )
    assert (ended.code, ended.stdout, ended.stderr) == (7, b"out\n", b"err\n")
    assert not list((disk / "cache" / "sandbox" / "containers").iterdir())


async def test_a_killed_command_leaves_neither_its_container_nor_what_was_made_for_it(
    containers: tuple[SandboxBackend, Path],
) -> None:
    backend, disk = containers
    project = disk / "killed"
    project.mkdir()
    confinement = backend.confine(SandboxProfile(writable=(project,), read_only=(project / ".mcp.json",)))
    line = "echo > started; exec sleep 60"
    child = BlockingChild(["sh", "-c", line], cwd=project, sandbox=confinement, env={"PATH": os.environ["PATH"]})
    await eventually((project / "started").exists, what="the command")
    (record,) = (disk / "cache" / "sandbox" / "containers").iterdir()
    child.kill()
    confinement.release()
    child.finish(within=10)
    await eventually(lambda: not (record.exists() or (project / ".mcp.json").exists()), what="the end of the container")
    listed = await anyio.run_process([backend.name, "ps", "--all"])
    assert record.name.encode() not in listed.stdout


def test_containers_are_tried_only_where_an_image_is_named(tmp_path: Path) -> None:
    assert not {found.name for found in findings(tmp_path / "cache")}.intersection(CONTAINERS)
