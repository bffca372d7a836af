"""Hooks of a project: they do nothing until a person trusts them, and never more than the sandbox lets them."""

import os
from pathlib import Path

import anyio
import pytest

from claw_acp.hooks.files import project_files
from tests.hooks.test_command_hooks import hook, write_hooks
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.toolchain import missing
from tests.support.trust import AT, trust_store

CALLS = (turn(call("list_files")), turn(say("ok")))


def put_hook(project: Path, text: str) -> None:
    """A hook of the project that runs a script of it."""
    (project / "look.sh").write_text(text)
    write_hooks(project, {"PreToolUse": hook('sh "$CLAUDE_PROJECT_DIR"/look.sh')})


def trust_hooks(project: Path, home: Path) -> None:
    """Trust the hooks of a project as they are."""
    files, troubles = project_files(project.resolve())
    assert troubles == ()
    assert [file.path for file in files] == [".claude/settings.json", "look.sh"]
    trust_store(home).add(files, at=AT)


@pytest.mark.parametrize("trusted", ["no", "yes", "as it was before", "when asked"])
async def test_a_hook_runs_only_as_it_was_trusted(project: Path, home: Path, trusted: str) -> None:
    put_hook(project, "echo no entry >&2; exit 2")
    if trusted in {"yes", "as it was before"}:
        trust_hooks(project, home)
    if trusted == "as it was before":
        (project / "look.sh").write_text(f"touch {home}/pwned")
    refused = trusted in {"yes", "when asked"}
    script = Script(turn(call("list_files")), turn(*([expect("no entry")] if refused else []), say("ok")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        editor.will_answer("allow_always" if trusted == "when asked" else "reject_once")
        outcome = await editor.prompt("look")
        statuses = [update.get("status") for update in outcome.updates if update["sessionUpdate"] == "tool_call_update"]
    assert statuses[-1] == ("failed" if refused else "completed")
    assert not (home / "pwned").exists()


async def test_a_script_that_the_turn_itself_changed_does_not_run_in_it(project: Path, home: Path) -> None:
    put_hook(project, "exit 0")
    trust_hooks(project, home)
    evil = call("write_file", path="look.sh", content=f"touch {home}/pwned\n")
    script = Script(turn(call("read_file", path="look.sh")), turn(evil), *CALLS)
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("change it")
    assert "pwned" in (project / "look.sh").read_text()
    assert not (home / "pwned").exists()


@pytest.mark.skipif(bool(missing("bwrap")), reason=missing("bwrap"))
async def test_a_trusted_hook_changes_the_project_and_nothing_else(project: Path, home: Path) -> None:
    put_hook(project, f"touch inside; touch {home}/outside")
    trust_hooks(project, home)
    env = {"CLAW_ACP_SANDBOX": "on"}
    async with SharedHouse.opened(project=project, home=home, script=Script(*CALLS), env=env) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("look")
    assert (project / "inside").exists()
    assert not (home / "outside").exists()


async def test_cancelling_the_turn_ends_a_hook_that_runs(project: Path, home: Path) -> None:
    write_hooks(home, {"PreToolUse": hook("echo $$ > new; mv new begun; exec sleep 60")})
    async with SharedHouse.opened(project=project, home=home, script=Script(*CALLS)) as house:
        editor = await house.visit()
        await editor.new_session()
        prompt = await editor.start_prompt("look")
        while not (project / "begun").exists():
            await anyio.lowlevel.checkpoint()
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(int((project / "begun").read_text()), 0)
