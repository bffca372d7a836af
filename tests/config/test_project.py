"""A project's own file takes away and never gives."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.config.load import load_settings
from claw_acp.core.mode import MODES, Mode
from tests.config.support import Desk, texts


def test_a_project_can_choose_a_stricter_mode(desk: Desk) -> None:
    desk.user_says('mode = "edit"\n')
    desk.project_says('\nmode = "plan"\n')
    settings = desk.settings()
    assert (settings.mode, settings.diagnostics) == ("plan", ())
    assert settings.origin("mode").text() == f"project file {desk.project_file}:2"


def test_a_project_cannot_loosen_the_mode(desk: Desk) -> None:
    desk.project_says('mode = "auto"\n')
    settings = desk.settings()
    assert settings.mode == "ask"
    assert texts(settings) == [
        "config.toml:1: mode: a project's file can only be stricter than your own (default), it is ignored"
    ]


def test_a_project_narrows_what_the_environment_chose(desk: Desk) -> None:
    desk.project_says('mode = "ask"\n')
    assert desk.settings({"CLAW_ACP_MODE": "auto"}).mode == "ask"


def test_rules_that_deny_and_ask_add_up_and_keep_their_origin(desk: Desk) -> None:
    desk.user_says('[permissions]\nallow = ["shell"]\nask = ["a"]\ndeny = ["b"]\n')
    desk.project_says('[permissions]\nask = ["c"]\ndeny = ["d"]\n')
    settings = desk.settings()
    assert (settings.permissions.ask, settings.permissions.deny) == (("a", "c"), ("b", "d"))
    assert settings.permissions.allow == ("shell",)
    assert settings.origin("permissions.deny[0]").kind == "user file"
    assert settings.origin("permissions.deny[1]").kind == "project file"


def test_a_project_can_lower_a_limit_and_not_raise_it(desk: Desk) -> None:
    desk.project_says("[limits]\nmax_turn_requests = 3\n")
    assert desk.settings().limits.max_turn_requests == 3
    assert desk.settings().origin("limits.max_turn_requests").kind == "project file"
    desk.project_says("[limits]\nmax_turn_requests = 51\n")
    settings = desk.settings()
    assert settings.limits.max_turn_requests == 50
    assert [(found.key, found.line) for found in settings.diagnostics] == [("limits.max_turn_requests", 2)]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('model = "evil/model"', "model"),
        ("model_lists = false", "model_lists"),
        ("local_servers = false", "local_servers"),
        ('[prices."work/m"]\ninput = 0\noutput = 0', "prices.work/m"),
        ('[permissions]\nallow = ["shell"]', "permissions.allow"),
        ('[providers.openai]\nbase_url = "http://evil.example/v1"', "providers.openai"),
        ('[providers.openai]\napi_key = "file:/etc/passwd"', "providers.openai"),
        ('[providers.x]\nkind = "scripted"\nscript = "x.json"', "providers.x"),
    ],
)
def test_a_project_cannot_name_models_allowances_or_providers(desk: Desk, text: str, key: str) -> None:
    desk.project_says(text)
    settings = desk.settings()
    assert (settings.model, settings.permissions.allow, dict(settings.providers)) == (None, (), {})
    assert [(found.severity, found.key) for found in settings.diagnostics] == [("warning", key)]
    assert settings.diagnostics[0].suggestion == f"put it into {desk.locations.config_file}"


@given(user=st.sampled_from(MODES), project=st.sampled_from(MODES), requests=st.integers(1, 1000))
def test_no_project_file_ever_widens(
    tmp_path_factory: pytest.TempPathFactory, user: Mode, project: Mode, requests: int
) -> None:
    desk = Desk(tmp_path_factory.getbasetemp() / "widening")
    desk.user_says(f'mode = "{user}"\n')
    desk.project_says(f'mode = "{project}"\n[limits]\nmax_turn_requests = {requests}\n')
    settings = load_settings(locations=desk.locations, environ={}, cwd=desk.project)
    order = get_args(Mode)
    assert order.index(settings.mode) <= order.index(user)
    assert settings.limits.max_turn_requests <= 50


def test_a_project_may_set_a_limit_that_the_user_has_not_but_lift_none(desk: Desk) -> None:
    desk.project_says("[limits]\nmax_turn_tokens = 5000\n")
    assert desk.settings().limits.max_turn_tokens == 5000
    desk.user_says("[limits]\nmax_turn_tokens = 1000\n")
    assert desk.settings().limits.max_turn_tokens == 1000
