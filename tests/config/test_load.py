"""The user's file and the environment."""

import os
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

from claw_acp.config.environment import variables
from claw_acp.config.fields import hints_of, plain_type
from claw_acp.config.load import load_settings
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from tests.config.support import Desk, texts

EVERYTHING = """\
model = "work/qwen3-coder"
mode = "edit"

[providers.anthropic]
api_key = "env:MY_KEY"

[providers.work]
kind = "openai"
base_url = "http://127.0.0.1:8080/v1/"
models = ["qwen3-coder", "small"]
timeout = 12

[providers.work.options]
max_tokens = 16000
temperature = 0.5
top_p = 1
stop = ["END"]
effort = "low"

[permissions]
allow = ["shell(git status*)"]
ask = ["fetch"]
deny = ["read(**/.env)"]

[limits]
max_turn_requests = 7
"""


def test_without_any_file_the_defaults_apply(desk: Desk) -> None:
    settings = desk.settings()
    assert (settings.model, settings.mode, settings.diagnostics) == (None, "ask", ())
    assert settings.limits.max_turn_requests == 50
    assert (settings.log_level, settings.trace) == ("warning", None)
    assert settings.origin("mode").text() == "default"


def test_what_checks_files_is_not_loaded_while_there_are_none(tmp_path: Path) -> None:
    code = """
from pathlib import Path
import sys
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
root = Path(sys.argv[1])
def load():
    return load_settings(locations=find_locations({"CLAW_ACP_HOME": str(root)}), environ={}, cwd=root)
assert load().mode == "ask" and "pydantic" not in sys.modules
(root / "config.toml").write_text('mode = "plan"')
assert load().mode == "plan" and "pydantic" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


def test_every_key_of_the_user_file_applies(desk: Desk) -> None:
    desk.user_says(EVERYTHING)
    settings = desk.settings()
    work = settings.providers["work"]
    assert settings.diagnostics == ()
    assert (settings.model, settings.mode) == ("work/qwen3-coder", "edit")
    assert list(settings.providers) == ["anthropic", "work"]
    assert (work.kind, work.base_url, work.models, work.timeout) == (
        "openai",
        "http://127.0.0.1:8080/v1",
        ("qwen3-coder", "small"),
        12.0,
    )
    assert (work.options.max_tokens, work.options.temperature, work.options.top_p) == (16000, 0.5, 1.0)
    assert (work.options.stop, work.options.effort) == (("END",), "low")
    assert settings.permissions.allow == ("shell(git status*)",)
    assert (settings.permissions.ask, settings.permissions.deny) == (("fetch",), ("read(**/.env)",))
    assert settings.limits.max_turn_requests == 7


def test_every_value_knows_the_line_it_came_from(desk: Desk) -> None:
    desk.user_says(EVERYTHING)
    settings = desk.settings()
    file = desk.locations.config_file
    assert settings.origin("mode").text() == f"user file {file}:2"
    assert settings.origin("providers.work.options.max_tokens").place == f"{file}:14"
    assert settings.origin("permissions.deny[0]").place == f"{file}:23"
    assert settings.origin("limits.max_turn_requests").place == f"{file}:26"


@pytest.mark.parametrize(("name", "field"), [(variable.name, field) for field, variable in variables().items()])
def test_each_word_that_a_variable_takes_is_what_the_file_would_hold(desk: Desk, name: str, field: str) -> None:
    section, _, key = field.rpartition(".")
    holder: object = getattr(Settings(), section) if section else Settings()
    kind = plain_type(hints_of(type(holder))[key])
    words = {word: word for word in get_args(kind)} if get_origin(kind) is Literal else {}
    for word, value in ({"on": True, "off": False} if kind is bool else words).items():
        assert attrgetter(field)(desk.settings({name: word})) == value


def test_the_environment_overrides_the_user_file_and_says_so(desk: Desk) -> None:
    desk.user_says('model = "a/b"\nmode = "plan"\n')
    settings = desk.settings(
        {"CLAW_ACP_MODEL": "c/d", "CLAW_ACP_MODE": "auto", "CLAW_ACP_LOG": "DEBUG", "CLAW_ACP_TRACE": "/tmp/frames"}
    )
    assert (settings.model, settings.mode, settings.log_level) == ("c/d", "auto", "debug")
    assert settings.trace == Path("/tmp/frames")
    assert settings.origin("mode").text() == "environment variable CLAW_ACP_MODE"


def test_an_empty_variable_counts_as_not_set(desk: Desk) -> None:
    desk.user_says('mode = "plan"\n')
    settings = desk.settings({"CLAW_ACP_MODE": "", "CLAW_ACP_MODEL": " ", "CLAW_ACP_TRACE": ""})
    assert (settings.model, settings.mode, settings.trace, settings.diagnostics) == (None, "plan", None, ())


def test_a_wrong_variable_is_reported_and_ignored(desk: Desk) -> None:
    settings = desk.settings({"CLAW_ACP_MODE": "edti", "CLAW_ACP_LOG": "7"})
    assert (settings.mode, settings.log_level) == ("ask", "warning")
    assert texts(settings) == [
        'CLAW_ACP_MODE: must be one of plan, ask, edit, auto; it is ignored; did you mean "edit"?',
        "CLAW_ACP_LOG: must be one of debug, info, warning, error, critical; it is ignored",
    ]


def test_relative_paths_are_taken_from_the_directory_of_the_file(desk: Desk) -> None:
    desk.user_says('[providers.play]\nkind = "scripted"\nscript = "plays/one.json"\napi_key = "file:~/key"\n')
    play = desk.settings({"HOME": "/home/me"}).providers["play"]
    assert play.script == desk.locations.config_dir / "plays" / "one.json"
    assert play.api_key is not None
    assert play.api_key.describe() == "file:/home/me/key"


def test_no_project_file_is_looked_for_without_a_project(desk: Desk) -> None:
    desk.project_says('mode = "plan"\n')
    settings = load_settings(locations=desk.locations, environ={}, cwd=None)
    assert settings.mode == "ask"


def test_printing_settings_shows_neither_keys_nor_the_environment(desk: Desk) -> None:
    desk.user_says('[providers.openai]\napi_key = "sk-hush"\n')
    settings = desk.settings({"OPENAI_API_KEY": "sk-hush"})
    assert "hush" not in repr(settings)
    assert "Secret(•••)" in repr(settings)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_place_of_a_file_does_not_hold_the_program(desk: Desk) -> None:
    desk.project_file.parent.mkdir(parents=True)
    os.mkfifo(desk.project_file)
    assert texts(desk.settings()) == ["config.toml: cannot be read (it is not an ordinary file); it is ignored"]


def test_a_directory_in_the_place_of_a_file_is_reported(desk: Desk) -> None:
    desk.project_file.mkdir(parents=True)
    assert texts(desk.settings()) == ["config.toml: cannot be read (it is not an ordinary file); it is ignored"]


def test_a_key_reference_is_read_only_when_it_is_resolved(desk: Desk, tmp_path: Path) -> None:
    desk.user_says('[providers.a]\napi_key = "env:A"\n[providers.b]\napi_key = "file:../key"\n')
    providers = desk.settings().providers
    a, b = providers["a"].api_key, providers["b"].api_key
    assert a is not None
    assert b is not None
    (tmp_path / "key").write_text(" from-file\n")
    assert a.resolve({"A": "from-variable"}).reveal() == "from-variable"
    assert b.resolve({}).reveal() == "from-file"
    with pytest.raises(ConfigError, match="environment variable A named by api_key is not set"):
        a.resolve({})
    (tmp_path / "key").write_text(" \n")
    with pytest.raises(ConfigError, match=r"key file .* is empty"):
        b.resolve({})
    (tmp_path / "key").unlink()
    with pytest.raises(ConfigError, match=r"key file .* cannot be read: No such file"):
        b.resolve({})
