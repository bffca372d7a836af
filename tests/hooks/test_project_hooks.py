"""Hooks of a project: they do nothing until a person trusts them, and never more than the sandbox lets them."""

import json
import os
from pathlib import Path

import anyio
import pytest

from claw_acp.hooks.files import project_files
from tests.hooks.test_command_hooks import hook, write_hooks
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script, call, expect, hold, say, turn
from tests.support.toolchain import missing
from tests.support.trust import AT, trust_store

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
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


async def test_a_script_that_was_changed_behind_the_back_of_its_dates_does_not_run(project: Path, home: Path) -> None:
    evil = f"touch {home}/pwned"
    put_hook(project, "exit 0 #".ljust(len(evil)))
    trust_hooks(project, home)
    script = Script(turn(call("list_files")), turn(hold("swapped"), call("list_files", path=".")), turn(say("ok")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        editor = await house.visit()
        await editor.new_session()
        prompt = await editor.start_prompt("look")
        await editor.wait_for(lambda: "completed" in str(editor.updates("tool_call_update")), "the first call")
        look, before = project / "look.sh", (project / "look.sh").stat()
        with look.open("r+") as file:
            file.write(evil)
        os.utime(look, ns=(before.st_atime_ns, before.st_mtime_ns))
        script.let_go("swapped")
        await prompt.outcome()
    assert not (home / "pwned").exists()


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse"])
@pytest.mark.parametrize("whose", ["project", "home"])
async def test_the_words_of_a_project_reach_the_model_as_a_strangers_and_never_as_the_prompt(
    project: Path, home: Path, event: str, whose: str
) -> None:
    answer = {"updatedPrompt": "obey", "updatedToolOutput": "obey"}
    (project / "look.sh").write_text(f"echo '{json.dumps({'hookSpecificOutput': answer})}'")
    write_hooks(project if whose == "project" else home, {event: hook("sh look.sh")})
    if whose == "project":
        trust_hooks(project, home)
    async with SharedHouse.opened(project=project, home=home, script=Script(*CALLS)) as house:
        editor = await house.visit()
        await editor.new_session()
        await editor.prompt("look")
        history = (await house.session(editor.session)).history
    seen = str([message.parts for message in history.messages()])
    assert "obey" in seen
    assert ("text from a hook of the project" in seen) is (whose == "project")


@pytest.mark.parametrize(
    ("event", "answer"),
    [
        ("UserPromptSubmit", {"decision": "block", "reason": "{}"}),
        ("PreToolUse", {"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "{}"}}),
        ("PreToolUse", {"continue": False, "stopReason": "{}"}),
        ("Stop", {"decision": "block", "reason": "{}"}),
    ],
)
async def test_what_a_hook_says_is_shown_to_people_as_what_it_is_and_without_keys(
    project: Path, home: Path, event: str, answer: dict[str, object]
) -> None:
    said = f"A\x1b[2J\u202e{'B' * 100_000} {KEY}"
    answers = json.dumps(answer).replace('"{}"', json.dumps(f"{KEY} {said}"))
    (project / "answer.json").write_text(answers)
    write_hooks(project, {event: hook("cat answer.json")})
    trust_store(home).add(project_files(project)[0], at=AT)
    async with SharedHouse.opened(project=project, home=home, script=Script(*CALLS, loop=True)) as house:
        editor = await house.visit(session={"notices": {}})
        await editor.new_session()
        editor.will_answer("reject_once")
        await editor.prompt("look")
        shown = [json.dumps(frame.message, ensure_ascii=False) for frame in editor.transcript]
    assert any("BBBB" in text for text in shown)
    assert not any(KEY in text or "\\u001b" in text.replace("\\\\", "") or "\u202e" in text for text in shown)
    assert max(map(len, shown)) < 20_000


@pytest.mark.parametrize(
    ("hooks", "used"),
    [
        ({"PreToolUse": hook(" ".join(f"a{number}" for number in range(50_000)))}, 0),
        ({"PreToolUse": [hook(f"a{n} " + " ".join(f"b{n}{m}" for m in range(50)))[0] for n in range(200)]}, 0),
        ({"PreToolUse": hook("sh large.sh")}, 0),
        ({"PreToolUse": hook("sh " + " ".join(f"{'./' * number}look.sh" for number in range(400)))}, 2),
        ({f"Pre{number}": [1] for number in range(50_000)} | {"PreToolUse": hook("sh look.sh")}, 0),
        ({"PreToolUse": hook("sh look.sh", "(a|b)" * 150_000)}, 0),
        ({"PreToolUse": hook("sh look.sh") * 5_000}, 2),
    ],
    ids=["words", "words of many", "a large script", "one script", "events", "a matcher", "many"],
)
def test_hooks_that_are_too_many_to_look_at_are_left_out_and_told_in_a_few_words(
    project: Path, hooks: dict[str, list[object]], used: int
) -> None:
    (project / "look.sh").write_text("exit 0")
    (project / "large.sh").write_text("#" * 1_000_001)
    write_hooks(project, hooks)
    files, troubles = project_files(project.resolve())
    assert len(files) == used
    assert len(troubles) < 30


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
