"""Projects in unusual places, and what is left of a command there."""

import os
import socket
from pathlib import Path

import pytest

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.process.blocking import BlockingChild
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.machine import BACKENDS, sandbox_of_this_machine
from tests.sandbox.inside import GUARDED, WITHIN, run_inside
from tests.support.ordinary_user import NOBODY
from tests.support.toolchain import ENVIRONMENT


@pytest.fixture
def backend(disk: Path) -> SandboxBackend:
    """The strongest sandbox of this machine, if it guards files of projects."""
    found = sandbox_of_this_machine(cache=disk / "cache")
    if found is None or "read_only" not in found.enforces:
        pytest.skip("no sandbox here guards single files of projects")
    return found


def placed(place: str, *, tmp_path: Path, disk: Path) -> tuple[Path, Path]:
    """A project in a place, and the path by which a person knows it."""
    directory = {"in /run": Path("/run"), "in a home": Path(os.environ["HOME"]), "on the disk": disk}.get(
        place, tmp_path
    )
    project = directory / f"claw acp ünïcode {os.getpid()} {tmp_path.name}"
    if place == "in a home":
        project = directory
    project.mkdir(exist_ok=True)
    if place == "behind a link":
        (tmp_path / "link").symlink_to(project)
        return project, tmp_path / "link"
    if place == "in a folder behind a link":
        (project / "folder").mkdir()
        (tmp_path / "link").symlink_to(project)
        return project, tmp_path / "link" / "folder"
    return project, project


PLACES = ("in /tmp", "in /run", "in a home", "on the disk", "behind a link", "in a folder behind a link")


@pytest.mark.parametrize("place", PLACES)
def test_a_project_can_be_changed_in_place(place: str, backend: SandboxBackend, tmp_path: Path, disk: Path) -> None:
    if place == "in /run" and not os.access("/run", os.W_OK):
        pytest.skip("/run cannot be written")
    project, known = placed(place, tmp_path=tmp_path, disk=disk)
    (project / ".git").mkdir()
    profile = SandboxProfile(
        writable=(known if place != "in a folder behind a link" else known.parent,),
        read_only=tuple(known / name for name in GUARDED) if known.parent != project else (),
        temporary=disk,
    )
    try:
        line = "pwd; echo changed > 'a file'; echo no > .git/config; mv .git old; echo kept > /tmp/kept"
        ended = run_inside(backend, line, cwd=known, profile=profile)
        assert ended.stdout.decode() == f"{known}\n"
        assert (known / "a file").read_text() == "changed\n"
        assert (disk / "kept").read_text() == "kept\n"
        assert (project / ".git").is_dir()
        assert place == "in a folder behind a link" or not (project / ".git" / "config").is_file()
    finally:
        if place == "in /run":
            run_removal(project)


INSTALLED = ("tool/bin/program", "venv/bin/program", "packages/node_modules/tool/lib/program")


@pytest.mark.parametrize("path", INSTALLED)
def test_a_program_that_a_link_in_a_temporary_directory_leads_to_runs_with_what_it_needs(
    path: str, backend: SandboxBackend, tmp_path: Path, project: Path
) -> None:
    program = tmp_path / path
    program.parent.mkdir(parents=True)
    (tmp_path / "venv").mkdir(exist_ok=True)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    beside = {"tool": program.parent, "venv": tmp_path / "venv"}.get(
        path.split("/", maxsplit=1)[0], tmp_path / "packages/node_modules"
    )
    (beside / "needed").write_text("found")
    program.write_text(f"#!/bin/sh\ncat {beside}/needed\n")
    program.chmod(0o755)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "program").symlink_to(program)
    confinement = backend.confine(SandboxProfile(writable=(project,)))
    try:
        child = BlockingChild([str(tmp_path / "links" / "program")], env=ENVIRONMENT, cwd=project, sandbox=confinement)
        assert child.finish(within=WITHIN).stdout == b"found"
    finally:
        confinement.release()


