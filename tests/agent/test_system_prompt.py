"""The instructions above a conversation, with those of the client."""

import os
from pathlib import Path

from claw_acp.session.setup import Instructions

from claw_acp.agent.system_prompt import system_prompt


def test_what_a_client_adds_comes_after_everything_of_ours(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    plain = system_prompt([tmp_path])
    added = system_prompt([tmp_path], Instructions(mode="append", text="Speak like a $pirate."))
    assert added == f"{plain}\n# Further instructions\n\nSpeak like a $pirate.\n"
    assert "Use tabs." in plain


def test_what_replaces_our_words_leaves_the_place_and_the_projects_own_files(tmp_path: Path) -> None:
    more = tmp_path / "more"
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    replaced = system_prompt([tmp_path, more], Instructions(mode="override", text="You are a poet."))
    assert replaced.startswith("You are a poet.\n")
    assert "Claw" not in replaced
    assert "How to work" not in replaced
    assert f"Working folder: {tmp_path}\nAlso in reach: {more}\n" in replaced
    assert "Use tabs." in replaced


def test_the_same_session_has_the_same_instructions_byte_for_byte(tmp_path: Path) -> None:
    given = Instructions(mode="append", text="Be brief.")
    assert system_prompt([tmp_path], given) == system_prompt([tmp_path], given)


def test_a_projects_instructions_come_from_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("not for models")
    (project / "docs.md").write_text("Use spaces.")
    (project / "AGENTS.md").symlink_to(tmp_path / "secret")
    (project / "CLAUDE.md").symlink_to("docs.md")
    text = system_prompt([project])
    assert "not for models" not in text
    assert "Use spaces." in text


def test_instructions_that_are_no_file_or_without_end_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "AGENTS.md")
    with (tmp_path / "CLAUDE.md").open("wb") as file:
        file.truncate(2**40)
    assert len(system_prompt([tmp_path])) < 200_000
