"""Servers with bad habits: a session never waits for them, never dies of them, and people are told once."""

import os
from pathlib import Path

import pytest

from tests.mcp.support import AUTO, NOTICES, commands, configured, heard, log_lines, notice, notices, raw, ready
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, expect, say, turn

TALK = Script(turn(say("hello")), loop=True)
ECHO = Script(turn(call("raw__echo", text="hi")), turn(say("done")), loop=True)


@pytest.mark.parametrize(
    ("server", "reason", "advice"),
    [
        ({"command": "no-such-program-anywhere"}, "no program no-such-program-anywhere on the PATH", "full path"),
        ({"command": "/no/such/program"}, "there is no /no/such/program", "Correct its command"),
        ({"command": "/etc/passwd"}, "may not be executed", "permissions"),
        ({"command": "/bin/sh", "args": ["-c", "echo out of cheese >&2; exit 4"]}, "ended with code 4", ""),
        ({"command": "/bin/sh", "args": ["-c", "echo out of cheese >&2; exit 4"]}, "It said: out of cheese", ""),
        ({"command": "/bin/sh", "args": ["-c", "echo Usage: something else"]}, "It printed: Usage: something", ""),
        ({"command": "/bin/sh", "args": ["-c", "kill -SEGV $$"]}, "was ended by SIGSEGV", ""),
        ({"command": "/bin/sh", "args": ["-c", "exec >&-; sleep 300"]}, "closed the connection", ""),
        ({"command": "a\0b"}, "NUL character", "Correct its settings"),
        (
            {"command": "/bin/true", "env": [{"name": "A=B", "value": "c"}]},
            "something impossible",
            "Correct its settings",
        ),
        ({"command": "/bin/true", "args": ["\ud800"]}, "something impossible", "Correct its settings"),
    ],
)
async def test_a_server_that_does_not_start_is_one_notice_and_one_line_in_the_log(
    spawn: Spawn, home: Path, server: Json, reason: str, advice: str
) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"name": "broken one", "args": [], "env": [], **server}])
        told = await notice(editor)
        assert (await editor.prompt("hi")).text == "hello"
        assert len(notices(editor)) == 1
    assert (told["severity"], told["title"]) == ("warning", "The MCP server broken one is not available")
    assert reason in told["description"]
    assert advice in told["description"]
    assert [line["server"] for line in log_lines(home, "MCP server failed")] == ["broken one"]


@pytest.mark.parametrize(
    ("habit", "reason"),
    [
        ({"refuses": "initialize"}, "refused: the moon is in the wrong house"),
        ({"refuses": "tools/list"}, "refused: the moon is in the wrong house"),
        ({"version": "1999-01-01"}, "Unsupported protocol version"),
        ({"dies_at": "initialize"}, "ended with code 3"),
        ({"invalid_at": "initialize"}, "refused: the answer is not valid JSON-RPC"),
        ({"huge_at": "initialize"}, "the answer is too large"),
        ({"tools": [{"name": "a"}]}, "does not speak MCP as it should: tools.4.inputSchema: Field required"),
    ],
)
async def test_a_server_that_starts_wrongly_is_told_with_its_reason(spawn: Spawn, habit: Json, reason: str) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **habit)])
        assert reason in (await notice(editor))["description"]
        assert (await editor.prompt("hi")).text == "hello"


@pytest.mark.parametrize("method", ["initialize", "tools/list"])
async def test_a_server_that_hangs_at_its_start_is_given_up(spawn: Spawn, method: str) -> None:
    config = configured(hangs_at=method, says="waiting for a password", more="start_timeout = 1.5")
    async with spawn(script=TALK, capabilities=NOTICES, config=config) as editor:
        await editor.initialize()
        await editor.new_session()
        told = await notice(editor)
        assert "did not say what it offers within 1.5 s. It said: waiting for a password" in told["description"]
        await eventually(lambda: not editor.process.children(), what="an end of the server")
        assert (await editor.prompt("hi")).text == "hello"


async def test_a_first_prompt_does_not_wait_for_a_server_that_hangs(spawn: Spawn) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, hangs_at="initialize")])
        assert (await editor.prompt("hi")).text == "hello"
        assert notices(editor) == []


