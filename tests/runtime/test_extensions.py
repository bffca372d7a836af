"""Tools and commands that other packages bring along."""

import json
import os
from pathlib import Path

import pytest

from tests.support.editor_fixtures import Spawn
from tests.support.script_files import Script, call, expect, say, turn

MODULE = """
from claw_acp.contracts.command import Said
from claw_acp.contracts.provider import ToolSpec
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

[claw_acp.commands]
broken-command = claw_acp_strange:Broken
hello = claw_acp_strange:Hello
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
