"""What commands in the sandbox leave for other programs of the person, such as git and editors."""

import os
from pathlib import Path

import pytest

from claw_acp.core.mode import Mode
from tests.sandbox.sessions import repository, run, session, tree

EVIL = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = ./x\\n"
INSIDE = "mkdir -p in/.git/objects in/.git/refs in/.git/hooks; echo x > in/.git/HEAD"
HOOK = "in/.git/hooks/post-merge"
LEFT_BEHIND = {
    "an editor's tasks": ("mkdir .vscode; echo {} > .vscode/tasks.json", ".vscode"),
    "settings of an agent": ("echo {} > .mcp.json", ".mcp.json"),
    "a bare repository": (f"mkdir objects refs; echo 'ref: refs/heads/x' > HEAD; printf '{EVIL}' > config", "HEAD"),
    "a repository inside": (f"{INSIDE}; printf '{EVIL}' > in/.git/config", "in/.git"),
    "a hook inside": (f"{INSIDE}; echo x > {HOOK}; chmod +x {HOOK}", HOOK),
}


@pytest.mark.parametrize(("line", "left"), LEFT_BEHIND.values(), ids=LEFT_BEHIND)
@pytest.mark.parametrize("mode", ["ask", "auto"])
async def test_what_a_command_leaves_for_other_programs_is_told_and_in_auto_mode_moved_aside(
    place: Path, line: str, left: str, mode: Mode
) -> None:
    (place / "project" / "x.sh").write_text(line)
    async with session(place, run("sh x.sh"), run("touch fine"), mode=mode) as one:
        assert "other programs of yours may run" in one.shown(0)
        assert "other programs of yours may run" not in one.shown(1)
    assert os.path.lexists(place / "project" / left) is (mode == "ask")  # noqa: ASYNC240


async def test_what_a_person_allowed_stays_in_auto_mode_too(place: Path) -> None:
    async with session(place, run("mkdir .vscode; touch .vscode/tasks.json")) as one:
        assert len(one.reasons) == 1
        assert "other programs of yours may run" in one.shown(0)
    assert os.path.lexists(place / "project/.vscode/tasks.json")  # noqa: ASYNC240


GIT_TRICKS = {
    "the other configuration": "printf '../evil' > .git/commondir",
    "the directory away": "mv .git away && mkdir .git",
    "a hook": "echo x > .git/hooks/pre-commit",
    "a setting": "git config core.fsmonitor ./x",
    "settings of worktrees": "printf x > .git/config.worktree",
}


@pytest.mark.parametrize("line", GIT_TRICKS.values(), ids=GIT_TRICKS)
async def test_a_command_cannot_plant_anything_in_the_repository_it_works_in(place: Path, line: str) -> None:
    repository(place / "project")
    (place / "project" / "x.sh").write_text(f"{line}\n")
    before = tree(place / "project")
    async with session(place, run("sh x.sh")) as one:
        assert (one.calls[0]["status"], one.reasons) == ("failed", [])
    after = tree(place / "project")
    assert {path: facts[3] for path, facts in after.items()} == {path: facts[3] for path, facts in before.items()}


async def test_a_changed_package_that_other_projects_share_is_told(place: Path) -> None:
    store, packages = place / "home" / "store", place / "project" / "node_modules" / "left-pad"
    for folder in (store, packages):
        folder.mkdir(parents=True)
    for name in ("index.js", "other.js"):
        (store / name).write_text("shared")
        (packages / name).hardlink_to(store / name)
    (packages / "own.js").write_text("not shared")
    (packages / "twice.js").hardlink_to(packages / "own.js")
    hides = "touch -d 2001-01-01 node_modules/left-pad/index.js"
    line = f"cd node_modules/left-pad; for file in index own; do echo evil > $file.js; done; cd ../..; {hides}"
    (place / "project" / "x.sh").write_text(line)
    async with session(place, run("sh x.sh"), run("touch fine"), run("touch fine")) as one:
        told = one.shown(0)
        assert ("changed for all projects" in told, "left-pad/index.js" in told) == (True, True)
        assert [name for name in ("other.js", "own.js", "twice.js") if name in told] == []
        assert "changed for all projects" not in one.shown(2)