def run_removal(project: Path) -> None:
    for path in sorted(project.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    project.rmdir()


def test_a_home_that_is_the_project_still_hides_its_keys(backend: SandboxBackend, disk: Path) -> None:
    home = disk / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("secret")
    (home / "linked").symlink_to(home / ".ssh")
    profile = SandboxProfile(writable=(home,), unreadable=(home / "linked",))
    ended = run_inside(
        backend, "cat .ssh/id linked/id; mv .ssh away; cat away/id; echo x > ok", cwd=home, profile=profile
    )
    assert b"secret" not in ended.stdout
    assert (home / "ok").exists()


def test_what_is_writable_inside_something_hidden_can_be_used(backend: SandboxBackend, disk: Path) -> None:
    hidden = disk / "hidden"
    (hidden / "cache").mkdir(parents=True)
    (hidden / "secret").write_text("secret")
    profile = SandboxProfile(writable=(disk / "project", hidden / "cache"), unreadable=(hidden,))
    (disk / "project").mkdir()
    line = f"cat {hidden}/secret; ls {hidden}; echo cached > {hidden}/cache/file; cat {hidden}/cache/file"
    assert run_inside(backend, line, cwd=disk / "project", profile=profile).stdout == b"cached\n"


def test_commands_at_the_same_time_share_what_stands_for_a_missing_file(backend: SandboxBackend, project: Path) -> None:
    profile = SandboxProfile(
        writable=(project,), read_only=(project / ".mcp.json", project / ".claude" / "settings.json")
    )
    first, second = backend.confine(profile), backend.confine(profile)
    first.release()
    child = BlockingChild(
        ["sh", "-c", "echo x > .mcp.json; echo x > .claude/settings.json; echo mine > .claude/notes"],
        env=ENVIRONMENT, cwd=project, sandbox=second,
    )  # fmt: skip
    child.finish(within=20)
    assert (project / ".mcp.json").is_dir()
    second.release()
    second.release()
    assert sorted(str(path.relative_to(project)) for path in project.rglob("*")) == [".claude", ".claude/notes"]


def test_what_a_killed_process_left_is_removed_by_the_next(disk: Path, project: Path) -> None:
    cache = disk / "killed"
    if sandbox_of_this_machine(cache=cache) is None:
        pytest.skip("no sandbox works here")
    if (child := os.fork()) == 0:
        _hold_and_die(cache, project)
    os.waitpid(child, 0)
    assert (project / ".mcp.json").is_dir()
    sandbox_of_this_machine.cache_clear()
    backend = sandbox_of_this_machine(cache=cache)
    assert backend is not None
    backend.confine(SandboxProfile(writable=(project,))).release()
    assert list(project.iterdir()) == []


def _hold_and_die(cache: Path, project: Path) -> None:
    backend = sandbox_of_this_machine(cache=cache)
    assert backend is not None
    backend.confine(SandboxProfile(writable=(project,), read_only=(project / ".mcp.json",)))
    os._exit(0)


def test_what_a_person_put_in_the_place_of_a_missing_file_stays(backend: SandboxBackend, project: Path) -> None:
    confinement = backend.confine(SandboxProfile(writable=(project,), read_only=(project / ".mcp.json",)))
    (project / ".mcp.json").rmdir()
    (project / ".mcp.json").write_text("{}")
    confinement.release()
    assert (project / ".mcp.json").read_text() == "{}"


@pytest.mark.parametrize("started_by", ["us", "editor"])
def test_a_command_line_needs_nothing_but_itself(started_by: str, backend: SandboxBackend, project: Path) -> None:
    confinement = backend.confine(SandboxProfile(writable=(project,)), started_by=started_by)  # type: ignore[arg-type]
    env = {**ENVIRONMENT, "SSH_AUTH_SOCK": "/run/agent", "BASH_FUNC_greet%%": "() { echo greeted; }"}
    launch = confinement(Launch(argv=("bash", "-c", 'greet; echo "[$SSH_AUTH_SOCK]"; exit 7'), env=env, cwd=project))
    child = BlockingChild(launch.argv, env=launch.env, cwd="/")
    ended = child.finish(within=20)
    confinement.release()
    assert (ended.code, ended.stdout) == (7, b"greeted\n[]\n")


@pytest.mark.parametrize("name", BACKENDS)
def test_our_own_directories_can_be_hidden(name: str, disk: Path, project: Path) -> None:
    cache = disk / "cache"
    backend = sandbox_of_this_machine(name, cache=cache)
    if backend is None:
        pytest.skip(f"{name} does not work here")
    profile = SandboxProfile(writable=(project,), unreadable=(cache,))
    ended = run_inside(backend, f"echo works; cat {cache}/sandbox/filter*", cwd=project, profile=profile)
    assert (ended.stdout, ended.code) == (b"works\n", 1), ended


@pytest.mark.skipif(os.geteuid() != 0, reason="it is about the superuser")
def test_sockets_and_keys_in_closed_directories_of_others_are_no_obstacle(backend: SandboxBackend, disk: Path) -> None:
    closed, project = disk / "closed", disk / "open"
    closed.mkdir()
    project.mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(closed / "socket"))
        (closed / "key").write_text("secret")
        os.chown(closed, NOBODY, NOBODY)
        closed.chmod(0o700)
        profile = SandboxProfile(writable=(project,), unreadable=(closed / "key",))
        ended = run_inside(backend, f"echo works; cat {closed}/key", cwd=project, profile=profile)
        assert ended.stdout == b"works\n", ended
        profile = SandboxProfile(writable=(closed / "project",), unreadable=(closed / "key",))
        (closed / "project").mkdir()
        os.chown(closed / "project", NOBODY, NOBODY)
        run_inside(backend, f"echo made > file; cat {closed}/key > stolen", cwd=closed / "project", profile=profile)
    assert (closed / "project" / "file").read_text() == "made\n"
    assert (closed / "project" / "stolen").read_text() == ""
