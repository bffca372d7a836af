"""Slash commands and settings as a client of protocol 2 meets them."""

from pathlib import Path

import pytest

from tests.support.editors.editor_v2 import EditorV2, said
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.trust import trust_all


def _write(project: Path, text: str) -> None:
    path = project / ".claw/commands/fix.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.rule("v2.commands", "v2.new-answer")
async def test_prompt_files_are_in_the_answer_and_changes_are_told(project: Path, home: Path) -> None:
    _write(project, "---\ndescription: Fix\nargument-hint: [issue]\n---\nFix issue $1.")
    trust_all(project, home=home)
    script = Script(turn(expect("Fix issue 12."), say("fixed")), loop=True)
    async with EditorV2.spawned(project=project, home=home, script=script) as editor:
        await editor.initialize()
        made = await editor.new_session()
        listed: dict[str, Json] = {command["name"]: command for command in made["availableCommands"]}
        assert listed["fix"]["description"] == "Fix (project)"
        assert listed["fix"]["input"]["hint"] == "[issue]"
        assert not editor.updates("available_commands_update")
        done = await editor.run("/fix 12")
        assert (done.stop_reason, done.text) == ("end_turn", "fixed")
        assert said(editor.updates(), "user_message") == "/fix 12"
        (project / ".claw/commands/fix.md").unlink()
        assert "There is no command /fix." in (await editor.run("/fix")).text
        names = [command["name"] for command in editor.updates("available_commands_update")[-1]["availableCommands"]]
        assert "fix" not in names
        _, replayed = await editor.resume(replay=True)
        assert said(replayed, "user_message") == "/fix 12/fix"


async def test_settings_are_the_same_under_their_own_names(project: Path, home: Path) -> None:
    env = {"CLAW_ACP_MODEL": "scripted/claude-opus-4-5"}
    async with EditorV2.opened(project=project, home=home, script=Script(turn()), env=env) as editor:

        async def choose(option: str, value: object, kind: str) -> dict[str, object]:
            asked = {"sessionId": editor.session, "configId": option, "type": kind, "value": value}
            result = await editor.request("session/set_config_option", asked)
            return {option["configId"]: option["currentValue"] for option in result["configOptions"]}

        assert (await choose("thought_level", "low", "id"))["thought_level"] == "low"
        assert (await choose("web", value=False, kind="boolean"))["web"] is False
        for wrong in (
            {"type": "id", "value": "off"},
            {"type": "boolean", "value": "off"},
            {"type": "_x", "value": False},
        ):
            asked = {"sessionId": editor.session, "configId": "web", **wrong}
            assert (await editor.failing("session/set_config_option", asked)).code == -32602, wrong
        assert set(await choose("model", "offline/assistant", "id")) == {"mode", "model", "web"}


async def test_a_turn_is_taken_back_and_not_replayed(project: Path, home: Path) -> None:
    script = Script(turn(call("write_file", path="new.txt", content="new")), turn(say("done")))
    async with EditorV2.opened(project=project, home=home, script=script, config='mode = "auto"') as editor:
        await editor.run("write it")
        assert "`new.txt` deleted" in (await editor.run("/undo")).text
        assert not (project / "new.txt").exists()
        _, replayed = await editor.resume(replay=True)
        assert said(replayed, "user_message") == "/undo"
