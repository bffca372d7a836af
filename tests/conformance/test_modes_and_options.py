"""Modes and options: one state, shown in both forms."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editor import Editor
from tests.support.editor_fixtures import Spawn
from tests.support.script_files import Script, call, hold, say, turn


def _current(options: list[dict[str, Any]]) -> dict[str, object]:
    return {option["id"]: option["currentValue"] for option in options}


async def _set(editor: Editor, option: str, value: object, **more: object) -> list[dict[str, Any]]:
    params = {"sessionId": editor.session, "configId": option, "value": value, **more}
    return (await editor.request("session/set_config_option", params))["configOptions"]


@pytest.mark.case(35)
async def test_a_session_starts_with_both_forms_saying_the_same(spawn: Spawn) -> None:
    async with spawn(script=Script(turn()), config='mode = "plan"') as editor:
        await editor.initialize()
        result = await editor.new_session()
        assert _current(result["configOptions"]) == {"mode": "plan", "model": "scripted/play"}
        assert result["modes"]["currentModeId"] == "plan"
        by_id = {option["id"]: option for option in result["configOptions"]}
        modes = [mode["id"] for mode in result["modes"]["availableModes"]]
        assert [option["value"] for option in by_id["mode"]["options"]] == modes
        assert {option["type"] for option in result["configOptions"]} == {"select"}


@pytest.mark.case(33, 35)
async def test_setting_one_form_changes_and_announces_the_other(opened: Spawn) -> None:
    async with opened(script=Script(turn())) as editor:
        assert await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": "edit"}) == {}
        assert _current(editor.updates("config_option_update")[-1]["configOptions"])["mode"] == "edit"
        options = await _set(editor, "mode", "auto")
        assert _current(options) == {"mode": "auto", "model": "scripted/play"}
        assert editor.updates("current_mode_update")[-1]["currentModeId"] == "auto"
        options = await _set(editor, "model", "offline/assistant")
        assert _current(options) == {"mode": "auto", "model": "offline/assistant"}


@pytest.mark.case(33)
async def test_a_mode_set_during_a_turn_is_answered_at_once_and_holds_for_the_next_call(
    opened: Spawn, project: Path
) -> None:
    script = Script(turn(say("thinking"), hold("gate"), call("shell", command="touch x")), turn(say("done")))
    async with opened(script=script) as editor:
        prompt = await editor.start_prompt("go")
        await editor.wait_for_text("thinking")
        assert _current(await _set(editor, "mode", "auto"))["mode"] == "auto"
        await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": "plan"})
        assert not prompt.answered
        editor.script.let_go("gate")
        assert (await prompt.outcome()).calls[0]["status"] == "failed"
    assert not (project / "x").exists()


@pytest.mark.case(33)
async def test_a_slash_command_announces_what_it_switched(opened: Spawn) -> None:
    async with opened(script=Script(turn())) as editor:
        outcome = await editor.prompt("/mode plan")
        assert outcome.stop_reason == "end_turn"
        assert editor.updates("current_mode_update")[-1]["currentModeId"] == "plan"
        assert _current(editor.updates("config_option_update")[-1]["configOptions"])["mode"] == "plan"


@pytest.mark.case(34, 35)
async def test_unknown_options_and_values_are_refused_and_change_nothing(opened: Spawn) -> None:
    async with opened(script=Script(turn())) as editor:
        here = {"sessionId": editor.session}
        for mode in ("turbo", "", "Ask", None, 7):
            assert (await editor.failing("session/set_mode", here | {"modeId": mode})).code == -32602
        for option, value in (("mode", "turbo"), ("model", "no/such"), ("colour", "red"), ("", ""), ("mode", None)):
            failure = await editor.failing("session/set_config_option", here | {"configId": option, "value": value})
            assert failure.code == -32602, (option, value)
        boolean = here | {"configId": "mode", "type": "boolean", "value": True}
        assert (await editor.failing("session/set_config_option", boolean)).code == -32602
        assert (await editor.failing("session/set_config_option", here | {"configId": "mode"})).code == -32602
        assert _current(await _set(editor, "model", "scripted/play")) == {"mode": "ask", "model": "scripted/play"}


async def test_choices_are_kept_with_the_session(opened: Spawn, spawn: Spawn) -> None:
    script = Script(turn())
    async with opened(script=script) as editor:
        await _set(editor, "mode", "plan")
        await _set(editor, "model", "offline/assistant")
        session = editor.session
    async with spawn(script=script) as editor:
        await editor.initialize()
        result, _ = await editor.load(session)
        assert _current(result["configOptions"]) == {"mode": "plan", "model": "offline/assistant"}
        assert result["modes"]["currentModeId"] == "plan"
