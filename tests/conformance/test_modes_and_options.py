"""Modes and options: one state, shown in both forms."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.model_replies import Call
from tests.support.servers.model_server import ModelServer

SWITCHES: Json = {"session": {"configOptions": {"boolean": {}}}}
THINKER = "scripted/claude-opus-4-5"


def _current(options: list[dict[str, Any]]) -> dict[str, object]:
    return {option["id"]: option["currentValue"] for option in options}


def _mode_and_model(options: list[dict[str, Any]]) -> tuple[object, object]:
    current = _current(options)
    return current["mode"], current["model"]


async def _set(editor: Editor, option: str, value: object, **more: object) -> list[dict[str, Any]]:
    params = {"sessionId": editor.session, "configId": option, "value": value, **more}
    return (await editor.request("session/set_config_option", params))["configOptions"]


@pytest.mark.rule("config.modes-in-step", "kit1.modes", "kit1.config")
@pytest.mark.case(35)
async def test_a_session_starts_with_both_forms_saying_the_same(spawn: Spawn) -> None:
    async with spawn(script=Script(turn()), config='mode = "plan"') as editor:
        await editor.initialize()
        result = await editor.new_session()
        assert _mode_and_model(result["configOptions"]) == ("plan", "scripted/play")
        assert result["modes"]["currentModeId"] == "plan"
        by_id = {option["id"]: option for option in result["configOptions"]}
        modes = [mode["id"] for mode in result["modes"]["availableModes"]]
        assert [option["value"] for option in by_id["mode"]["options"]] == modes
        assert {option["type"] for option in result["configOptions"]} == {"select"}


@pytest.mark.rule("config.modes-in-step", "kit1.modes")
@pytest.mark.case(33, 35)
async def test_setting_one_form_changes_and_announces_the_other(opened: Spawn) -> None:
    async with opened(script=Script(turn())) as editor:
        assert await editor.request("session/set_mode", {"sessionId": editor.session, "modeId": "edit"}) == {}
        assert _current(editor.updates("config_option_update")[-1]["configOptions"])["mode"] == "edit"
        options = await _set(editor, "mode", "auto")
        assert _mode_and_model(options) == ("auto", "scripted/play")
        assert editor.updates("current_mode_update")[-1]["currentModeId"] == "auto"
        options = await _set(editor, "model", "offline/assistant")
        assert _mode_and_model(options) == ("auto", "offline/assistant")


@pytest.mark.rule("config.mid-turn")
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


@pytest.mark.rule("kit1.config")
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
        assert _mode_and_model(await _set(editor, "model", "scripted/play")) == ("ask", "scripted/play")


@pytest.mark.case(35)
async def test_choices_are_kept_with_the_session(opened: Spawn, spawn: Spawn) -> None:
    script = Script(turn())
    async with opened(script=script) as editor:
        await _set(editor, "mode", "plan")
        await _set(editor, "model", "offline/assistant")
        session = editor.session
    async with spawn(script=script) as editor:
        await editor.initialize()
        result, _ = await editor.load(session)
        assert _mode_and_model(result["configOptions"]) == ("plan", "offline/assistant")
        assert result["modes"]["currentModeId"] == "plan"


# ------------------------------------------------------------------ switches


@pytest.mark.case(34)
@pytest.mark.rule("config.boolean-gated")
@pytest.mark.rule("config.default")
async def test_a_switch_is_a_choice_of_two_for_clients_that_know_no_switches(opened: Spawn) -> None:
    async with opened(script=Script(turn())) as editor:
        options = await _set(editor, "web", "off")
        (web,) = [option for option in options if option["id"] == "web"]
        assert (web["type"], web["currentValue"]) == ("select", "off")
        assert [option["value"] for option in web["options"]] == ["on", "off"]
        boolean = {"sessionId": editor.session, "configId": "web", "type": "boolean", "value": True}
        assert (await editor.failing("session/set_config_option", boolean)).code == -32602
        assert _current(await _set(editor, "mode", "ask"))["web"] == "off"


@pytest.mark.case(34)
@pytest.mark.rule("config.refused")
async def test_a_switch_takes_true_and_false_and_nothing_else(opened: Spawn) -> None:
    async with opened(script=Script(turn()), capabilities=SWITCHES) as editor:
        options = await _set(editor, "web", value=False, type="boolean")
        (web,) = [option for option in options if option["id"] == "web"]
        assert (web["type"], web["currentValue"]) == ("boolean", False)
        here = {"sessionId": editor.session, "configId": "web"}
        for wrong in ({"value": "on"}, {"type": "boolean", "value": "on"}, {"value": True}, {"value": None}, {}):
            assert (await editor.failing("session/set_config_option", here | wrong)).code == -32602, wrong
        assert _current(await _set(editor, "mode", "ask"))["web"] is False
        assert _current(editor.updates("config_option_update")[-1]["configOptions"])["web"] is False


@pytest.mark.case(33)
async def test_without_web_access_nothing_is_fetched_from_the_next_request_on(opened: Spawn) -> None:
    fetch = call("fetch", url="http://127.0.0.1:9/")
    script = Script(turn(say("first"), hold("gate"), fetch), turn(say("second"), hold("again"), fetch), turn(say("ok")))
    async with opened(script=script, config='mode = "auto"', capabilities=SWITCHES) as editor:
        prompt = await editor.start_prompt("fetch http://127.0.0.1:9/")
        await editor.wait_for_text("first")
        await _set(editor, "web", value=False, type="boolean")
        assert not prompt.answered
        editor.script.let_go("gate")
        await editor.wait_for_text("second")
        await _set(editor, "web", value=True, type="boolean")
        editor.script.let_go("again")
        without, with_web = (await prompt.outcome()).calls
        assert "There is no tool named fetch" in shown_text(without)
        assert "There is no tool" not in shown_text(with_web)


# ------------------------------------------------------------------ how long the model thinks


@pytest.mark.case(35)
@pytest.mark.rule("config.complete")
async def test_the_thought_level_comes_and_goes_with_the_model(opened: Spawn, spawn: Spawn) -> None:
    script = Script(turn())
    async with opened(script=script, env={"CLAW_ACP_MODEL": THINKER}) as editor:
        options = await _set(editor, "thought_level", "high")
        (level,) = [option for option in options if option["id"] == "thought_level"]
        assert (level["category"], level["currentValue"]) == ("thought_level", "high")
        assert [option["value"] for option in level["options"]] == ["default", "off", "low", "medium", "high"]
        options = await _set(editor, "model", "offline/assistant")
        assert [option["id"] for option in options] == ["mode", "model", "web"]
        assert [option["id"] for option in editor.updates("config_option_update")[-1]["configOptions"]] == [
            "mode",
            "model",
            "web",
        ]
        here = {"sessionId": editor.session, "configId": "thought_level", "value": "low"}
        assert (await editor.failing("session/set_config_option", here)).code == -32602
        assert _current(await _set(editor, "model", THINKER))["thought_level"] == "high"
        for wrong in ({"value": "enormous"}, {"type": "boolean", "value": True}):
            assert (await editor.failing("session/set_config_option", here | wrong)).code == -32602
        session = editor.session
    async with spawn(script=script, env={"CLAW_ACP_MODEL": THINKER}) as editor:
        await editor.initialize()
        result, _ = await editor.load(session)
        assert _current(result["configOptions"])["thought_level"] == "high"


@pytest.mark.case(33)
async def test_the_thought_level_counts_from_the_next_request_on(opened: Spawn) -> None:
    config = 'model = "openai/gpt-5-mini"\n'
    async with ModelServer() as server:
        env = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": server.openai_url}
        async with opened(config=config, env=env) as editor:
            server.will_say("as it likes")
            await editor.prompt("go")
            await _set(editor, "thought_level", "high")
            server.will_say(calls=[Call(name="shell", arguments={"command": "touch x"})])
            server.will_say("deeply, then quickly")
            editor.will_answer(None)
            prompt = await editor.start_prompt("go")
            question = await editor.wait_for_question()
            await _set(editor, "thought_level", "low")
            await editor.answer(question, "reject_once")
            await prompt.outcome()
            efforts = [request.json.get("reasoning_effort") for request in server.requests]
            assert efforts == [None, "high", "low"]
