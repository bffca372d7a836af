"""`claw-acp verify agent`, as it is called and as it prints."""

import json
from pathlib import Path

import pytest

from claw_acp.cli.main import main
from claw_acp.verify import own_agent
from claw_acp.verify.run import rules
from tests.support.program.forked_process import forked_python
from tests.verify.checker import ROOT, faulty, minimal

SHORT = ("--only", "initialize.agent-info", "--only", "initialize.version-0", "--only", "initialize.version-65535")


@pytest.fixture(autouse=True)
def _agents_find_their_package(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def verify(*arguments: str) -> int:
    """The exit code."""
    return main(["verify", "agent", *arguments])


@pytest.mark.timeout(180)
@pytest.mark.parametrize("protocol", [1, 2])
def test_our_own_agent_breaks_no_rule(protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_agent, "COMMAND", (forked_python(), "-m", "claw_acp"))
    file = tmp_path / "report.json"
    code = verify("--strict", "--protocol", str(protocol), "--json", str(file))
    report = json.loads(file.read_text())
    assert {rule["id"]: rule.get("reason") for rule in report["rules"] if rule["outcome"] == "fail"} == {}
    assert code == 0
    assert report["ok"] is True
    not_tried = {rule["id"] for rule in report["rules"] if rule["outcome"] == "not tried"}
    assert not_tried <= {"auth.required-has-a-way", "client.questions-only-if-offered"}


@pytest.mark.spawned
@pytest.mark.parametrize("protocol", [1, 2])
def test_our_own_agent_starts_and_ends_as_it_should(protocol: int) -> None:
    ends = ("shutdown.at-the-end-of-input", "shutdown.mid-turn", "shutdown.no-orphans")
    only = [word for rule in ("initialize.answers", *ends) for word in ("--only", rule)]
    assert verify("--strict", "--protocol", str(protocol), *only) == 0


def test_a_broken_must_is_exit_code_1_and_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(*SHORT, "--", *faulty("EchoesVersion")) == 1
    printed = capsys.readouterr().out
    assert "fail  MUST    initialize.version-65535  version 65535 was echoed, which does not exist" in printed
    assert "FAIL MUST initialize.version-65535\n  rule  A version that the agent does not speak" in printed
    assert '-> {"jsonrpc": "2.0", "id": 1, "method": "initialize"' in printed
    assert '<- {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 65535' in printed
    assert printed.endswith("minimal 1.0, protocol 1: 1 passed, 2 failed (1 MUST, 1 SHOULD), 0 skipped, 0 not tried\n")


def test_a_broken_should_counts_only_when_asked_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(*SHORT, "--", *faulty("Anonymous")) == 0
    assert "FAIL SHOULD initialize.agent-info" in capsys.readouterr().out
    assert verify(*SHORT, "--strict", "--", *faulty("Anonymous")) == 1


def test_verbose_shows_all_that_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    verify("--only", "cancel.nothing-to-cancel", "--only", "session.opens", "-v", "--", *faulty("Anonymous"))
    assert "all that was said" not in capsys.readouterr().out
    verify("--only", "initialize.agent-info", "-v", "--", *faulty("Anonymous"))
    assert "  all frames:\n" in capsys.readouterr().out


def test_a_program_that_cannot_be_started_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--", "/no/such/agent") == 2
    assert capsys.readouterr().err == "claw-acp verify: /no/such/agent cannot be started: No such file or directory\n"


@pytest.mark.parametrize("wrong", [["--timeout", "0"], ["--env", "NAME"], ["--protocol", "3"], ["--nonsense"]])
def test_wrong_options_are_exit_code_2(wrong: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        verify(*wrong)
    assert ended.value.code == 2


def test_the_list_has_every_rule_with_its_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--list") == 0
    printed = capsys.readouterr().out
    assert all(f"({rule.source})" in printed and rule.text in printed for rule in rules())


def test_the_report_can_be_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(*SHORT, "--json", "-", "--", *minimal()) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"] == {"pass": 3}
    assert [rule["id"] for rule in report["rules"]] == [
        "initialize.version-65535", "initialize.version-0", "initialize.agent-info",
    ]  # fmt: skip
    assert report["rules"][0]["cases"] == [16]


def test_the_agent_gets_a_home_of_its_own_and_what_env_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = f'echo "$HOME|$CLAW_ACP_HOME|$MORE|$PWD" > {tmp_path}/seen; exec "$@"'
    monkeypatch.setenv("HOME", "/home/of-the-user")
    monkeypatch.setenv("CLAW_ACP_HOME", "/home/of-the-user/claw")
    command = ["/bin/sh", "-c", script, "sh", *minimal()]
    assert verify(*SHORT, "--env", "MORE=a=b", "--", *command) == 0
    home, claw_home, more, where = (tmp_path / "seen").read_text().strip().split("|")
    assert Path(home).name == "home"
    assert "of-the-user" not in home
    assert (claw_home, more, where) == ("", "a=b", str(Path.cwd()))
    assert not Path(home).exists()


def test_the_users_home_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert verify(*SHORT, "--keep-home", "--", *minimal()) == 0
    assert (tmp_path / "sessions").exists()
