"""Files of a project, which a program of it may swap while they are read."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from claw_acp.agent.system_prompt import stable_layers
from claw_acp.commands.prompt_folders import project_files
from claw_acp.config.safe_read import OutsideDirectory, read_inside

SECRET = "not for models"
LOOKS = 600


@contextmanager
def swapped(place: Path, *makers: Callable[[Path], object]) -> Generator[None]:
    """Several things take a place in turn, as fast as can be, for the block."""
    done = Event()

    def swap() -> None:
        while not done.is_set():
            for make in makers:
                fresh = place.with_name("fresh")
                make(fresh)
                fresh.replace(place)

    thread = Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder outside of the project, in which the same names hold a secret."""
    folder = tmp_path / "elsewhere"
    (folder / "commands").mkdir(parents=True)
    for name in ("AGENTS.md", "commands/fix.md"):
        (folder / name).write_text(SECRET)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with such files of its own."""
    folder = tmp_path / "project"
    (folder / "mine/commands").mkdir(parents=True)
    for name in ("mine/AGENTS.md", "mine/commands/fix.md"):
        (folder / name).write_text("Use tabs.")
    return folder


def test_instructions_that_are_swapped_for_a_link_while_they_are_read_show_nothing_else(
    project: Path, elsewhere: Path
) -> None:
    def plain(fresh: Path) -> None:
        os.link(project / "mine/AGENTS.md", fresh)

    with swapped(project / "AGENTS.md", plain, lambda fresh: fresh.symlink_to(elsewhere / "AGENTS.md")):
        assert not [look for look in range(LOOKS) if any(SECRET in layer.text for layer in stable_layers([project]))]


def test_a_prompt_file_whose_folder_is_swapped_while_it_is_read_shows_nothing_else(
    project: Path, elsewhere: Path
) -> None:
    (project / ".claw").symlink_to("mine")

    def texts() -> list[str]:
        return [file.text for file in project_files(project)[0]]

    with swapped(project / ".claw", lambda fresh: fresh.symlink_to("mine"), lambda fresh: fresh.symlink_to(elsewhere)):
        assert not [look for look in range(LOOKS) if SECRET in texts()]


def test_links_of_a_directory_lead_to_its_own_files_only(project: Path, elsewhere: Path) -> None:
    (project / "to-mine").symlink_to("mine")
    (project / "to-elsewhere").symlink_to(elsewhere)
    (project / "pipe").symlink_to("mine/pipe")
    os.mkfifo(project / "mine/pipe")
    assert read_inside(project, project / "to-mine/AGENTS.md", limit=3) == b"Use"
    with pytest.raises(OutsideDirectory, match="a link out of"):
        read_inside(project, project / "to-elsewhere/AGENTS.md", limit=3)
    for odd in (project / "pipe", project):
        with pytest.raises(OSError, match="not an ordinary file"):
            read_inside(project, odd, limit=3)
