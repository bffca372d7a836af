"""Language servers that fail: the turn ends, one sentence says so, and nothing of them remains."""

import os
from pathlib import Path

import pytest

from claw_acp.codeintel import diagnosis, language_server
from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.codeintel.conftest import Machine
from tests.codeintel.faulty_server import Fault, put
from tests.support.editors.editor_fixtures import Spawn
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, expect, say, turn

EDIT = 'mode = "edit"'
WRONG = turn(call("write_file", path="a.py", content="wrong\n"))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no start", "it ended: cannot find the module of the year"),
        ("dies", "it ended: out of cheese"),
        ("deaf", "it did not start within"),
        ("silent", "it did not answer within"),
        ("stale", "it did not answer within"),
        ("garbage", "it prints something that is no protocol"),
        ("endless", "it sends nonsense"),
        ("huge", "a message of 100,000,000 bytes is too large"),
    ],
)
async def test_a_server_that_fails_is_named_once_and_the_turn_ends(
    opened: Spawn, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault, words: str
) -> None:
    if words.startswith("it did not"):  # those are waited for to the end
        monkeypatch.setattr(language_server, "START_SECONDS", 0.3 if fault == "deaf" else 30.0)
        monkeypatch.setattr(diagnosis, "ANSWER_SECONDS", 0.3)
    environment = machine()
    log = put(fault, folder=tmp_path / "programs")
    turns = [turn(call("write_file", path="a.py", content=f"wrong {number}\n")) for number in range(3)]
    script = Script(*(step for one in turns for step in (one, turn(say("done")))))
    async with opened(script=script, config=EDIT, env=environment) as editor:
        outcomes = [await editor.prompt("go") for _ in turns]
    assert [outcome.text for outcome in outcomes] == ["done"] * 3
    thoughts = "".join(outcome.thoughts for outcome in outcomes)
    assert thoughts.count("What this turn changed was not checked by pyright-langserver") == 1
    assert words in thoughts
    assert len(log.read_text().split()) == 2  # after two failures the session does without it


@pytest.mark.parametrize("fault", ["null", "nonsense"])
async def test_an_answer_without_sense_holds_nothing(
    opened: Spawn, machine: Machine, tmp_path: Path, fault: Fault
) -> None:
    environment = machine()
    put(fault, folder=tmp_path / "programs")
    async with opened(script=Script(WRONG, turn(say("done"))), config=EDIT, env=environment) as editor:
        outcome = await editor.prompt("go")
    assert (outcome.text, outcome.thoughts) == ("done", "")


async def test_cancelling_the_prompt_ends_a_check_that_waits(opened: Spawn, machine: Machine, tmp_path: Path) -> None:
    environment = machine()
    log = put("silent", folder=tmp_path / "programs")
    async with opened(script=Script(WRONG, turn(say("done"))), config=EDIT, env=environment) as editor:
        prompt = await editor.start_prompt("go")
        await eventually(lambda: bool(log.read_text()), what="the server")
        await editor.cancel()
        assert (await prompt.outcome()).stop_reason == "cancelled"


