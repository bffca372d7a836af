"""The instructions above a conversation, with those of the client."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from claw_acp.agent.system_prompt import SystemPrompt, joined, stable_layers
from claw_acp.contracts.prompt_layer import PromptLayer
from claw_acp.session.setup import Instructions


def system_prompt(roots: Sequence[Path], given: Instructions | None = None) -> str:
    return joined(stable_layers(roots, given))


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


GIVEN = Instructions(mode="append", text="Be brief.")


async def test_a_session_keeps_its_instructions_byte_for_byte_while_files_change(tmp_path: Path) -> None:
    prompt = SystemPrompt()
    await prompt.refresh([tmp_path], GIVEN)
    before = joined(prompt.layers)
    assert before == system_prompt([tmp_path], GIVEN)
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    await prompt.refresh([tmp_path], GIVEN)
    assert joined(prompt.layers) == before


@pytest.mark.parametrize("changed", ["folders", "instructions"])
async def test_instructions_are_made_anew_with_other_folders_or_a_clients_other_words(
    tmp_path: Path, changed: str
) -> None:
    prompt = SystemPrompt()
    await prompt.refresh([tmp_path], GIVEN)
    (tmp_path / "AGENTS.md").write_text("Use tabs.\n")
    roots, given = ([tmp_path, tmp_path / "more"], GIVEN) if changed == "folders" else ([tmp_path], None)
    await prompt.refresh(roots, given)
    assert joined(prompt.layers) == system_prompt(roots, given)
    assert "Use tabs." in joined(prompt.layers)


def test_what_may_change_stands_behind_all_that_stays() -> None:
    names = ["a", "mcp", "b", "memory"]
    layers = [PromptLayer(name=name, text=f"{name}\n", stable=len(name) == 1) for name in names]
    assert joined(layers) == "a\nb\nmcp\nmemory\n"


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
