"""`claw-acp permissions`: rules and decisions for people, and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest

from claw_acp.audit.log import AuditLog
from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.main import main
from claw_acp.core.clock import SYSTEM_CLOCK
from tests.cli.test_run import WRITE, Bench

Capture = pytest.CaptureFixture[str]

SETTINGS = '[sandbox]\nuse = "off"\n[permissions]\nallow = ["shell(git status*)"]\ndeny = ["read(**/.env)"]\n'


@pytest.fixture
def project(home: Path) -> Path:
    """A project with three stored answers, beside one that is gone."""
    here = Path.cwd().resolve()
    (home / "config.toml").write_text(SETTINGS)
    (home / "permissions.toml").write_text(
        f'["{here}"]\nallow = ["shell(npm test)", "fetch(*.example.org)"]\ndeny = ["shell(cd web && rm)"]\n'
        '["/gone"]\nallow = ["read(~/notes/**)", "no rule("]\n'
    )
    return here


def report(capsys: Capture, *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["permissions", *arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def decisions(capsys: Capture, *arguments: str) -> dict[str, str]:
    return {each["mode"]: each["verdict"] for each in report(capsys, "test", *arguments)["decisions"]}


def test_every_rule_is_listed_with_its_place_and_what_it_covers(project: Path, home: Path, capsys: Capture) -> None:
    rows = report(capsys, "list")["rules"]
    assert [(row["number"], row["verdict"], row["covers"], row["source"]) for row in rows] == [
        (1, "deny", "every command that begins with `rm`, in the directory web", str(home / "permissions.toml")),
        (2, "allow", "`npm test`, exactly so, in the project's directory", str(home / "permissions.toml")),
        (3, "allow", "fetching from every host below example.org", str(home / "permissions.toml")),
        (None, "deny", "reading `**/.env`", f"user file {home / 'config.toml'}:5"),
        (None, "allow", "commands that begin with `git status`, with any arguments, in any directory",
         f"user file {home / 'config.toml'}:4"),
    ]  # fmt: skip


def test_answers_of_all_projects_are_listed_even_broken_ones_and_of_those_that_are_gone(
    project: Path, capsys: Capture
) -> None:
    main(["permissions", "list", "--all"])
    shown = capsys.readouterr().out
    assert str(project) in shown
    assert "/gone  (this directory is not there)" in shown
    assert "reading `~/notes/**`" in shown
    assert "nothing: `no rule(` is not a permission rule" in shown


def test_an_answer_is_revoked_by_number_or_text_on_the_record_and_its_moment_was_known(
    project: Path, capsys: Capture
) -> None:
    log = AuditLog(locations_here(), section=settings_here().audit, clock=SYSTEM_CLOCK)
    log.record("rules", {"change": "allow", "project": str(project), "rules": ["shell(npm test)"]})
    log.record("rules", {"change": "described", "project": str(project), "rules": ["fetch(*.example.org)"]})
    assert [bool(row["since"]) for row in report(capsys, "list")["rules"]] == [False, True, False, False, False]
    assert main(["permissions", "revoke", "1", "shell(npm test)"]) == 0
    assert next(row["rule"] for row in report(capsys, "list")["rules"]) == "fetch(*.example.org)"
    main(["audit", "show", "--json"])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["rules"] for line in lines if line["change"] == "removed"] == [
        ["shell(cd web && rm)"],
        ["shell(npm test)"],
    ]


@pytest.mark.parametrize("wanted", ["0", "4", "shell(npm tset)", "shell(git status*)"])
def test_where_one_rule_is_unknown_nothing_is_revoked(wanted: str, project: Path, capsys: Capture) -> None:
    before = report(capsys, "list")
    assert main(["permissions", "revoke", "1", wanted]) == 1
    assert "nothing was removed" in capsys.readouterr().err
    assert report(capsys, "list") == before


@pytest.mark.parametrize(
    ("arguments", "verdicts"),
    [
        (["cat README.md"], "allow allow allow allow"),
        (["npm test"], "deny allow allow allow"),
        (["npm install"], "deny ask ask allow"),
        (["cat ~/.ssh/id_ed25519"], "deny deny deny deny"),
        (["--tool", "write_file", "a.py"], "deny ask allow allow"),
        (["--tool", "edit_file", ".env"], "deny deny deny deny"),
        (["--tool", "apply_patch", ".env"], "deny deny deny deny"),
        (["--tool", "delete_file", "a.py"], "deny ask allow allow"),
        (["--tool", "read_file", "/etc/hosts"], "ask ask ask ask"),
        (["--tool", "fetch", "https://www.example.org/x"], "allow allow allow allow"),
        (["--tool", "schedule", "nightly"], "deny ask ask ask"),
        (["--tool", "files__delete"], "deny ask ask allow"),
    ],
)
@pytest.mark.usefixtures("project")
def test_a_call_is_judged_in_every_mode_as_a_session_would(
    arguments: list[str], verdicts: str, capsys: Capture
) -> None:
    assert " ".join(decisions(capsys, *arguments).values()) == verdicts


@pytest.mark.parametrize(("mode", "code"), [("plan", 4), ("ask", 3), ("auto", 0)])
@pytest.mark.usefixtures("project")
def test_the_exit_code_is_the_decision(mode: str, code: int) -> None:
    assert main(["permissions", "test", "--mode", mode, "touch made"]) == code
    assert not Path("made").exists()


@pytest.mark.usefixtures("project")
def test_the_rule_that_decided_is_named_with_its_line_and_what_always_would_store(home: Path, capsys: Capture) -> None:
    (refused,) = report(capsys, "test", "--mode", "ask", "--tool", "read_file", ".env")["decisions"]
    assert (refused["rule"], refused["source"]) == ("read(**/.env)", f"user file {home / 'config.toml'}:5")
    (asked,) = report(capsys, "test", "--mode", "ask", "npm install left-pad")["decisions"]
    assert (asked["always"], asked["rule"]) == (["shell(npm install left-pad)"], None)


@pytest.mark.usefixtures("project")
def test_what_is_hidden_in_a_command_line_is_written_out(capsys: Capture) -> None:
    main(["permissions", "test", "ls \u202e\u200b x"])
    shown = capsys.readouterr().out
    assert "\\u202e\\u200b" in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize("arguments", [["test"], ["test", "--tool", "nothing", "x"], ["why"]])
@pytest.mark.usefixtures("project")
def test_what_cannot_be_judged_is_an_error(arguments: list[str]) -> None:
    assert main(["permissions", *arguments]) == 1


def test_the_decisions_of_a_session_are_explained_from_what_is_on_record(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)
    with (bench.home / "config.toml").open("a") as file:
        file.write('[permissions]\nallow = ["write(made.txt)"]\ndeny = ["read(secret)"]\n')
    read = {"call": {"name": "read_file", "arguments": {"path": "secret"}}}
    bench.plays([WRITE], [read], [{"text": ["Done."]}])
    bench.run("write it")
    monkeypatch.setenv("CLAW_ACP_HOME", str(bench.home))
    monkeypatch.chdir(bench.project)
    assert main(["permissions", "why"]) == 0
    shown = capsys.readouterr().out
    assert f"The rule `write(made.txt)` of user file {bench.home / 'config.toml'}:7 allows writing" in shown
    assert f"The rule `read(secret)` of user file {bench.home / 'config.toml'}:8 forbids reading" in shown
    calls = report(capsys, "why")
    (one,) = report(capsys, "why", calls["session"], calls["calls"][1]["call"][-6:])["calls"]
    assert (one["tool"], [line["status"] for line in one["lines"]]) == ("read_file", ["not run"])
