"""What the command line says of routes, rules and further keys."""

from pathlib import Path

from claw_acp.cli.config.show import effective_values
from claw_acp.cli.doctor.command import route_checks
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.config.settings import Settings

CONFIG = """
vision_model = "nobody/x"
[providers.work]
kind = "openai"
base_url = "http://127.0.0.1:9/v1"
api_keys = ["sk-hush-one", "env:KEY_TWO"]
[routes]
good = "offline/assistant"
closed = "anthropic/claude-sonnet-4-5"
[[rules]]
route = "good"
keywords = ["x"]
"""


def configured(home: Path) -> Settings:
    (home / "config.toml").write_text(CONFIG)
    return load_settings(locations=find_locations({"CLAW_ACP_HOME": str(home)}), environ={}, cwd=None)


def test_doctor_names_what_leads_nowhere(tmp_path: Path) -> None:
    checks = {check.subject: check.detail for check in route_checks(configured(tmp_path))}
    assert set(checks) == {"hint:closed", "nobody/x"}
    assert "no key" in checks["hint:closed"]


def test_config_show_has_routes_and_rules_and_hides_keys(tmp_path: Path) -> None:
    settings = configured(tmp_path)
    values = dict(effective_values(settings))
    assert values["routes.good"] == "offline/assistant"
    assert values["rules[0].keywords"] == ["x"]
    assert values["vision_model"] == "nobody/x"
    assert values["providers.work.api_keys"] == ["•••", "env:KEY_TWO"]
    assert settings.origin("routes.good").place.endswith("config.toml:8")
