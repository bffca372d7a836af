"""Hook commands about questions to a person, about subagents, and those that nobody waits for."""

import json
from pathlib import Path

import pytest

from tests.hooks.test_command_hooks import Hooks, hook, write_hooks
from tests.support.editors.shared_house import SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, expect, say, turn


def decision(**fields: object) -> str:
    """A command that answers a question to a person."""
    return f"echo '{json.dumps({'hookSpecificOutput': {'decision': fields}})}'"


def in_background(command: str) -> list[Hooks]:
    """The group of one command that nobody waits for."""
    return [{"hooks": [{"type": "command", "command": command, "async": True}]}]


async def test_a_command_is_told_that_a_person_is_asked_and_the_question_does_not_wait_for_it(
    project: Path, home: Path
) -> None:
    log = home / "told"
    script = Script(turn(call("shell", command="touch made")), turn(say("ok")))
    write_hooks(home, {"Notification": hook(f"cat > {log}.part; mv {log}.part {log}; sleep 60", "permission_prompt")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        editor.will_answer("allow_once")
        await editor.prompt("make it")
        await eventually(log.exists, what="the notification")
    told = json.loads(log.read_text())
    assert told["message"] == "The agent needs your permission to use Bash"
    assert (project / "made").exists()


@pytest.mark.parametrize("command", [decision(behavior="deny", message="never that"), "echo never that >&2; exit 2"])
async def test_a_command_refuses_in_a_persons_place(project: Path, home: Path, command: str) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(expect("never that"), say("ok")))
    write_hooks(home, {"PermissionRequest": hook(command, "Bash")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("make it")
    assert not (project / "made").exists()


async def test_a_command_cannot_allow_in_a_persons_place(project: Path, home: Path) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(expect("The user rejected"), say("ok")))
    write_hooks(home, {"PermissionRequest": hook(decision(behavior="allow"), "Bash")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        editor.will_answer("reject_once")
        await editor.prompt("make it")
    assert not (project / "made").exists()


async def test_the_turn_does_not_wait_for_an_async_command_which_ends_with_the_session(
    project: Path, home: Path
) -> None:
    log = home / "pid"
    script = Script(turn(say("ok")))
    write_hooks(
        home,
        {"UserPromptSubmit": in_background(f"echo $$ > {log}.part; mv {log}.part {log}; exec sleep 600")},
    )
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        assert (await editor.prompt("go on")).text == "ok"
        await eventually(log.exists, what="the command")
        await editor.request("session/close", {"sessionId": editor.session})
        await eventually(lambda: not Path(f"/proc/{log.read_text().strip()}").exists(), what="its end")


async def test_the_failure_of_an_async_command_is_told(project: Path, home: Path) -> None:
    script = Script(turn(say("ok")))
    write_hooks(home, {"UserPromptSubmit": in_background("echo broken >&2; exit 3")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit(session={"notices": {}})
        await editor.new_session()
        await editor.prompt("go on")
        await eventually(lambda: "exit code 3: broken" in json.dumps(editor.updates("notice")), what="the notice")


async def test_a_program_with_args_is_started_without_a_shell(project: Path, home: Path) -> None:
    write_hooks(home, {"UserPromptSubmit": hook("printf", args=["%s ${CLAUDE_PROJECT_DIR}", "$HOME; it's literal"])})
    script = Script(turn(expect(f"$HOME; it's literal {project}"), say("ok")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        assert (await editor.prompt("go on")).text == "ok"


async def test_a_subagent_gets_context_at_its_start(project: Path, home: Path) -> None:
    write_hooks(home, {"SubagentStart": hook("echo the house rules")})
    child = turn(expect("the house rules"), say("seen"), when="Your task, from the agent")
    script = Script(turn(call("delegate", title="look", task="Look.")), child, turn(expect("seen"), say("ok")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        assert (await editor.prompt("delegate it")).text == "ok"
