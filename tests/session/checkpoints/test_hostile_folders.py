"""Folders and commands of the kind in which undos elsewhere lost files: each command is taken back to the last byte."""

import re
import tempfile
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import pytest

from claw_acp.core.events import Notice
from claw_acp.session.checkpoints.command_watch import STATE_KEY, CommandWatch
from claw_acp.session.checkpoints.surveyor import Bounds
from tests.session.checkpoints.folder import Project, exact_tree_of, run_line
from tests.support.ordinary_user import ordinary_user
from tests.support.seen import Seen

_BLOCKS: Final = Path(__file__).with_name("hostile_folders.txt").read_text(encoding="utf-8").strip().split("\n\n")[1:]
FOLDERS: Final = {block.split("\n", 1)[0]: block.split("\n", 1)[1].split("\n-> ") for block in _BLOCKS}


@pytest.mark.parametrize(("setup", "line"), FOLDERS.values(), ids=FOLDERS)
async def test_a_command_is_taken_back_to_the_last_byte(setup: str, line: str) -> None:
    closes = re.search("chmod (000|555)", setup + line)
    with tempfile.TemporaryDirectory() as place:  # not below one that other runs of pytest close to ordinary users
        await _take_back(Path(place), setup, line, user=ordinary_user(Path(place)) if closes else nullcontext())


async def _take_back(place: Path, setup: str, line: str, *, user: AbstractContextManager[None]) -> None:
    async with Project.opened(place) as project:
        with user:
            _keeps_few(project)
            run_line(setup, cwd=project.folder)
            before = exact_tree_of(project.folder)
            await project.begin_turn()
            await project.shell(line)
            after = exact_tree_of(project.folder)
            await project.end_turn()
            undone = await project.checkpoints.undo(None)
            assert (undone.edited, undone.failed, undone.waits) == ((), (), False)
            assert exact_tree_of(project.folder) == before
            await project.checkpoints.redo()
            assert exact_tree_of(project.folder) == after
            run_line("chmod -R u+rwX .", cwd=project.folder)


def _keeps_few(project: Project) -> None:
    """Have only five files kept before a command that does not name them."""
    few = Bounds(size=1024 * 1024, files=5, total=1024 * 1024)
    project.session.tool_state.get(STATE_KEY, lambda: CommandWatch(project.store, others=few))


@pytest.mark.parametrize("version", [2, 4])
async def test_a_folder_inside_a_repository_has_its_files_in_git(tmp_path: Path, version: int) -> None:
    async with Project.opened(tmp_path, inside="sub") as project:
        _keeps_few(project)
        made = "for i in $(seq 12); do echo $i > sub/same$i; done; repository"
        run_line(f"{made}; git update-index --index-version {version}", cwd=tmp_path / "project")
        before = exact_tree_of(project.folder)
        await project.begin_turn()
        await project.shell('python3 -c "import os; [os.remove(f) for f in os.listdir()]"')
        await project.end_turn()
        assert (await project.checkpoints.undo(None)).failed == ()
        assert exact_tree_of(project.folder) == before


async def test_a_folder_with_too_many_files_is_said_once_to_be_recorded_in_part(tmp_path: Path) -> None:
    async with Project.opened(tmp_path) as project:
        project.session.subscribers.append(seen := Seen())
        project.session.tool_state.get(STATE_KEY, lambda: CommandWatch(project.store, most=2))
        run_line("mkdir d; touch a b c d/e", cwd=project.folder)
        await project.begin_turn()
        await project.shell("rm d/e")
        await project.shell("touch d/e")
        assert [event.description for event in seen.events if isinstance(event, Notice)] == [
            "The folder has more than 2 files; only some changes by commands are recorded."
        ]


@pytest.mark.parametrize("line", ["rm -rf .git", "find . -delete", "cd n && rm -rf .git", "rm -rf n"])
async def test_a_history_that_is_gone_is_said_to_be(tmp_path: Path, line: str) -> None:
    async with Project.opened(tmp_path) as project:
        project.session.subscribers.append(seen := Seen())
        run_line("git init -q; mkdir n; cd n; git init -q", cwd=project.folder)
        await project.begin_turn()
        await project.shell(line)
        gone = str(project.folder / ("n/.git" if "n" in line.split() else ".git"))
        (notice,) = (event for event in seen.events if isinstance(event, Notice))
        assert f"Git's own files are gone, with the history of the project: {gone}" in str(notice.description)


async def test_what_cannot_be_restored_is_asked_about_before_anything_is_done(tmp_path: Path) -> None:
    async with Project.opened(tmp_path) as project:
        run_line("truncate -s 70M large; echo a > a", cwd=project.folder)
        await project.begin_turn()
        await project.shell("rm large; echo b > a")
        await project.end_turn()
        asked = await project.checkpoints.undo(None)
        assert (asked.waits, asked.files, (project.folder / "a").read_text()) == (True, (), "b\n")
        assert [path for path, _ in asked.failed] == ["large"]
        await project.checkpoints.undo(None, edited="skip")
        assert (project.folder / "a").read_text() == "a\n"


async def test_commits_that_stay_are_named(tmp_path: Path) -> None:
    async with Project.opened(tmp_path) as project:
        run_line("echo a > a; repository", cwd=project.folder)
        await project.begin_turn()
        await project.shell("echo b > a; git commit -qam b")
        await project.end_turn()
        undone = await project.checkpoints.undo(None)
        assert (undone.repositories, undone.failed, (project.folder / "a").read_text()) == ((".git",), (), "a\n")


async def test_a_folder_that_is_not_there_any_more_is_not_made_again(tmp_path: Path) -> None:
    async with Project.opened(tmp_path) as project:
        await project.begin_turn()
        await project.write("a", "a")
        await project.shell("echo b > a")
        await project.end_turn()
        project.folder.rename(tmp_path / "moved")
        undone = await project.checkpoints.undo(None, edited="overwrite")
        assert not project.folder.exists()
        assert undone.files == ()
