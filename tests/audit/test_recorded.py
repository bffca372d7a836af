"""What the program does is in the audit log: before it is done, with who, what, why and how it ended."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from claw_acp.audit.files import AuditFiles
from claw_acp.audit.log import AuditUnwritable
from claw_acp.cli.audit import command
from claw_acp.cli.serve import access
from claw_acp.contracts.provider_setup import ProviderProgram
from claw_acp.core.environment import working_in
from claw_acp.providers.binary.child import start_plugin
from claw_acp.providers.binary.failures import Failures
from tests.mcp.support import raw, ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import shown_text
from tests.support.editors.shared_house import GuestV2, SharedHouse
from tests.support.script_files import Script, call, say, turn

KEY = "sk-ant-api03-Q7Zt0YvX3mKp5RwLd7NcHb2JgFsEaU8iO6oPlM4kQj1WnB9tVyCxRzDf8GhSeTuIpLmNbVcXz-AA"
READS = call("read_file", path="a.txt")
TOUCH = call("shell", command=f"touch made # {KEY}")


def recorded(home: Path) -> list[dict[str, Any]]:
    lines = AuditFiles(home / "claw" / "audit").current.read_bytes().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("version", [1, 2])
async def test_a_call_is_recorded_with_its_answer_and_outcome_and_without_keys(
    project: Path, home: Path, version: int
) -> None:
    (project / "a.txt").write_text("hello\n")
    script = Script(turn(READS, TOUCH), turn(say("done")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guest = await house.visit(client="Zed") if version == 1 else await house.visit_2()
        await guest.new_session()
        guest.will_answer("allow_always")
        if isinstance(guest, GuestV2):
            await guest.insert("go")
            await guest.wait_for_state("idle")
        else:
            await guest.prompt("go")
    lines = recorded(home)
    assert [line["kind"] for line in lines] == ["call", "outcome", "rules", "permission", "call", "outcome"]
    read, read_end, rules, answer, ran, ended = lines
    assert (read["tool"], read["decision"], read["mode"], read["arguments"]) == (
        "read_file",
        "allow",
        "ask",
        {"path": "a.txt"},
    )
    assert (read_end["status"], read_end["call"]) == ("completed", read["call"])
    assert (rules["change"], rules["project"]) == ("allow", str(project))
    assert (answer["answer"], answer["call"], bool(answer["by"])) == ("allow_always", ran["call"], True)
    assert (ran["decision"], ran["rule"] is not None, ended["status"]) == ("allow", True, "completed")
    assert ran["sandbox"]
    assert {line["session"] for line in lines if "session" in line} == {guest.session}
    assert KEY not in json.dumps(lines)


async def test_a_refused_call_and_a_change_of_mode_are_recorded(project: Path, home: Path) -> None:
    script = Script(turn(TOUCH), turn(say("done")), loop=True)
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guest = await house.visit(client="Zed")
        await guest.new_session()
        guest.will_answer("reject_once")
        await guest.prompt("go")
        await guest.request("session/set_mode", {"sessionId": guest.session, "modeId": "plan"})
        await guest.prompt("again")
    answer, refused, mode, forbidden = recorded(home)
    assert (answer["kind"], answer["answer"]) == ("permission", "reject_once")
    assert (refused["kind"], refused["status"], "Rejected" in refused["reason"]) == ("outcome", "not run", True)
    assert (mode["kind"], mode["before"], mode["mode"], mode["by"]) == ("mode", "ask", "plan", "Zed")
    assert (forbidden["status"], "Plan mode" in forbidden["reason"]) == ("not run", True)


async def test_the_end_of_a_process_is_signed(opened: Spawn, home: Path) -> None:
    script = Script(turn(READS), turn(say("done")))
    async with opened(script=script) as editor:
        await editor.prompt("go")
        checkpoints = home / "claw" / "audit-checkpoints.jsonl"
        assert not checkpoints.exists()
    files = AuditFiles(home / "claw" / "audit", checkpoints=checkpoints)
    assert files.last_checkpoint() == files.tail().head.seq == len(recorded(home)) > 0


async def test_programs_that_work_for_a_session_are_recorded_by_name_and_without_their_arguments(
    spawn: Spawn, home: Path
) -> None:
    script = Script(turn(say("done")))
    async with spawn(script=script) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
    [started] = [line for line in recorded(home) if line["kind"] == "program"]
    told = {name: started[name] for name in ("role", "name", "program", "session")}
    assert told == {"role": "MCP server", "name": "raw", "program": sys.executable, "session": editor.session}
    assert "raw_server.py" not in json.dumps(started)


async def test_a_provider_program_is_recorded_and_is_not_started_where_that_fails(home: Path, tmp_path: Path) -> None:
    sign = tmp_path / "ran"
    program = ProviderProgram(command="sh", args=("-c", 'touch "$0"', str(sign), KEY))
    failures = Failures("mine", command="sh", timeout=20)
    with working_in({"CLAW_ACP_HOME": str(home / "claw"), "PATH": "/usr/bin:/bin"}):
        child = await start_plugin(program, failures=failures)
        await child.end(leave=10)
        [started] = recorded(home)
        assert (started["role"], started["name"], started["program"]) == ("provider program", "mine", "sh")
        assert KEY not in json.dumps(started)
        sign.unlink()
        log = AuditFiles(home / "claw" / "audit").current
        log.unlink()
        log.mkdir()
        with pytest.raises(AuditUnwritable):
            await start_plugin(program, failures=failures)
    assert not sign.exists()


async def test_nothing_runs_that_cannot_be_recorded(opened: Spawn, project: Path, home: Path) -> None:
    (home / "claw" / "audit" / "audit.jsonl").mkdir(parents=True)
    script = Script(turn(call("write_file", path="made", content="x")), turn(say("done")))
    async with opened(script=script, env={"CLAW_ACP_MODE": "edit"}) as editor:
        failure = await (await editor.start_prompt("go")).failure()
    assert (failure.code, "the audit log cannot be written" in failure.message) == (-31024, True)
    assert not (project / "made").exists()


async def test_who_says_so_works_without_the_record(opened: Spawn, project: Path, home: Path) -> None:
    (home / "claw" / "audit" / "audit.jsonl").mkdir(parents=True)
    script = Script(turn(call("write_file", path="made", content="x")), turn(say("done")))
    config = '[audit]\nuse = "tolerant"\n'
    async with opened(script=script, config=config, env={"CLAW_ACP_MODE": "edit"}) as editor:
        assert (await editor.prompt("go")).text == "done"
    assert (project / "made").exists()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_file", {"path": "LOG"}),
        ("write_file", {"path": "LOG", "content": ""}),
        ("shell", {"command": "echo '{}' >> LOG"}),
        ("shell", {"command": "cat LOG"}),
        ("shell", {"command": "rm -r $(dirname LOG)"}),
    ],
)
async def test_no_tool_reaches_the_log(opened: Spawn, home: Path, tool: str, arguments: dict[str, str]) -> None:
    target = str(home / "claw" / "audit" / "audit.jsonl")
    arguments = {name: value.replace("LOG", target) for name, value in arguments.items()}
    script = Script(turn(READS), turn(call(tool, **arguments)), turn(say("done")))
    async with opened(script=script, env={"CLAW_ACP_MODE": "auto"}) as editor:
        editor.will_answer("reject_once")
        outcome = await editor.prompt("go")
    refused = ("belongs to the agent's own configuration and records", "Rejected")
    assert any(words in shown_text(outcome.calls[-1]) for words in refused)


async def test_the_command_shows_filters_verifies_and_exports(
    opened: Spawn, project: Path, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    (project / "a.txt").write_text("hello\n")
    async with opened(script=Script(turn(READS, call("glob", pattern="*")), turn(say("done")))) as editor:
        await editor.prompt("go")
    monkeypatch.setenv("CLAW_ACP_HOME", str(home / "claw"))
    assert access.token(["add", "phone", "--scope", "read"]) == 0
    capsys.readouterr()
    assert command.main(["show", "--tool", "read_file"]) == 0
    assert [line.split()[2] for line in capsys.readouterr().out.splitlines()] == ["call", "outcome"]
    assert command.main(["export", "--since", "1h"]) == 0
    kinds = [json.loads(line)["kind"] for line in capsys.readouterr().out.splitlines()]
    assert sorted(kinds) == ["call", "call", "outcome", "outcome", "token"]
    copy = tmp_path / "copy"
    assert command.main(["export", "--to", str(copy)]) == 0
    key = capsys.readouterr().out.split()[-1]
    assert command.main(["verify"]) == command.main(["verify", "--in", str(copy), "--key", key]) == 0
    assert f"5 lines are what was written, up to number 5. Signed by the key {key}." in capsys.readouterr().out
    log = copy / "audit.jsonl"
    log.write_bytes(log.read_bytes().replace(b"glob", b"grep"))
    assert command.main(["verify", "--in", str(copy), "--key", key]) == 1
    assert "is not what was written" in capsys.readouterr().err
