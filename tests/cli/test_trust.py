"""`claw-acp trust`: what a project wants to say in a person's name."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def fix(home: Path) -> Path:
    path = Path.cwd() / ".claw/commands/fix.md"
    path.parent.mkdir(parents=True)
    path.write_text("Fix it.\u202e\n")
    return path


def test_it_is_shown_whole_trusted_listed_and_revoked(fix: Path, capsys: Capture) -> None:
    assert main(["trust", "--show"]) == 3
    assert "  Fix it.\\u202e" in capsys.readouterr().out
    assert main(["trust", "--yes"]) == 0
    assert main(["trust", "--show"]) == 0
    assert main(["trust", "--list"]) == 0
    assert str(Path.cwd().resolve()) in capsys.readouterr().out
    fix.write_text("Fix all.\n")
    assert main(["trust", "--show"]) == 3
    assert "  +Fix all." in capsys.readouterr().out
    assert main(["trust", "--revoke"]) == 0
    assert main(["trust", "--revoke"]) == 1


@pytest.mark.usefixtures("fix")
def test_without_a_terminal_nothing_is_trusted(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/null").open() as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        assert main(["trust"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert main(["trust", "--show"]) == 3


def test_a_project_without_such_files_needs_no_trust(home: Path, capsys: Capture) -> None:
    (home.parent / "project" / "AGENTS.md").write_text("Be good.")
    assert main(["trust"]) == 0
    assert "has nothing that needs trust" in capsys.readouterr().out
