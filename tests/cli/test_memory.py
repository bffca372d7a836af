"""`claw-acp memory`: what agents remember, shown and changed."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main
from claw_acp.memory.namespaces import project_namespace

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def notes(home: Path, tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "MEMORY.md").write_text(
        f"## {project_namespace(Path.cwd())}\n- **deploy**: Deploys run on\x1b[2J Fridays.\n"
        "## project:/elsewhere\n- **deploy**: Never.\n## user\n- **tone**: Be brief.\n"
    )
    return place


def test_memories_are_imported_listed_shown_edited_and_forgotten(notes: Path, capsys: Capture) -> None:
    assert main(["memory", "import", str(notes)]) == 0
    assert main(["memory", "list"]) == 0
    out = capsys.readouterr().out
    assert "3 new" in out
    assert "Deploys run on[2J Fridays." in out
    assert "Be brief." in out
    assert "Never." not in out
    assert main(["memory", "edit", "deploy", "Deploys run on Mondays."]) == 0
    assert main(["memory", "show", "deploy"]) == 0
    assert "Deploys run on Mondays." in capsys.readouterr().out
    assert main(["memory", "forget", "tone"]) == 0
    assert main(["memory", "forget", "tone"]) == 1
    assert "there is no memory tone here; `claw-acp memory list` shows those" in capsys.readouterr().err
    assert main(["memory", "list", "--all"]) == 0
    assert "2 in all." in capsys.readouterr().out
    assert main(["memory", "export", str(notes)]) == 0
    assert "Mondays" in (notes / "MEMORY.md").read_text()


@pytest.mark.usefixtures("home")
def test_memory_is_switched_off_and_on_for_a_project(capsys: Capture) -> None:
    assert main(["memory", "off"]) == 0
    assert main(["memory", "list"]) == 0
    assert "Memory is off in this project" in capsys.readouterr().out
    assert main(["memory", "on"]) == 0
    assert main(["memory", "list"]) == 0
    assert "Memory is off" not in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_an_unknown_backend_is_said_with_those_that_are_there(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAW_ACP_HOME", str(tmp_path))
    (tmp_path / "config.toml").write_text('[memory]\nbackend = "sqlit"\n')
    assert main(["memory", "list"]) == 1
    assert 'did you mean "sqlite"?' in capsys.readouterr().err


@pytest.mark.usefixtures("home")
def test_a_missing_file_is_an_error_for_people(capsys: Capture) -> None:
    assert main(["memory", "import", "nowhere"]) == 1
    assert "nowhere: No such file" in capsys.readouterr().err
