"""Sessions whose model cannot be used: they open, say what is wrong, and another model can be chosen in them."""

from pathlib import Path

import pytest

from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, say, turn

MINE = '[providers.mine]\nmodels = ["x"]\n'
TROUBLES = {
    "an unknown provider": ("nowhere/x", "", 'there is no provider "nowhere"'),
    "a model without its provider": ("gpt-4o", "", "lacks its provider"),
    "a program that is not there": ("mine/x", f'{MINE}kind = "binary"\ncommand = "/nowhere/program"', "no file"),
    "an unknown wire family": ("mine/x", f'{MINE}kind = "quux"', 'unknown kind "quux"'),
    "a service without an address": ("mine/x", f'{MINE}kind = "openai"', "needs the address"),
    "a wrong value": ("mine/x", f'{MINE}kind = "openai"\nbase_url = "http://[::1]"\nproxy = "foo://x"', "proxy in"),
    "a header that is not set": (
        "mine/x", f'{MINE}kind = "openai"\nbase_url = "http://[::1]"\nheaders = {{ X = "env:UNSET" }}', "UNSET"
    ),
    "an unknown route": ("hint:deep", "", 'no route "deep"'),
    "a route that leads nowhere": ("hint:deep", '[routes]\ndeep = "nowhere/x"', 'there is no provider "nowhere"'),
}  # fmt: skip


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_session_opens_whatever_is_wrong_with_its_model(trouble: str, project: Path, home: Path) -> None:
    model, config, reason = TROUBLES[trouble]
    script, env = Script(turn(say("hello"))), {"CLAW_ACP_MODEL": model}
    async with SharedHouse.opened(project=project, home=home, script=script, config=config, env=env) as house:
        editor = await house.visit(session={"notices": {}})
        [picker] = [option for option in (await editor.new_session())["configOptions"] if option["id"] == "model"]
        assert picker["currentValue"] == model
        assert "offline/assistant" in {value["value"] for value in picker["options"]}
        await editor.wait_for(lambda: editor.updates("notice"), "a notice")
        notice = editor.updates("notice")[0]
        assert reason in notice["title"]
        refused = await (await editor.start_prompt("hi")).failure()
        assert reason in refused.message
        chosen = {"sessionId": editor.session, "configId": "model", "value": "scripted/play"}
        await editor.request("session/set_config_option", chosen)
        assert (await editor.prompt("hi")).text == "hello"
