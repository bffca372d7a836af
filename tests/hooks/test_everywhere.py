"""Hooks are called wherever a turn runs, and hooks of packages like commands."""

import json
import sys
from pathlib import Path

import pytest

from claw_acp.registry.entry_points import discover
from claw_acp.registry.installed_points import installed_points
from tests.hooks.test_command_hooks import hook, write_hooks
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, expect, say, turn

REFUSES = {"PreToolUse": hook("echo not here >&2; exit 2", "Bash")}


async def test_a_hook_is_called_in_a_subagent_and_about_its_end(project: Path, home: Path) -> None:
    log = home / "stops"
    write_hooks(
        home,
        {
            **REFUSES,
            "SubagentStop": hook(f"echo sub >> {log}"),
            "Stop": hook(f"echo own >> {log}"),
            "UserPromptSubmit": hook(f"echo prompt >> {log}"),
        },
    )
    child = [
        turn(call("shell", command="touch made"), when="Your task, from the agent"),
        turn(expect("not here"), say("I could not."), when="Your task, from the agent"),
    ]
    script = Script(turn(call("delegate", title="make", task="Make it.")), *child, turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        editor = await house.visit()
        await editor.new_session()
        assert (await editor.prompt("make it")).text == "done"
    assert not (project / "made").exists()
    assert log.read_text().split() == ["prompt", "sub", "own"]


GUARD = """
from claw_acp.contracts.hook import BeforeModel, BeforeTool, HookResult


class Guard:
    name, priority, events = "guard", 5, frozenset({BeforeTool, BeforeModel})

    async def on(self, event, context):
        if isinstance(event, BeforeModel):
            return HookResult(context="keep it short")
        return HookResult(cancel=f"no {event.tool} in {context.cwd.name}")
"""


async def test_a_hook_of_an_installed_package_is_called(
    project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = home / "guard-1.0.dist-info"
    info.mkdir()
    (home / "guard_of_tests.py").write_text(GUARD)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guard\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[claw_acp.hooks]\nguard = guard_of_tests:Guard\n")
    monkeypatch.setattr(sys, "path", [str(home), *sys.path])
    for found in (discover, installed_points):
        found.cache_clear()
    script = Script(turn(expect("keep it short"), call("list_files")), turn(say("ok")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        outcome = await editor.prompt("look")
    monkeypatch.undo()
    for found in (discover, installed_points):
        found.cache_clear()
    assert f"no list_files in {project.name}" in json.dumps(outcome.updates)


async def test_a_hook_keeps_a_conversation_from_being_summarized(project: Path, home: Path) -> None:
    write_hooks(home, {"PreCompact": hook("echo not now >&2; exit 2", "manual")})
    async with SharedHouse.opened(project=project, home=home, script=Script(turn(say("a" * 4000)))) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("talk")
        outcome = await editor.prompt("/compact")
    assert "a hook decided so: not now" in outcome.text


async def test_no_hook_is_called_where_the_settings_say_so(project: Path, home: Path) -> None:
    write_hooks(home, {"UserPromptSubmit": hook(f"touch {home}/called")})
    config = '[hooks]\nuse = "off"'
    async with SharedHouse.opened(project=project, home=home, script=Script(turn(say("a"))), config=config) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("talk")
    assert not (home / "called").exists()