async def test_a_server_that_hangs_keeps_nobody_from_another(spawn: Spawn) -> None:
    script = Script(turn(call("well__echo", text="hi")), turn(expect("hi"), say("done")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        hanging = [raw(editor, f"hangs{number}", hangs_at="initialize") for number in range(3)]
        await editor.new_session(mcpServers=[*hanging, raw(editor, "well")])
        await ready(editor, "well")
        assert (await editor.prompt("go")).text == "done"


@pytest.mark.parametrize("habit", [{"garbage": 500}, {"floods": 3_000_000}])
async def test_noise_is_passed_over(spawn: Spawn, habit: Json) -> None:
    async with spawn(script=ECHO, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **habit)])
        await ready(editor)
        outcome = await editor.prompt("go")
        assert notices(editor) == []
    assert [shown_text(tool) for tool in outcome.calls] == ["hi"]


@pytest.mark.parametrize(
    ("habit", "told"),
    [
        ({"refuses": "tools/call"}, "the moon is in the wrong house"),
        ({"invalid_at": "tools/call"}, "the answer is not valid JSON-RPC"),
        ({"huge_at": "tools/call"}, "the answer is too large"),
        ({"dies_at": "tools/call"}, "Whether it did anything is not known"),
    ],
)
async def test_a_call_that_goes_wrong_is_an_error_for_the_model(spawn: Spawn, habit: Json, told: str) -> None:
    async with spawn(script=ECHO, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **habit)])
        await ready(editor)
        outcome = await editor.prompt("go")
    [tool] = outcome.calls
    assert (tool["status"], outcome.text) == ("failed", "done")
    assert told in shown_text(tool)


async def test_an_answer_to_nobody_is_no_answer(spawn: Spawn) -> None:
    config = AUTO + configured(wrong_id_at="tools/call", more="timeout = 0.5")
    async with spawn(script=ECHO, config=config) as editor:
        await editor.initialize()
        await editor.new_session()
        await ready(editor)
        outcome = await editor.prompt("go")
    assert "did not answer within 0.5 s" in shown_text(outcome.calls[0])


async def test_a_server_that_dies_is_started_again_and_used(spawn: Spawn) -> None:
    script = Script(
        turn(call("raw__echo", text="one")),
        turn(say("first")),
        turn(call("raw__echo", text="two")),
        turn(say("second")),
    )
    async with spawn(script=script, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, dies_at="tools/call", deaths=1)])
        await ready(editor)
        first = await editor.prompt("go")
        editor.will_answer("allow_once")
        second = await editor.prompt("again")  # waits until it is there again
        assert notices(editor) == []
        assert "raw:ready" in commands(editor)
        assert len({entry["pid"] for entry in heard(editor)}) == 2
    assert [tool["status"] for tool in first.calls] == ["failed"]
    assert [shown_text(tool) for tool in second.calls] == ["two"]


async def test_a_server_that_dies_again_and_again_is_off_with_a_notice(spawn: Spawn, home: Path) -> None:
    script = Script(turn(call("raw__echo", text="x")), turn(expect("There is no tool named raw__echo"), say("done")))
    async with spawn(script=script, config=AUTO, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, dies_after="prompts/list")])
        told = await notice(editor)
        assert len([entry for entry in heard(editor) if entry.get("event") == "started"]) == 4
        assert "raw:ready" not in commands(editor)
        assert (await editor.prompt("go")).text == "done"
        assert len(notices(editor)) == 1
    assert "ended with code 3" in told["description"]
    assert [line["again"] for line in log_lines(home, "MCP server failed")] == [True, True, True, False]


async def test_a_given_up_server_is_tried_again_when_the_session_is_opened_anew(spawn: Spawn) -> None:
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        server = raw(editor, dies_at="initialize", deaths=1)
        await editor.new_session(mcpServers=[server])
        await notice(editor)
        await editor.load(editor.session, mcpServers=[server])
        await ready(editor)


