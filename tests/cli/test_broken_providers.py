"""Providers that cannot work, and what each command says of them before anything is run."""

import json
from pathlib import Path

import pytest

from claw_acp.cli.config import show
from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.doctor import command
from claw_acp.cli.main import main
from claw_acp.cli.providers import listing
from claw_acp.providers.registry.wire_families import OURS, families
from tests.cli.support import claw

Capture = pytest.CaptureFixture[str]


def configured(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)


def program(name: str, command: object, *lines: str) -> str:
    return "\n".join([f"[providers.{name}]", 'kind = "binary"', f"command = {json.dumps(str(command))}", *lines, ""])


@pytest.fixture
def broken(home: Path, tmp_path: Path) -> Path:
    (tmp_path / "plain.py").write_text("#!/bin/sh\n")
    parts = [
        program("args", "sh", 'args = "-f /x"'),
        program("gone", "/opt/nope/provider"),
        program("stranger", "no-such-program-here"),
        program("locked", tmp_path / "plain.py"),
        program("lost", "sh", 'cwd = "/opt/nope"'),
        program("elsewhere", "sh", 'env = { PATH = "/opt/nope" }'),
        program("kind", "sh").replace("binary", "binari"),
        '[providers.play]\nkind = "scripted"\nscript = "/opt/nope.json"\n',
        "[providers.empty]\nenv = 3\n",
        program("fine", "sh"),
    ]
    configured(home, "".join(parts))
    return home


WORDS = {
    "args": "args in [providers.args] is wrong: must be a list of texts",
    "gone": "there is no file /opt/nope/provider",
    "stranger": "there is no program no-such-program-here on the PATH",
    "locked": "is not executable; run chmod +x",
    "lost": "there is no directory /opt/nope",
    "elsewhere": "there is no program sh on the PATH",
    "kind": 'unknown kind "binari"; did you mean "binary"?',
    "play": "there is no file /opt/nope.json",
    "empty": "env in [providers.empty] is wrong",
}


def test_the_list_is_ready_only_with_what_can_be_started(broken: Path, capsys: Capture) -> None:
    listing.main(["list", "--json"])
    states = {state["name"]: state for state in json.loads(capsys.readouterr().out)["providers"]}
    assert states["fine"]["ready"]
    for name, words in WORDS.items():
        assert not states[name]["ready"], name
        assert words in states[name]["problem"]


def test_the_list_for_people_begins_with_what_is_wrong(broken: Path, capsys: Capture) -> None:
    listing.main(["list", "args"])
    assert "args is wrong: must be a list of texts" in capsys.readouterr().out


def test_doctor_warns_of_each(broken: Path) -> None:
    checks = {check.subject: check for check in command.examine(settings_here(), locations=locations_here())}
    assert checks["provider fine"].level == "ok"
    for name, words in WORDS.items():
        assert checks[f"provider {name}"].level == "warn"
        assert words in checks[f"provider {name}"].detail


def test_what_is_wrong_in_the_table_is_said_with_file_and_line(broken: Path, capsys: Capture) -> None:
    assert main(["providers", "test", "args", "--json"]) == 1
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert (check["subject"], check["level"]) == ("program", "fail")
    assert f"({broken / 'config.toml'}:4)" in check["detail"]


def test_config_show_has_a_finding_for_an_unknown_kind(broken: Path, capsys: Capture) -> None:
    show.main(["show", "--json"])
    findings = {finding["key"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    finding = findings["providers.kind.kind"]
    assert (finding["file"], finding["suggestion"]) == (str(broken / "config.toml"), 'did you mean "binary"?')
    assert (broken / "config.toml").read_text().splitlines()[finding["line"] - 1] == 'kind = "binari"'


def test_every_wire_family_of_ours_is_known_without_looking() -> None:
    assert families().keys() >= OURS
    assert {name for name, reference in families().items() if reference.text.startswith("claw_acp.")} == OURS


def tried(home: Path, *arguments: str) -> dict[str, dict[str, str]]:
    done = claw(*arguments, "--json", home=home, environ={"CLAW_ACP_HOME": str(home)})
    assert done.returncode == 1, done
    return {check["subject"]: check for check in json.loads(done.stdout)["checks"]}


def test_a_program_that_cannot_be_started_gets_no_advice_about_the_network(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("#!/opt/nope/python\n")
    script.chmod(0o700)
    configured(home, program("mine", script))
    check = tried(home, "providers", "test", "mine")["started"]
    assert "#!/usr/bin/env" in check["advice"]
    assert "network" not in check["advice"]


def test_a_program_that_is_too_slow_is_given_more_time_or_looked_at(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "slow"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o700)
    configured(home, program("mine", script, "timeout = 0.2", 'protocol = "oneshot"'))
    check = tried(home, "providers", "test", "mine")["answer"]
    assert check["advice"] == "raise timeout in [providers.mine], or look at the program's own messages"


def test_a_program_that_fails_is_not_taken_for_a_service(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "bad"
    script.write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    script.chmod(0o700)
    configured(home, program("mine", script, 'protocol = "oneshot"'))
    assert "the program's own messages" in tried(home, "providers", "test", "mine")["answer"]["advice"]
