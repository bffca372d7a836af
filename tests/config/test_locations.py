"""Directories."""

import stat
import sys
from pathlib import Path

import pytest
from platformdirs import PlatformDirs

from claw_acp.config.locations import find_locations, private_directory
from claw_acp.core.errors import ConfigError
from tests.support.ordinary_user import ordinary_user


def test_one_variable_replaces_all_four_directories(tmp_path: Path) -> None:
    home = tmp_path / "h"
    places = find_locations({"CLAW_ACP_HOME": str(home)})
    assert (places.config_file, places.database) == (home / "config.toml", home / "claw.db")
    assert (places.permissions_file, places.log_dir) == (home / "permissions.toml", home / "log")
    assert (places.cache_dir, places.lock_dir) == (home / "cache", home / "locks")
    assert not home.exists()


def test_otherwise_the_platform_says_where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": "/srv/data", "XDG_CACHE_HOME": ""}
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, environ[name]) if name in environ else monkeypatch.delenv(name, raising=False)
    dirs, places = PlatformDirs("claw-acp", appauthor=False), find_locations(environ)
    assert (places.config_dir, places.data_dir) == (dirs.user_config_path, dirs.user_data_path)
    assert (places.state_dir, places.cache_dir) == (dirs.user_state_path, dirs.user_cache_path)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_platforms_of_other_customs_are_asked(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert find_locations({}).state_dir.parts[-1] == "claw-acp"


def test_a_relative_directory_of_the_environment_does_not_count(tmp_path: Path) -> None:
    assert find_locations({"HOME": str(tmp_path), "XDG_STATE_HOME": "s"}).state_dir.is_relative_to(tmp_path)


def test_a_relative_home_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_locations({"CLAW_ACP_HOME": "h"}).config_dir == tmp_path / "h"
    assert find_locations({"CLAW_ACP_HOME": "~/h", "HOME": "/home/me"}).config_dir == Path("/home/me/h")


def test_a_directory_and_its_missing_parents_are_private(tmp_path: Path) -> None:
    directory = private_directory(tmp_path / "a" / "b")
    assert private_directory(directory) == directory
    assert [stat.S_IMODE(path.stat().st_mode) for path in (directory.parent, directory)] == [0o700, 0o700]


def test_a_directory_that_cannot_be_made_says_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "x", tmp_path / "file"):
        with pytest.raises(ConfigError, match=r"cannot be created: .*; set CLAW_ACP_HOME to a directory"):
            private_directory(path)


def test_a_directory_nobody_may_write_to_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with ordinary_user(tmp_path), pytest.raises(ConfigError, match="Permission denied"):
        private_directory(tmp_path / "x")
