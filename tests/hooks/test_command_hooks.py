"""Hook commands of the user, as other agents' documentation shows them, in whole turns."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, expect, say, turn

FORMATTER = """\
import json, pathlib, sys
path = pathlib.Path(json.load(sys.stdin)["tool_input"]["file_path"])
path.write_text(path.read_text().replace("  ", " "))
print(json.dumps({"hookSpecificOutput": {"additionalContext": f"formatted {path.name}"}}))
"""
NO_RM = """\
case "$(cat)" in *'rm -rf'*) echo "rm -rf is not allowed here" >&2; exit 2;; esac
"""
Hooks = Mapping[str, Any]


def hook(command: str, matcher: str = "", **more: object) -> list[Hooks]:
    """The group of one command."""
    return [{"matcher": matcher, "hooks": [{"type": "command", "command": command, **more}]}]


def python(folder: Path, name: str, text: str) -> str:
    """The command line of a script in Python."""
    (folder / name).write_text(text)
    return f"{sys.executable} {folder / name}"


def write_hooks(home: Path, hooks: Hooks, place: str = ".claude/settings.json") -> None:
    """The settings of another agent with these hooks."""
    path = home / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"model": "opus", "hooks": hooks}))


@pytest.mark.parametrize("place", [".claude/settings.json", ".codex/hooks.json", "claw/hooks.json"])
async def test_a_formatter_runs_after_an_edit_and_the_model_hears_of_it(project: Path, home: Path, place: str) -> None:
    (project / "a.txt").write_text("one\n")
    script = Script(
        turn(call("read_file", path="a.txt")),
        turn(call("edit_file", path="a.txt", edits=[{"old_text": "one", "new_text": "two  three"}])),
        turn(expect("formatted a.txt"), say("done")),
    )
    write_hooks(home, {"PostToolUse": hook(python(home, "format.py", FORMATTER), "Edit|Write")}, place)
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        editor = await house.visit()
        await editor.new_session()
        assert (await editor.prompt("edit")).stop_reason == "end_turn"
    assert (project / "a.txt").read_text() == "two three\n"


@pytest.mark.parametrize("protocol", [1, 2])
async def test_exit_code_2_refuses_a_command_with_its_words(project: Path, home: Path, protocol: int) -> None:
    (project / "keep").mkdir()
    script = Script(turn(call("shell", command="rm -rf keep")), turn(expect("rm -rf is not allowed here"), say("ok")))
    (home / "no_rm.sh").write_text(NO_RM)
    write_hooks(home, {"PreToolUse": hook(f"sh {home / 'no_rm.sh'}", "Bash")})
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        editor = await (house.visit() if protocol == 1 else house.visit_2())
        await editor.new_session()
        await editor.prompt("clean up")
    assert (project / "keep").is_dir()


async def test_prompts_are_logged_and_context_comes_at_the_start_of_a_session(project: Path, home: Path) -> None:
    log = home / "prompts.log"
    script = Script(turn(say("a")), turn(expect("two"), say("b")))
    write_hooks(home, {
        "SessionStart": hook("echo The branch is main.", "startup"),
        "UserPromptSubmit": hook(f"cat >> {log}"),
        "SessionEnd": hook(f"echo ended >> {log}"),
    })  # fmt: skip
    async with SharedHouse.opened(project=project, home=home, script=script, lasting=False) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("one")
        await editor.prompt("two")
        prompts = [
            message for message in (await house.session(editor.session)).history.messages() if message.role == "user"
        ]
        await editor.leave()
    assert ["The branch is main." in str(message.parts) for message in prompts] == [True, False]
    first, second, end = log.read_text().splitlines()
    assert [json.loads(line)["prompt"] for line in (first, second)] == ["one", "two"]
    assert json.loads(first)["hook_event_name"] == "UserPromptSubmit"
    assert end == "ended"


async def test_a_refused_prompt_reaches_no_model(project: Path, home: Path) -> None:
    script = Script(turn(say("never")))
    answer = json.dumps({"decision": "block", "reason": "it holds a password"})
    write_hooks(home, {"UserPromptSubmit": hook(f"echo '{answer}'")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        outcome = await editor.prompt("hunter2")
    assert outcome.stop_reason == "end_turn"
    assert outcome.text == "A hook refused this prompt, so no model has seen it: it holds a password"


async def test_a_stop_hook_keeps_the_turn_going_until_it_agrees(project: Path, home: Path) -> None:
    script = Script(turn(say("done")), turn(expect("run the tests"), say("now done")))
    command = """python3 -c 'import json, sys
if not json.load(sys.stdin)["stop_hook_active"]: print(json.dumps({"decision": "block", "reason": "run the tests"}))'"""
    write_hooks(home, {"Stop": hook(command)})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        outcome = await editor.prompt("work")
    assert "now done" in outcome.text


async def test_a_changed_command_is_what_the_policy_asks_about(project: Path, home: Path) -> None:
    script = Script(turn(call("shell", command="touch one")), turn(expect("touch two"), say("ok")))
    allowed = {"permissionDecision": "allow", "updatedInput": {"command": "touch two"}}
    write_hooks(home, {"PreToolUse": hook(f"echo '{json.dumps({'hookSpecificOutput': allowed})}'", "Bash")})
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        editor.will_answer(None)
        prompt = await editor.start_prompt("touch")
        question = await editor.wait_for_question()
        assert question.params["toolCall"]["rawInput"]["command"] == "touch two"
        await editor.answer(question, "allow_once")
        await prompt.outcome()
    assert [(project / name).exists() for name in ("one", "two")] == [False, True]


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("sleep 60", "it took longer than 0.2 s"),
        ("head -c 10000000 /dev/zero; sleep 60", "it printed more than 1,000,000 bytes"),
        ("echo broken >&2; exit 1", "exit code 1: broken"),
        ("echo '{nonsense'", "its answer is not valid JSON"),
    ],
)
async def test_a_hook_that_fails_is_told_and_closed_where_the_settings_say_so(
    project: Path, home: Path, command: str, problem: str
) -> None:
    script = Script(turn(call("list_files")), turn(expect("Not allowed"), say("ok")))
    limit = 0.2 if "0.2" in problem else 30
    write_hooks(home, {"PreToolUse": hook(command, "LS", timeout=limit)})
    config = '[hooks]\non_failure = "closed"'
    async with SharedHouse.opened(project=project, home=home, script=script, config=config) as house:
        editor = await house.visit()
        await editor.new_session()
        outcome = await editor.prompt("list")
    assert problem in json.dumps(outcome.updates)