async def test_a_session_is_closed_while_a_server_is_still_starting(
    opened: Spawn, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    log = put("deaf", folder=tmp_path / "programs")
    async with opened(script=Script(WRONG, turn(say("done"))), config=EDIT, env=environment) as editor:
        prompt = await editor.start_prompt("go")
        await eventually(lambda: bool(log.read_text()), what="the server")
        await editor.request("session/close", {"sessionId": editor.session})
        assert (await prompt.outcome()).stop_reason == "cancelled"
        assert not is_alive(int(log.read_text()))


async def test_without_repair_no_server_starts(opened: Spawn, machine: Machine, tmp_path: Path) -> None:
    environment = machine(repair="off")
    log = put("none", folder=tmp_path / "programs")
    async with opened(script=Script(WRONG, turn(say("done"))), config=EDIT, env=environment) as editor:
        assert (await editor.prompt("go")).text == "done"
    assert log.read_text() == ""


async def test_a_turn_that_changes_nothing_starts_no_server(opened: Spawn, machine: Machine, tmp_path: Path) -> None:
    environment = machine()
    log = put("none", folder=tmp_path / "programs")
    async with opened(script=Script(turn(say("hello"))), config=EDIT, env=environment) as editor:
        assert (await editor.prompt("go")).text == "hello"
    assert log.read_text() == ""


async def test_after_three_rounds_the_turn_ends_and_says_what_is_left(
    opened: Spawn, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    script = Script(
        *(
            step
            for number in range(4)
            for step in (turn(call("write_file", path="a.py", content=f"wrong {number}\n")), turn(say(f"{number}")))
        )
    )
    async with opened(script=script, config=EDIT, env=environment) as editor:
        outcome = await editor.prompt("go")
    assert outcome.text == "0123"
    assert "A new problem is left in what this turn changed" in outcome.thoughts
    assert "a.py:1:1 error it is wrong 3" in outcome.thoughts
    assert len([tool for tool in outcome.calls if tool["name"] == "diagnostics"]) == 3


async def test_a_model_that_lets_a_problem_be_is_not_shown_it_again(
    opened: Spawn, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    script = Script(WRONG, turn(say("done")), turn(expect("a.py:1:1 error it is wrong"), say(", and it stays")))
    async with opened(script=script, config=EDIT, env=environment) as editor:
        outcome = await editor.prompt("go")
    assert outcome.text == "done, and it stays"
    assert "A new problem is left in what this turn changed" in outcome.thoughts


async def test_problems_that_were_there_before_the_turn_are_not_shown(
    opened: Spawn, project: Path, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    (project / "a.py").write_text("wrong already\n")
    script = Script(turn(call("write_file", path="a.py", content="moved\nwrong already\n")), turn(say("done")))
    async with opened(script=script, config=EDIT, env=environment) as editor:
        outcome = await editor.prompt("go")
    assert (outcome.text, outcome.thoughts, len(outcome.calls)) == ("done", "", 1)


async def test_a_file_that_was_moved_brings_its_problems_along(
    opened: Spawn, project: Path, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    (project / "a.py").write_text("wrong already\n")
    script = Script(turn(call("shell", command="mkdir sub && mv a.py sub/b.py")), turn(say("done")))
    async with opened(script=script, config='mode = "auto"', env=environment) as editor:
        outcome = await editor.prompt("go")
    assert (outcome.text, outcome.thoughts, len(outcome.calls)) == ("done", "", 1)


async def test_what_a_command_has_changed_is_checked_too(
    opened: Spawn, project: Path, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    (project / "a.py").write_text("fine\n")
    script = Script(
        turn(call("shell", command="sed -i s/fine/wrong/ a.py")),
        turn(say("done")),
        turn(expect("a.py:1:1 error it is wrong"), say(" then")),
    )
    async with opened(script=script, config='mode = "auto"', env=environment) as editor:
        assert (await editor.prompt("go")).text == "done then"


async def test_a_server_inside_the_project_runs_only_if_a_person_agrees(
    opened: Spawn, project: Path, machine: Machine
) -> None:
    environment = machine()
    own = project / ".venv/bin"
    own.mkdir(parents=True)
    log = put("none", folder=own)
    environment["PATH"] = f"{own}:{environment['PATH']}"
    edit = [WRONG, turn(say("done")), turn(call("write_file", path="a.py", content="wrong 2\n")), turn(say("done"))]
    rules = '[permissions]\nallow = ["shell(pyright-langserver *)"]'  # means the one that a person has installed
    async with opened(script=Script(*edit), config=f"{EDIT}\n{rules}", env=environment) as editor:
        editor.will_answer("reject_once")
        first = await editor.prompt("go")
        assert (first.text, first.calls[-1]["title"]) == ("done", "Check what was changed with pyright-langserver")
        editor.will_answer()  # a no holds for the session: another question would fail
        assert (await editor.prompt("go")).text == "done"
    assert log.read_text() == ""


async def test_sessions_in_a_folder_share_a_server_that_ends_with_the_last_of_them(
    opened: Spawn, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    log = put("none", folder=tmp_path / "programs")
    script = Script(turn(call("shell", command="echo fine >> a.py")), turn(say("done")), loop=True)
    async with opened(script=script, config='mode = "auto"', env=environment) as editor:
        first = editor.session
        await editor.prompt("go")
        await editor.new_session()
        await editor.prompt("go")
        await editor.request("session/close", {"sessionId": first})
        await editor.prompt("go")
        [server] = [int(line) for line in log.read_text().split()]
        assert is_alive(server)
        await editor.request("session/close", {"sessionId": editor.session})
        assert not is_alive(server)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_settings_that_cannot_be_looked_at_are_none(
    opened: Spawn, project: Path, machine: Machine, tmp_path: Path
) -> None:
    environment = machine()
    put("none", folder=tmp_path / "programs")
    (project / "ruff.toml").symlink_to("x" * 300 + "/y")
    script = Script(WRONG, turn(say("done")), turn(expect("a.py:1:1 error it is wrong"), say(", yes")))
    async with opened(script=script, config=EDIT, env=environment) as editor:
        assert (await editor.prompt("go")).text == "done, yes"


HOSTILE = """#!/bin/sh
touch "$HOME/planted" "{outside}/planted"
grep -c : /proc/net/dev > "{project}/networks"
"""


@pytest.mark.parametrize("sandbox", ["on", "off"])
async def test_a_server_runs_in_the_sandbox_of_commands_unless_that_is_switched_off(
    opened: Spawn, project: Path, machine: Machine, tmp_path: Path, sandbox: str
) -> None:
    if sandbox_of_this_machine(cache=tmp_path / "cache") is None:
        pytest.skip("no sandbox works on this machine")
    environment = machine() | {"CLAW_ACP_SANDBOX": sandbox}
    outside = tmp_path / "programs"
    server = outside / "pyright-langserver"
    server.write_text(HOSTILE.format(outside=outside, project=project))
    server.chmod(0o755)
    async with opened(script=Script(WRONG, turn(say("done"))), config=EDIT, env=environment) as editor:
        outcome = await editor.prompt("go")
    assert "was not checked by pyright-langserver" in outcome.thoughts
    assert (outside / "planted").exists() is (sandbox == "off")
    assert sandbox == "off" or (project / "networks").read_text() == "1\n"  # loopback
