"""`claw-acp skills` and `claw-acp prompt`."""

from pathlib import Path

import pytest

from claw_acp.cli.main import main

Capture = pytest.CaptureFixture[str]


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def skill(home: Path) -> Path:
    return put(Path(".claude/skills/deploy/SKILL.md"), "---\nname: deploy\ndescription: Use when: live\n---\nPush.\n")


@pytest.mark.usefixtures("skill")
def test_skills_are_listed_with_what_keeps_them_from_being_used_and_shown(capsys: Capture) -> None:
    put(Path(".agents/skills/odd/SKILL.md"), "no head")
    assert main(["skills", "list"]) == 0
    out, err = capsys.readouterr()
    assert "deploy" in out.splitlines()[1]
    assert "not trusted yet" in out.splitlines()[1]
    assert "odd/SKILL.md: it does not begin with a head" in err
    assert main(["skills", "show", "deploy"]) == 0
    assert capsys.readouterr().out.endswith("(not trusted yet)\n\nPush.\n")
    assert main(["skills", "show", "deplo"]) == 1
    assert 'did you mean "deploy"?' in capsys.readouterr().err


@pytest.mark.usefixtures("skill")
def test_trust_in_a_project_includes_its_skills(capsys: Capture) -> None:
    assert main(["trust", "--yes"]) == 0
    assert "skill .claude/skills/deploy/SKILL.md (new)" in capsys.readouterr().out
    assert main(["skills", "list"]) == 0
    assert "not trusted" not in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_a_new_skill_passes_the_check_and_replaces_none(capsys: Capture) -> None:
    assert main(["skills", "new", "ship", "--description", "Use when: it ships"]) == 0
    assert main(["skills", "new", "ship"]) == 1
    assert main(["skills", "new", "Ship it"]) == 1
    assert main(["skills", "new", "mine", "--user"]) == 0
    capsys.readouterr()
    assert main(["skills", "check"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 skills, 0 errors"
    put(Path(".claw/skills/bad/SKILL.md"), "---\nname: bad\n---\nx")
    assert main(["skills", "check"]) == 1
    assert "bad/SKILL.md: it has no description" in capsys.readouterr().out


def test_the_system_prompt_is_shown_with_its_sources_and_sizes(home: Path, capsys: Capture) -> None:
    put(Path("AGENTS.md"), "Use tabs.\x1b[2J\n")
    put(home / "USER.md", "I am Ada.\n")
    assert main(["prompt", "show"]) == 0
    out = capsys.readouterr().out
    assert f"[{home}/USER.md]\n\n# The user's USER.md\n\nI am Ada.\n" in out
    assert "Use tabs.\\x1b[2J" in out
    assert "\n- commit: " in out
    assert main(["prompt", "show", "--sizes"]) == 0
    sizes = capsys.readouterr().out
    assert [line.split()[0].rpartition("/")[2] for line in sizes.splitlines()] == [
        "LAYER", "identity", "USER.md", "AGENTS.md", "skills", "all",
    ]  # fmt: skip
