"""Tools and commands that other packages bring along."""

import json
import os
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, turn

pytestmark = pytest.mark.spawned

MODULE = """
import asyncio
import sys
import threading

from claw_acp.contracts.command import Said
from claw_acp.contracts.provider import Provider, ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, ToolResult
from claw_acp.core.messages import TextPart


class Broken:
    def __init__(self):
        raise RuntimeError("no licence")


class Greeting(Invocation):
    view = CallView(title="Greet", kind="other")

    async def run(self):
        return ToolResult(parts=(TextPart(text="good day"),))


class Greet:
    spec = ToolSpec(name="greet", description="Greets", parameters={"type": "object", "properties": {}})
    parallel = True

    def prepare(self, arguments, context):
        if arguments:
            raise RuntimeError("nobody told me about arguments")
        return Greeting()


class Ending(Invocation):
    view = CallView(title="End it all", kind="other")

    async def run(self):
        async def leave():
            sys.exit("from a task")

        print("noise where the protocol is")
        threading.Thread(target=sys.exit).start()
        threading.Thread(target=lambda: 1 / 0).start()
        task = asyncio.ensure_future(leave())
        while not task.done():
            await asyncio.sleep(0)
        return ToolResult(parts=(TextPart(text="still here"),))


class End:
    spec = ToolSpec(name="end_it_all", description="Ends", parameters={"type": "object", "properties": {}})
    parallel = False

    def prepare(self, arguments, context):
        return Ending()


class Unsayable:
    spec = ToolSpec(name="two words", description="No vendor takes it", parameters={"type": "object", "x": {1}})
    parallel = True


class Quit:
    name = "quit_it"
    description = "Quits"
    hint = None

    async def run(self, argument, context):
        if argument:
            return argument
        sys.exit(0)


class Acme(Provider):
    async def chat(self, request):
        raise KeyboardInterrupt


def make_acme(setup):
    return Acme()


class Hello:
    name = "hello"
    description = "Says hello"
    hint = None

    async def run(self, argument, context):
        return Said(text=f"hello {argument}")
"""
POINTS = """
[claw_acp.tools]
broken-tool = claw_acp_strange:Broken
greet = claw_acp_strange:Greet
end = claw_acp_strange:End
unsayable = claw_acp_strange:Unsayable
leaving-tool = claw_acp_leaving:Greet

[claw_acp.commands]
broken-command = claw_acp_strange:Broken
hello = claw_acp_strange:Hello
quit = claw_acp_strange:Quit

[claw_acp.providers]
acme = claw_acp_strange:make_acme
leaving = claw_acp_leaving:make
"""
ACME = """
[providers.acme]
kind = "acme"
models = ["m"]
fallback = ["scripted/play"]
"""


@pytest.fixture
def strangers(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that finds these extensions among its installed packages."""
    packages = tmp_path / "packages"
    metadata = packages / "claw_acp_strange-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: claw-acp-strange\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    (packages / "claw_acp_strange.py").write_text(MODULE)
    (packages / "claw_acp_leaving.py").write_text("raise SystemExit(2)")
    before = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(packages), *([before] if before else [])])}


async def test_what_cannot_be_made_is_left_out_with_one_line_in_the_log_and_the_rest_works(
    opened: Spawn, home: Path, strangers: dict[str, str]
) -> None:
    script = Script(turn(call("greet")), turn(expect("good day"), say("greeted")))
    async with opened(script=script, env=strangers) as editor:
        outcome = await editor.prompt("go")
        assert (outcome.calls[0]["status"], outcome.text) == ("completed", "greeted")
        assert (await editor.prompt("/hello you")).text == "hello you"
        [commands] = editor.updates("available_commands_update")
        assert "hello" in {command["name"] for command in commands["availableCommands"]}
    lines = [json.loads(line) for path in (home / "claw" / "log").iterdir() for line in path.read_text().splitlines()]
    told = [line for line in lines if "no licence" in json.dumps(line)]
    assert sorted(line["extension"] for line in told) == ["broken-command", "broken-tool"]
    disabled = {line["extension"]: line["reason"] for line in lines if "extension" in line}
    assert "SystemExit: 2" in disabled["leaving-tool"]
    assert "two words" in disabled["unsayable"]


async def test_no_tool_command_or_provider_of_a_package_can_end_the_server(
    opened: Spawn, strangers: dict[str, str]
) -> None:
    script = Script(turn(call("end_it_all")), turn(expect("still here"), say("so it is")), turn(say("I do instead")))
    async with opened(script=script, env=strangers, config=ACME) as editor:
        editor.incidents_expected = True
        assert (await editor.prompt("go")).text == "so it is"
        assert (
            "/quit_it of the package claw_acp_strange failed: SystemExit: 0." in (await editor.prompt("/quit_it")).text
        )
        assert "returns Said, Asks or Summarizes, not str" in (await editor.prompt("/quit_it now")).text
        await editor.prompt("/model acme/m")
        outcome = await editor.prompt("go on")
        assert outcome.text == "I do instead"
        assert "the provider acme of the package claw_acp_strange failed: KeyboardInterrupt" in str(editor.received())


async def test_a_tool_that_stumbles_over_its_arguments_fails_the_call_and_not_the_turn(
    opened: Spawn, home: Path, strangers: dict[str, str]
) -> None:
    script = Script(turn(call("greet", loudly=True)), turn(expect("inc_"), say("a pity")))
    async with opened(script=script, env=strangers) as editor:
        editor.incidents_expected = True
        outcome = await editor.prompt("go")
        assert (outcome.calls[0]["status"], outcome.text) == ("failed", "a pity")
        assert "nobody told me" not in json.dumps(editor.received())
    log = "".join(path.read_text() for path in (home / "claw" / "log").iterdir())
    assert "nobody told me about arguments" in log
