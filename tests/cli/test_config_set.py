"""Changing settings from the command line."""

import tomllib
from pathlib import Path

import pytest

from claw_acp.cli.config import show
from claw_acp.config.edit import key_path
from claw_acp.core.errors import ConfigError

Capture = pytest.CaptureFixture[str]

MINE = """\
# my settings
mode = "edit"   # quick

[limits]
max_turn_requests = 10  # few
[providers.work]
kind = "openai"  # local
"""


@pytest.fixture
def file(home: Path) -> Path:
    path = home / "config.toml"
    path.write_text(MINE)
    return path


def change(*words: str) -> int:
    return show.main(["set", *words])


@pytest.mark.parametrize(
    ("words", "said", "written"),
    [
        (("mode", "plan"), 'mode: "edit" -> "plan"', 'mode = "plan"   # quick'),
        (("limits.max_turn_requests", "20"), "limits.max_turn_requests: 10 -> 20", "max_turn_requests = 20  # few"),
        (("model_lists", "false"), "model_lists: true -> false", "model_lists = false"),
        (("model", "work/5"), 'model: not set -> "work/5"', 'model = "work/5"'),
        (("model", "5"), 'model: not set -> "5"', 'model = "5"'),
        (("budget.daily", "3"), "budget.daily: not set -> 3.0", "[budget]\ndaily = 3"),
        (("permissions.deny", '["read(x)"]'), 'permissions.deny[0]: not set -> "read(x)"', 'deny = ["read(x)"]'),
        (("providers.work.api_key", "sk-hush"), 'providers.work.api_key: not set -> "•••"', 'api_key = "sk-hush"'),
        (("providers.a.b.kind", "openai"), "providers.a.b.kind: not set", '[providers."a.b"]\nkind = "openai"'),
        (("mode", "edit"), "nothing changed", 'mode = "edit"   # quick'),
    ],
)
def test_a_value_is_written_and_all_else_stays(
    file: Path, capsys: Capture, words: tuple[str, ...], said: str, written: str
) -> None:
    assert change(*words) == 0
    assert said in capsys.readouterr().out
    text = file.read_text()
    assert written in text
    assert all(comment in text for comment in ("# my settings", "# quick", "# few", "# local"))


def test_values_that_need_each_other_are_set_together(file: Path) -> None:
    with pytest.raises(ConfigError, match="output: is missing; nothing was changed"):
        change("prices.work/m.input", "1")
    assert change("prices.work/m.input", "1", 'prices."work/m".output', "2") == 0
    assert tomllib.loads(file.read_text())["prices"] == {"work/m": {"input": 1, "output": 2}}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("modle", "x"), 'modle: unknown key; did you mean "model"?; nothing was changed'),
        (("mode", "fast"), "mode: must be one of plan, ask, edit, auto"),
        (("limits.max_turn_requests", "many"), "must be a whole number"),
        (("mode", "plan", "model_lists", "off"), "model_lists: must be true or false"),
        (("mode.x", "1"), "has something else there"),
        (("", "1"), "is no key"),
        (("limits.", "1"), "is no key"),
        (('"', "1"), "is no key"),
    ],
)
def test_what_is_wrong_is_said_and_not_written(file: Path, words: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        change(*words)
    assert problem in refused.value.message
    assert file.read_text() == MINE


def test_a_file_that_is_broken_is_left_to_its_owner(file: Path) -> None:
    file.write_text("mode = \n")
    with pytest.raises(ConfigError, match=r"config\.toml:1:8: not TOML"):
        change("mode", "plan")
    assert file.read_text() == "mode = \n"


def test_an_older_mistake_elsewhere_does_not_keep_anybody_from_changes(file: Path) -> None:
    file.write_text(f"{MINE}temprature = 1\n")
    assert change("mode", "plan") == 0


def test_the_first_value_makes_the_file_for_its_owner_alone(home: Path) -> None:
    assert change("mode", "plan") == 0
    file = home / "config.toml"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ('mode = "plan"\n', 0o600)


def test_a_link_to_the_file_stays_a_link(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(MINE)
    (home / "config.toml").symlink_to(real)
    assert change("mode", "plan") == 0
    assert (home / "config.toml").is_symlink()
    assert 'mode = "plan"' in real.read_text()


def test_what_decides_instead_is_named(file: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAW_ACP_MODE", "ask")
    assert change("mode", "auto") == 0
    assert 'note: mode is "ask" here, by environment variable CLAW_ACP_MODE' in capsys.readouterr().out


def test_a_key_without_a_value_is_wrong_usage(file: Path) -> None:
    assert change("mode") == 2
    assert file.read_text() == MINE


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("mode", ("mode",)),
        ("providers.work.options.effort", ("providers", "work", "options", "effort")),
        ("providers.a.b.options.effort", ("providers", "a.b", "options", "effort")),
        ("providers.work.headers.X-A", ("providers", "work", "headers", "X-A")),
        ("routes.a.b", ("routes", "a.b")),
        ("prices.work/qwen2.5.input", ("prices", "work/qwen2.5", "input")),
        ('prices."work/qwen2.5".input', ("prices", "work/qwen2.5", "input")),
    ],
)
def test_names_with_dots_need_no_quotes(key: str, path: tuple[str, ...]) -> None:
    assert key_path(key) == path