async def test_what_a_failure_quotes_holds_no_secret(spawn: Spawn) -> None:
    secret = "hunter2-hunter2-hunter2"
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        script = "echo cannot log in with $API_TOKEN >&2; exit 1"
        env = [{"name": "API_TOKEN", "value": secret}]
        await editor.new_session(
            mcpServers=[{"name": "leaky", "command": "/bin/sh", "args": ["-c", script], "env": env}]
        )
        told = await notice(editor)
    assert "cannot log in with hunt[redacted]" in told["description"]
    assert secret not in str(told)


async def test_a_client_without_notices_is_told_in_the_next_turn(spawn: Spawn, home: Path) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[{"name": "gone", "command": "/no/such/program", "args": [], "env": []}])
        await eventually(lambda: bool(log_lines(home, "MCP server failed")), what="a failure")
        outcome = await editor.prompt("hi")
        assert "The MCP server gone is not available" in outcome.thoughts
        assert (await editor.prompt("hi")).thoughts == ""


async def test_a_missing_variable_of_a_configured_server_is_told(spawn: Spawn) -> None:
    config = '\n[mcp.tool]\ncommand = "x"\nenv = { TOKEN = "env:NOWHERE_TO_BE_FOUND" }\n'
    async with spawn(script=TALK, capabilities=NOTICES, config=config) as editor:
        await editor.initialize()
        await editor.new_session()
        told = await notice(editor)
    assert "NOWHERE_TO_BE_FOUND" in told["description"]
    assert "Correct mcp.tool.env.TOKEN in config.toml" in told["description"]


async def test_where_servers_have_very_many_tools_the_model_finds_those_it_needs(spawn: Spawn) -> None:
    many = [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(150)]
    script = Script(turn(call("find_tools", query="raw__t149")), turn(call("raw__t149")), turn(say("done")))
    async with spawn(script=script, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, tools=many)])
        await ready(editor)
        editor.will_answer("allow_once")
        outcome = await editor.prompt("go")
        assert [each["status"] for each in outcome.calls] == ["completed", "completed"]
        assert shown_text(outcome.calls[0]).startswith("Found and ready to be called: raw__t149\n")
        assert notices(editor) == []


async def test_a_tool_that_answers_only_to_tasks_is_not_offered(spawn: Spawn) -> None:
    task = {"name": "later", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}}
    async with spawn(script=Script(turn(call("raw__later")), turn(say("done"))), capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, tools=[task])])
        await ready(editor)
        outcome = await editor.prompt("go")
        assert notices(editor) == []
    assert "There is no tool named raw__later" in shown_text(outcome.calls[0])


async def test_a_library_that_cannot_be_loaded_is_told(spawn: Spawn) -> None:
    broken = "import sys; sys.modules['mcp'] = None; from claw_acp.acp.boot import main; sys.exit(main())"
    async with spawn(script=TALK, capabilities=NOTICES, python=("-c", broken)) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        assert "the library for it cannot be loaded" in (await notice(editor))["description"]
        assert (await editor.prompt("hi")).text == "hello"


async def test_a_directory_that_is_gone_is_told(spawn: Spawn, home: Path) -> None:
    config = f'\n[mcp.tool]\ncommand = "x"\ncwd = "{home}/nowhere"\n'
    async with spawn(script=TALK, capabilities=NOTICES, config=config) as editor:
        await editor.initialize()
        await editor.new_session()
        assert "nowhere, which is no directory" in (await notice(editor))["description"]


@pytest.mark.spawned
@pytest.mark.skipif(not os.path.isdir("/proc") or os.geteuid() != 0, reason="only root may look into the agent")  # noqa: PTH112 - evaluated at import
async def test_twenty_sessions_leave_no_process_and_no_descriptor(spawn: Spawn, home: Path) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor), raw(editor, "gone", dies_at="start")])
        await ready(editor)
        await eventually(lambda: bool(log_lines(home, "MCP server failed")), what="an open log")
        await editor.request("session/close", {"sessionId": editor.session})

        def descriptors() -> int:
            return len(os.listdir(f"/proc/{editor.process.pid}/fd"))  # noqa: PTH208 - only their number

        before = descriptors()
        for _ in range(20):
            await editor.new_session(mcpServers=[raw(editor)])
            await ready(editor)
            await editor.request("session/close", {"sessionId": editor.session})
        assert not editor.process.children()
        assert descriptors() <= before
