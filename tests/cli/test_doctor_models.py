"""What `doctor` says of a model that its service no longer has, as a prompt would find it."""

from pathlib import Path

import pytest

from claw_acp.cli.doctor.command import model_check
from claw_acp.config.load import load_settings
from claw_acp.config.locations import find_locations
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.value import replace


@pytest.mark.parametrize(
    ("model", "level", "said"),
    [
        ("anthropic", "ok", "anthropic/claude-sonnet-9"),
        ("anthropic/claude-sonnet-8", "ok", "anthropic/claude-sonnet-8"),
        ("anthropic/claude-opus-4-1", "warn", "anthropic/claude-opus-9 answers in its place"),
        ("anthropic/clod-opus", "warn", "anthropic lists no such model"),
        ("anthropic/claude-opus-9", "warn", "will be retired by anthropic"),
    ],
)
def test_doctor_says_what_a_prompt_would_find(model: str, level: str, said: str, tmp_path: Path) -> None:
    environ = {"CLAW_ACP_HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-ant-1", "CLAW_ACP_MODEL": model}
    settings = load_settings(locations=find_locations(environ), environ=environ, cwd=None)
    listed = (
        ModelInfo(id="claude-sonnet-9"),
        ModelInfo(id="claude-sonnet-8-20990101"),
        ModelInfo(id="claude-opus-9", deprecated=True),
    )
    lists = {("anthropic", "https://api.anthropic.com"): listed}
    check = model_check(replace(settings, discovered=replace(settings.discovered, lists=lists)))
    assert (check.level, said in check.detail) == (level, True), check.detail
