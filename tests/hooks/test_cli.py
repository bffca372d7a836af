"""`claw-acp hooks` in a folder with hooks of a person and of a project."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main
from tests.hooks.test_command_hooks import hook, write_hooks


@pytest.fixture
def here(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAW_ACP_HOME", str(home / "claw"))
    return home


def test_hooks_are_listed_with_their_place_and_trust_and_odd_ones_named(
    here: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = {"Stop": [{"hooks": [{"type": "http", "url": "http://x"}]}], "PreToolUze": hook("true")}
    write_hooks(here, {"PreToolUse": hook("echo mine", "Bash"), **odd})
    write_hooks(project, {"PostToolUse": hook("echo theirs", "Edit")})
    assert main(["hooks", "list"]) == 0
    printed = capsys.readouterr()
    assert [line.split()[-1] for line in printed.out.splitlines()] == ["STATE", "yours", "trust"]
    assert "only commands are supported" in printed.err
    assert "do you mean PreToolUse?" in printed.err


@pytest.mark.parametrize(
    ("command", "shown", "code"),
    [("echo no >&2; exit 2", "cancel: no", 0), ("true", "goes on", 0), ("exit 3", "failed: exit code 3", 1)],
)
def test_a_hook_is_tried_with_a_made_up_call(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, shown: str, code: int
) -> None:
    write_hooks(here, {"PreToolUse": hook(command, "Bash")})
    assert main(["hooks", "test", "PreToolUse", "--tool", "Bash", "--input", '{"command": "ls"}']) == code
    assert shown in capsys.readouterr().out
