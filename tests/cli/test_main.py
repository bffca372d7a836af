"""The table of commands."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from claw_acp.cli import guide
from claw_acp.cli.main import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_in_the_table_exists_and_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = COMMANDS[name].run.load()
    with pytest.raises(SystemExit) as ended:
        command(["--help"])
    assert ended.value.code == 0
    assert f"claw-acp {name}" in capsys.readouterr().out


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(f"  {name} " in text and command.summary in text for name, command in COMMANDS.items())


@pytest.mark.parametrize("arguments", [["xyzzy"], [], [""]])
def test_without_a_command_that_exists_the_usage_is_wrong(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert "--help" in printed.out + printed.err


def test_an_error_for_people_is_one_line_and_exit_code_1(
    capsys: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAW_ACP_HOME", str(tmp_path))
    assert main(["sessions", "show", "ses_nothere"]) == 1
    assert capsys.readouterr().err == (
        'claw-acp sessions: there is no session "ses_nothere"; `claw-acp sessions list` shows them\n'
    )


def test_the_table_imports_nothing_heavy() -> None:
    heavy = ("anyio", "asyncio", "pydantic", "httpx", "aiosqlite")
    source = f"import sys, claw_acp.cli.main; print([name for name in {heavy} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=30, check=True)
    assert answer.stdout == "[]\n"


def test_the_guide_names_a_command_that_works_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "with space" / "claw-acp"
    script.parent.mkdir()
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    assert guide.own_command("with space/claw-acp") == (str(script),)
    assert guide.own_command("claw_acp/__main__.py") == (sys.executable, "-m", "claw_acp")


def test_the_guide_says_that_an_editor_starts_this_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["claw_acp/__main__.py"])
    assert guide.main() == 0
    text = capsys.readouterr().out
    assert "started by an editor" in text
    assert "claw-acp demo" in text
    settings = json.loads(text[text.index("{", text.index("agent_servers")) : text.rindex("}") + 1])
    server = settings["claw-acp"]
    done = subprocess.run(
        [server["command"], *server["args"], "--version"], capture_output=True, text=True, cwd="/", check=True
    )
    assert done.stdout.startswith("claw-acp ")
    assert max(map(len, text.splitlines())) <= 120
