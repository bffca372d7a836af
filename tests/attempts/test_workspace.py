"""The workspace of an attempt: its paths, and the environment of its programs."""

from pathlib import Path

import pytest

from claw_acp.attempts.workspace import AttemptWorkspace
from claw_acp.attempts.worktrees import attempt_environment
from claw_acp.contracts.workspace import Command
from claw_acp.core.environment import current_environment
from claw_acp.security.read_only.git_environment import git_environment
from claw_acp.workspace.local import LocalWorkspace
from claw_acp.workspace.process_host import ProcessHost


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "copy").mkdir()
    return tmp_path / "copy"


async def printed(copy: Path, line: str, **env: str) -> str:
    async with ProcessHost(current_environment()) as processes:
        inner = LocalWorkspace([copy], processes=processes)
        environment = attempt_environment("someone@attempts.invalid")
        workspace = AttemptWorkspace(inner, project=copy.parent / "project", copy=copy, environment=environment)
        process = await workspace.start(Command(line=line, cwd=copy.parent / "project", env=env))
        await process.wait()
        text = (await process.output()).text
        await process.release()
        return text


async def test_programs_run_in_the_copy_and_use_git_under_a_name_of_their_own(copy: Path) -> None:
    told = await printed(copy, "pwd; git config core.logAllRefUpdates; echo $GIT_COMMITTER_EMAIL")
    assert told.split() == [str(copy), "always", "someone@attempts.invalid"]


async def test_settings_that_keep_git_from_running_programs_are_not_overridden(copy: Path) -> None:
    harmless = git_environment({})
    told = await printed(copy, "git config core.hooksPath; git config core.pager", **harmless)
    assert told.split() == ["/dev/null", "cat"]


def test_paths_of_the_project_are_those_of_the_copy_and_others_stay(copy: Path) -> None:
    workspace = AttemptWorkspace(LocalWorkspace([copy]), project=copy.parent / "project", copy=copy, environment={})
    (copy / "link").symlink_to(copy.parent / "project" / "x")
    assert workspace.locate(str(copy.parent / "project" / "a" / "b")) == copy / "a" / "b"
    assert workspace.locate("link") == copy / "x"
    assert workspace.locate("../project/y") == copy / "y"
    assert workspace.locate("/etc/hostname") == Path("/etc/hostname").resolve()
