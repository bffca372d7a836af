import os
from pathlib import Path

import pytest

from claw_acp.commands.prompt_folders import DEEPEST, MOST_FILES, MOST_TROUBLES, PromptFolders, folders_for
from tests.support.ordinary_user import ordinary_user


class Places:
    """A project with a second root, a user's own folders, and the commands that are found there."""

    def __init__(self, base: Path) -> None:
        self.project, self.other = base / "project", base / "other"
        self.own, self.home = base / "config", base / "home"
        for folder in (self.project, self.other, self.own, self.home):
            folder.mkdir()
        self.folders = PromptFolders(
            lambda: folders_for([self.project, self.other], config_dir=self.own, home=self.home),
            taken=lambda: {"help"},
        )

    def write(self, path: Path, text: str = "Do it.") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def names(self, scope: str) -> list[str]:
        return [command.name for command in self.folders.commands.get(scope, ())]

    def prompt(self, scope: str, name: str) -> str:
        return next(command for command in self.folders.commands[scope] if command.name == name).expanded("")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_nothing_anywhere_is_no_news(places: Places) -> None:
    assert places.folders.look() is False
    assert (places.folders.commands, places.folders.troubles) == ({}, ())


def test_every_place_is_looked_at_and_the_first_of_a_name_counts(places: Places) -> None:
    places.write(places.project / ".claw/commands/a.md", "project")
    places.write(places.project / ".claude/commands/a.md", "shadowed")
    places.write(places.project / ".claude/commands/b.md")
    places.write(places.other / ".claw/commands/c.md")
    places.write(places.own / "commands/d.md", "ours")
    places.write(places.home / ".claude/commands/d.md", "theirs")
    places.write(places.home / ".claude/commands/e.MD")
    assert places.folders.look() is True
    assert (places.names("project"), places.names("user")) == (["a", "b", "c"], ["d", "e"])
    assert (places.prompt("project", "a"), places.prompt("user", "d")) == ("project", "ours")
    assert places.folders.troubles == ()


def test_a_project_cannot_take_the_name_of_the_users_own_command(places: Places) -> None:
    hidden = places.write(places.project / ".claw/commands/review.md", "project")
    places.write(places.home / ".claude/commands/review.md", "mine")
    places.folders.look()
    assert (places.names("project"), places.prompt("user", "review")) == ([], "mine")
    assert places.folders.troubles == (f"{hidden}: your own /review hides it; give one of them another name",)


def test_sub_folders_become_part_of_the_name_down_to_a_depth(places: Places) -> None:
    folder = places.project / ".claw/commands"
    places.write(folder / "git/fix.md")
    deep = [f"d{number}" for number in range(DEEPEST)]
    places.write(folder.joinpath(*deep, "in.md"))
    places.write(folder.joinpath(*deep, "more", "out.md"))
    places.write(folder / ".hidden.md")
    places.write(folder / ".git/x.md")
    places.write(folder / "notes.txt")
    places.folders.look()
    assert places.names("project") == [":".join([*deep, "in"]), "git:fix"]


def test_changes_are_seen_at_the_next_look_and_only_then(places: Places) -> None:
    path = places.write(places.project / ".claw/commands/a.md", "one")
    assert [places.folders.look(), places.folders.look()] == [True, False]
    places.write(path, "twice")
    assert [places.folders.look(), places.folders.look()] == [True, False]
    assert places.prompt("project", "a") == "twice"
    other = places.write(places.project / "new.md", "other")
    os.utime(other, ns=(0, path.stat().st_mtime_ns))
    other.replace(path)
    assert places.folders.look() is True
    assert places.prompt("project", "a") == "other"
    path.unlink()
    assert places.folders.look() is True
    assert places.folders.commands == {}


def test_files_that_are_no_commands_are_told_of_and_do_no_harm(places: Places) -> None:
    folder = places.project / ".claw/commands"
    places.write(folder / "good.md")
    places.write(folder / "help.md")
    places.write(folder / "two words.md")
    places.write(folder / "empty.md", "")
    os.mkfifo(folder / "pipe.md")
    (folder / "gone.md").symlink_to("/nowhere")
    places.folders.look()
    assert places.names("project") == ["good"]
    told = {Path(text.partition(": ")[0]).name: text.partition(": ")[2] for text in places.folders.troubles}
    assert told == {
        "help.md": "/help is a command of this program; give the file another name",
        "two words.md": "its name has white space or invisible characters; rename the file",
        "empty.md": "it holds no prompt",
        "pipe.md": "it cannot be read: it is not an ordinary file",
        "gone.md": "it cannot be read: No such file or directory",
    }


def test_a_project_cannot_make_a_prompt_of_a_file_elsewhere(places: Places) -> None:
    secret = places.write(places.home / "id_rsa", "secret")
    inside = places.write(places.project / "docs/fix.md", "inside")
    folder = places.project / ".claw/commands"
    folder.mkdir(parents=True)
    (folder / "leak.md").symlink_to(secret)
    (folder / "fix.md").symlink_to(inside)
    places.folders.look()
    assert places.names("project") == ["fix"]
    assert places.folders.troubles == (f"{folder / 'leak.md'}: it is a link out of {places.project}",)


def test_the_users_own_files_may_be_links(places: Places) -> None:
    target = places.write(places.other / "dotfiles/fix.md", "mine")
    folder = places.home / ".claude/commands"
    folder.mkdir(parents=True)
    (folder / "fix.md").symlink_to(target)
    places.folders.look()
    assert places.prompt("user", "fix") == "mine"


def test_too_many_files_and_too_many_troubles_are_bounded(places: Places) -> None:
    for number in range(MOST_FILES + 5):
        places.write(places.own / f"commands/c{number:03}.md")
    for number in range(MOST_TROUBLES + 3):
        places.write(places.project / f".claw/commands/e{number:02}.md", "")
    places.folders.look()
    assert len(places.names("user")) == MOST_FILES
    assert len(places.folders.troubles) == MOST_TROUBLES + 1
    assert places.folders.troubles[-1] == "4 more prompt files cannot be used as commands"


def test_a_link_that_goes_in_a_circle_ends(places: Places) -> None:
    folder = places.project / ".claw/commands"
    places.write(folder / "a.md")
    (folder / "again").symlink_to(folder)
    places.folders.look()
    assert places.names("project") == ["a"]


def test_a_file_that_becomes_readable_is_read(places: Places, tmp_path: Path) -> None:
    path = places.write(places.project / ".claw/commands/a.md")
    with ordinary_user(tmp_path):
        path.chmod(0)
        places.folders.look()
        assert places.folders.troubles == (f"{path}: it cannot be read: Permission denied",)
        path.chmod(0o600)
        assert places.folders.look() is True
    assert (places.names("project"), places.folders.troubles) == (["a"], ())


def test_a_folder_that_cannot_be_listed_is_told_of(places: Places, tmp_path: Path) -> None:
    folder = places.write(places.project / ".claw/commands/a.md").parent
    places.write(places.project / ".claude/commands/b.md")
    with ordinary_user(tmp_path):
        folder.chmod(0)
        places.folders.look()
        assert places.folders.troubles == (f"{folder}: it cannot be listed: Permission denied",)
        assert places.names("project") == ["b"]
        folder.chmod(0o700)
