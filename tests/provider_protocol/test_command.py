"""`claw-acp verify provider`, as it is called and as it prints."""

import json
import sys
from pathlib import Path

import pytest

from claw_acp.cli.main import main
from claw_acp.verify.provider.vectors import VECTORS
from tests.provider_protocol.plugins import PLUGINS
from tests.provider_protocol.test_faults import FAULTY

GOOD = (sys.executable, "-S", "-E", str(PLUGINS / "python" / "plugin.py"))
NAME = "reference-python (session and oneshot)"


def verify(*arguments: str) -> int:
    """The exit code."""
    return main(["verify", "provider", *arguments])


def faulty(name: str) -> tuple[str, ...]:
    return sys.executable, "-E", str(FAULTY), name


def test_a_good_program_is_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--only", "*.chat", "--", *GOOD) == 0
    assert (
        "reference-python (session and oneshot), protocol 1: 2 passed, 0 failed, 0 skipped" in capsys.readouterr().out
    )


def test_checks_of_the_reference_model_are_skipped_unless_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--only", "*.reference-echo", "--", *GOOD) == 0
    assert "2 skipped" in capsys.readouterr().out
    assert verify("--reference", "--only", "*.reference-echo", "--", *GOOD) == 0
    assert "2 passed" in capsys.readouterr().out


def test_a_broken_rule_is_exit_code_1_and_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--only", "session.chat", "--", *faulty("NullContent")) == 1
    printed = capsys.readouterr().out
    assert "FAIL MUST session.chat" in printed
    assert "but   result.content is None and not a string that is not empty" in printed
    assert '<- {"jsonrpc": "2.0", "id": 1, "result": {"content": null' in printed


def test_a_report_can_be_written_as_json(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    assert verify("--only", "oneshot.chat", "--json", str(file), "--", *faulty("LogsAfterTheAnswer")) == 1
    report = json.loads(file.read_text())
    assert (report["ok"], report["provider"], report["counts"]) == (
        False,
        "reference-python (session and oneshot)",
        {"fail": 1},
    )


def test_only_one_mode_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--mode", "oneshot", "--only", "*.chat", "--", *faulty("NullContent")) == 1
    printed = capsys.readouterr().out
    assert "FAIL MUST oneshot.chat" in printed
    assert "session.chat" not in printed


def test_the_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--list") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [vector.id for vector in VECTORS]


def test_a_program_that_cannot_be_started_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify("--", "/no/such") == 2
    assert "/no/such cannot be started: No such file or directory" in capsys.readouterr().err


def test_a_program_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert verify() == 2
    assert "claw-acp verify provider -- ./my-provider" in capsys.readouterr().err
