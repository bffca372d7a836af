"""Links and names by which what is mounted could become something else than what was looked at."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claw_acp.contracts.launch import Launch
from claw_acp.contracts.sandbox import SandboxProfile
from claw_acp.process.blocking import BlockingChild, Ended
from claw_acp.sandbox.backend import SandboxBackend
from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.sandbox.inside import run_inside
from tests.support.toolchain import ENVIRONMENT


@pytest.fixture
def backend(disk: Path) -> SandboxBackend:
    """The strongest sandbox of this machine, if it guards files of projects."""
    found = sandbox_of_this_machine(cache=disk / "cache")
    if found is None or "read_only" not in found.enforces:
        pytest.skip("no sandbox here guards single files of projects")
    return found


@pytest.fixture
def place(disk: Path, request: pytest.FixtureRequest) -> Path:
    """A directory with a project and something outside of it: a key, and settings of an editor."""
    made = disk / f"{abs(hash(request.node.name)):x} replaced"
    for folder in ("project/inner/folder/.vscode", "outside/folder/.vscode", "home/.ssh"):
        (made / folder).mkdir(parents=True)
    (made / "outside" / "file").write_text("before")
    (made / "home" / ".ssh" / "key").write_text("secret")
    return made


@pytest.mark.parametrize("link", ["../home/.ssh/key", "{}/home/.ssh/key", "../home/.ssh", "inner/link"])
def test_a_guarded_link_does_not_open_what_is_hidden(link: str, backend: SandboxBackend, place: Path) -> None:
    project, hidden = place / "project", place / "home" / ".ssh"
    (project / "inner" / "link").symlink_to(hidden / "key")
    (project / ".mcp.json").symlink_to(link.format(place))
    profile = SandboxProfile(
        writable=(project,), read_only=(project / ".mcp.json", project / ".envrc"), unreadable=(hidden,)
    )
    ended = run_inside(backend, f"cat .mcp.json .mcp.json/key {hidden}/key; echo ran", cwd=project, profile=profile)
    assert ended.stdout == b"ran\n"


def test_what_is_hidden_stays_so_when_a_directory_around_it_is_renamed(backend: SandboxBackend, place: Path) -> None:
    key = place / "project" / "inner" / "key"
    key.write_text("secret")
    profile = SandboxProfile(writable=(place / "project",), unreadable=(key,))
    run_inside(backend, "mv inner other", cwd=place / "project", profile=profile)
    ended = run_inside(backend, "cat */key", cwd=place / "project", profile=profile)
    assert b"secret" not in ended.stdout


def to_a_link(project: Path) -> None:
    (project / "inner").rename(project / "away")
    (project / "inner").symlink_to("../outside")


def to_a_link_that_is_absolute(project: Path) -> None:
    (project / "inner").rename(project / "away")
    (project / "inner").symlink_to(project.parent / "outside")


def to_a_link_further_down(project: Path) -> None:
    (project / "inner" / "folder").rename(project / "away")
    (project / "inner" / "folder").symlink_to("../../outside/folder")


def to_a_hidden_directory(project: Path) -> None:
    (project / "inner" / "folder" / ".vscode").rmdir()
    (project / "inner" / "folder" / ".vscode").symlink_to("../../../home/.ssh")


@pytest.mark.parametrize(
    "replace", [to_a_link, to_a_link_that_is_absolute, to_a_link_further_down, to_a_hidden_directory]
)
def test_a_directory_replaced_while_the_sandbox_is_made_opens_nothing(
    replace: Callable[[Path], None], backend: SandboxBackend, place: Path
) -> None:
    project, hidden = place / "project", place / "home" / ".ssh"
    guarded = project / "inner" / "folder" / ".vscode"
    ended = started(
        backend, place, SandboxProfile(writable=(project,), read_only=(guarded,), unreadable=(hidden,)), replace
    )
    assert (ended.stdout, ended.code > 0) == (b"", True)
    assert (place / "outside" / "file").read_text() == "before"
    assert list((place / "outside" / "folder").iterdir()) == [place / "outside" / "folder" / ".vscode"]


def test_firejail_does_not_run_a_command_either_whose_guarded_directory_was_replaced(disk: Path, place: Path) -> None:
    backend = sandbox_of_this_machine("firejail", cache=disk / "cache")
    if backend is None:
        pytest.skip("Firejail does not work here")
    guarded = SandboxProfile(writable=(place / "project",), read_only=(place / "project/inner/folder/.vscode",))
    assert started(backend, place, guarded, lambda _: None).stdout.endswith(b"ran\n")
    ended = started(backend, place, guarded, to_a_link)
    assert (ended.stdout, ended.code, b"was replaced" in ended.stderr) == (b"", 126, True)


def test_a_project_with_odd_names_works_as_it_did(backend: SandboxBackend, place: Path) -> None:
    project = place / "project"
    folder = project / "a b\\c\td\ne*[x]$y"
    (folder / ".vscode").mkdir(parents=True)
    ended = started(
        backend, place, SandboxProfile(writable=(project,), read_only=(folder / ".vscode",)), lambda _: None
    )
    assert ended.stdout.endswith(b"ran\n"), ended


def started(backend: SandboxBackend, place: Path, profile: SandboxProfile, replace: Callable[[Path], None]) -> Ended:
    """Describe the sandbox, change the project, and run a command then."""
    line = 'cat "$0/home/.ssh/key"; for f in file folder/x; do echo x > "$0/outside/$f"; done; echo ran'
    confinement = backend.confine(profile)
    try:
        launch = confinement(Launch(argv=("bash", "-c", line, str(place)), env=ENVIRONMENT, cwd=place / "project"))
        replace(place / "project")
        return BlockingChild(launch.argv, env=launch.env, cwd="/").finish(within=20)
    finally:
        confinement.release()
