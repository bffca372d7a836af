"""The namespaces of projects, and their switch."""

import subprocess
from pathlib import Path

import pytest

from claw_acp.core.errors import StoreError
from claw_acp.memory.namespaces import project_namespace
from claw_acp.memory.switch import MemorySwitch


def git(*arguments: str, cwd: Path) -> None:
    author = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run(["git", *author, *arguments], cwd=cwd, check=True, capture_output=True)


def test_folders_and_worktrees_of_a_repository_share_their_memories(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    (shop / "deep" / "down").mkdir(parents=True)
    git("init", "-q", cwd=shop)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=shop)
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=shop)
    (tmp_path / "link").symlink_to(shop)
    places = [shop, shop / "deep" / "down", tmp_path / "tree", tmp_path / "link"]
    assert {project_namespace(place) for place in places} == {f"project:{shop}"}
    assert project_namespace(tmp_path) == f"project:{tmp_path}"


def test_a_folder_that_only_says_that_it_is_a_worktree_gets_no_foreign_memories(tmp_path: Path) -> None:
    shop, thief = tmp_path / "shop", tmp_path / "thief"
    shop.mkdir()
    thief.mkdir()
    git("init", "-q", cwd=shop)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=shop)
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=shop)
    (thief / ".git").write_text((tmp_path / "tree" / ".git").read_text())
    assert project_namespace(thief) == f"project:{thief}"
    (thief / ".git").write_text("gitdir: ../shop/.git\n")
    assert project_namespace(thief) == f"project:{thief}"


def test_the_switch_of_a_project_leaves_others_on(tmp_path: Path) -> None:
    switch = MemorySwitch(tmp_path / "new" / "off.json")
    switch.set_off("project:/a", off=True)
    switch.set_off("project:/b", off=True)
    switch.set_off("project:/b", off=False)
    assert switch.is_off("project:/a")
    assert not switch.is_off("project:/b")


def test_a_damaged_switch_is_off(tmp_path: Path) -> None:
    (tmp_path / "off.json").write_text("{")
    switch = MemorySwitch(tmp_path / "off.json")
    assert switch.is_off("project:/a")
    with pytest.raises(StoreError, match="mend it"):
        switch.set_off("project:/a", off=False)
