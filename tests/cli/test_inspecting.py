"""What the inspecting commands say about configuration, providers and the store."""

import io
import json
from pathlib import Path

import pytest

from claw_acp.cli.config import show
from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.doctor import command
from claw_acp.cli.doctor.check import Check
from claw_acp.cli.main import main
from claw_acp.cli.providers import listing
from claw_acp.cli.terminal.paint import Paint, columns, table

CONFIG = """\
mode = "plan"
limitz = 1
[providers.work]
kind = "openai"
base_url = "http://127.0.0.1:8080/v1"
models = ["qwen"]
[providers.broken]
kind = "scripted"
[permissions]
deny = ["read(**/.env)"]
"""

Capture = pytest.CaptureFixture[str]


def checks() -> dict[str, Check]:
    return {check.subject: check for check in command.examine(settings_here(), locations=locations_here())}


def test_config_show_names_the_origin_of_every_value(home: Path, capsys: Capture) -> None:
    (home / "config.toml").write_text(CONFIG)
    assert show.main(["show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    file = home / "config.toml"
    assert shown["file"] == str(file)
    assert shown["values"]["mode"] == {"value": "plan", "origin": f"user file {file}:1"}
    assert shown["values"]["providers.work.models"] == {"value": ["qwen"], "origin": f"user file {file}:6"}
    assert shown["values"]["permissions.deny[0]"] == {"value": "read(**/.env)", "origin": f"user file {file}:10"}
    assert shown["values"]["limits.max_turn_requests"] == {"value": 50, "origin": "default"}
    assert [(finding["key"], finding["line"], finding["suggestion"]) for finding in shown["findings"]] == [
        ("limitz", 2, 'did you mean "limits"?')
    ]


def test_config_show_for_people_ends_with_the_findings(home: Path, capsys: Capture) -> None:
    (home / "config.toml").write_text(CONFIG)
    show.main(["show"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"# {home / 'config.toml'}"
    assert "mode" in lines[2]
    assert lines[-1] == f'warning: {home / "config.toml"}:2: limitz: unknown key; did you mean "limits"?'


def test_config_show_has_nothing_that_nobody_set(home: Path, capsys: Capture) -> None:
    (home / "config.toml").write_text('[providers.work]\nkind = "openai"\n[mcp.files]\ncommand = "./server"\n')
    show.main(["show", "--json"])
    values = json.loads(capsys.readouterr().out)["values"]
    named = {key: entry["value"] for key, entry in values.items() if key.startswith(("providers.", "mcp."))}
    assert named == {"providers.work.kind": "openai", "mcp.files.command": str(home / "server")}


def test_providers_list_says_who_is_ready_and_what_the_others_lack(
    home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text(CONFIG)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush")
    listing.main(["list", "--json"])
    report = json.loads(capsys.readouterr().out)
    states = {state["name"]: state for state in report["providers"]}
    assert report["chosen"].startswith("openai/gpt-")
    assert [name for name in states if name in {"anthropic", "openai", "work", "broken", "offline"}] == [
        "anthropic",
        "openai",
        "work",
        "broken",
        "offline",
    ]
    assert len(states) > 80
    assert [name for name, state in states.items() if state["ready"]] == [
        "openai",
        "openai-responses",
        "work",
        "offline",
    ]
    assert states["openai"]["key_source"] == "OPENAI_API_KEY"
    assert states["anthropic"]["problem"] == "no key; set ANTHROPIC_API_KEY"
    assert "plays a script" in states["broken"]["problem"]
    listing.main(["list"])
    assert f"a new session uses {report['chosen']}" in capsys.readouterr().out


def test_doctor_fails_a_wrong_value_and_warns_of_an_unknown_key(home: Path, capsys: Capture) -> None:
    (home / "config.toml").write_text("limitz = 1\n")
    assert checks()["config"].level == "warn"
    (home / "config.toml").write_text('mode = "nonsense"\n')
    assert checks()["config"].level == "fail"
    assert command.main([]) == 1
    assert "mode: must be one of plan, ask, edit, auto" in capsys.readouterr().out


def test_doctor_fails_a_rule_that_cannot_be_read(home: Path) -> None:
    (home / "config.toml").write_text('[permissions]\nallow = ["shell(git status*)"]\ndeny = ["shell(git"]\n')
    check = checks()["rule"]
    assert check.level == "fail"
    assert f"user file {home / 'config.toml'}:3" in check.detail


def test_doctor_fails_a_model_that_cannot_be_used(home: Path) -> None:
    (home / "config.toml").write_text('model = "anthropic/claude-opus-4-5"\n')
    check = checks()["model"]
    assert check.level == "fail"
    assert "ANTHROPIC_API_KEY" in check.detail


def test_doctor_warns_of_a_configured_provider_that_is_incomplete(home: Path) -> None:
    (home / "config.toml").write_text(CONFIG)
    found = checks()
    assert (found["provider broken"].level, found["provider work"].level) == ("warn", "ok")


def test_doctor_warns_of_a_home_that_others_can_read(home: Path) -> None:
    home.chmod(0o755)
    check = checks()["config directory"]
    assert check.level == "warn"
    assert check.advice == f"run: chmod 700 '{home}'"


def test_doctor_reads_the_store_and_does_not_make_one(home: Path) -> None:
    assert checks()["sessions"].level == "ok"
    assert not (home / "claw.db").exists()


def test_doctor_fails_a_store_that_is_no_database_and_leaves_it_alone(home: Path) -> None:
    (home / "claw.db").write_bytes(b"these are not the bytes of a database" * 40)
    before = (home / "claw.db").read_bytes()
    check = checks()["sessions"]
    assert check.level == "fail"
    assert check.advice
    assert (home / "claw.db").read_bytes() == before


@pytest.mark.parametrize(
    "command",
    ["doctor", "doctor --json", "config show", "config show --json", "providers list", "providers list --json"],
)
def test_no_command_shows_a_key(command: str, home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.toml").write_text('[providers.anthropic]\napi_key = "sk-ant-hush"\n')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hush")
    assert main(command.split()) == 0
    printed = capsys.readouterr()
    assert "anthropic" in printed.out
    assert "hush" not in printed.out + printed.err


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    assert columns([("a", "bbb", "c"), ("aaa", "b", "")]) == ["a    bbb  c", "aaa  b"]


@pytest.mark.parametrize("width", [None, 200, 60, 40, 10])
def test_a_table_fits_the_terminal_and_loses_no_word(width: int | None) -> None:
    words = "no key; set MOONSHOT_API_KEY or KIMI_API_KEY"
    rows = table([("STATE", "KEY", "MODELS"), ("-", words, "kimi-k3, kimi-k2 and 4 more")], width=width)
    said = " ".join(line for lines in rows for line in lines).split()
    assert set(words.split()) <= set(said) or width == 10
    assert width is None or max(len(line) for lines in rows for line in lines) <= max(width, 33)
    assert [len(lines) for lines in rows] == [1, 1] if width in {None, 200} else len(rows[1]) > 1


def test_providers_list_has_heads_and_whole_reasons(home: Path, capsys: Capture) -> None:
    (home / "config.toml").write_text(
        '[providers.x]\nkind = "openai"\nbase_url = "http://127.0.0.1:9/v1"\nbody = "x"\n'
    )
    listing.main(["list", "x"])
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["STATE", "PROVIDER", "KIND", "KEY", "ADDRESS", "MODELS"]
    (line,) = (line for line in lines if line.split()[1:2] == ["x"])
    assert "is wrong" in line
    assert "until that is corrected" in line
    assert "..." not in line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "painted"),
    [
        ({}, "\x1b[32mx\x1b[0m"),
        ({"NO_COLOR": "1"}, "x"),
        ({"TERM": "dumb"}, "x"),
        ({"NO_COLOR": ""}, "\x1b[32mx\x1b[0m"),
    ],
)
def test_colour_is_for_terminals_that_want_it(environ: dict[str, str], painted: str) -> None:
    assert Paint(Terminal(), environ=environ)("x", "green") == painted
