"""Programs that misbehave on the attach protocol: they are told, bounded and let go, and harm nobody else."""

import json
from typing import Any

import anyio
import pytest

from claw_acp.contracts import endpoint
from claw_acp.contracts.endpoint import MOST_CALLS, MOST_MALFORMED, MOST_TOOLS
from claw_acp.contracts.schedule import RunResult
from claw_acp.endpoints import endpoint as connection
from claw_acp.endpoints.firing import AT_ONCE
from tests.endpoints.program import COUNT, TIMEOUT, Json, Program, host


def greeting(**changes: Any) -> bytes:
    """An answer to `initialize`, with other members."""
    result = {"protocolVersion": 1, "role": "tools", "endpointInfo": {"name": "p", "version": "1"}, **changes}
    return json.dumps({"jsonrpc": "2.0", "id": 0, "result": result}).encode() + b"\n"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b"Listening on port 80\n", "the first line has to be the answer"),
        (b'{"jsonrpc":"2.0","id":7,"result":{}}\n', "with its id 0"),
        (b'{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}\n', "has to have a `result`"),
        (b'{"jsonrpc":"2.0","id":0,"result":{"name":"x"}}\n', "has to name a `role`"),
        (b'{"jsonrpc":"2.0","id":0,"result":"' + b"x" * 10_000_000 + b'"}\n', "too long: 10,000,0"),
        (greeting(role="king"), 'the role "king" is unknown'),
        (greeting(role="editor"), "on the hub's socket only"),
        (greeting(role="channel"), "does not serve it yet"),
        (greeting(role="peripheral"), "does not serve it yet"),
        (greeting(protocolVersion=2), "version 2 of the protocol is not spoken here"),
        (greeting(protocolVersion="new"), "protocolVersion: Input should be a valid integer"),
        (greeting(endpointInfo={"name": "a\u200bb"}), "endpointInfo.name"),
        (greeting(endpointInfo={"name": ""}), "endpointInfo.name"),
        (greeting(endpointInfo={}), "endpointInfo.name: Field required"),
    ],
)
async def test_a_program_that_cannot_be_served_is_told_why(sent: bytes, words: str) -> None:
    async with host().attach() as program:
        await program.receive()
        await program.send_bytes(sent)
        last = await program.hear_all()
    assert (last["method"], last["params"]["reason"]) == ("closing", "refused")
    assert words in last["params"]["message"]


async def test_a_program_that_says_nothing_or_leaves_in_the_greeting_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("claw_acp.endpoints.greeting.ANSWER_TIMEOUT", 0.01)
    house = host()
    async with house.attach() as program:
        last = await program.hear_all()
    assert "no answer to `initialize`" in last["params"]["message"]
    async with house.attach() as program:
        await program.stream.send_eof()
        await program.hear_all()
    assert house.programs.rows() == []


# ------------------------------------------------------------------ tools

SCHEMA = COUNT["inputSchema"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "wörd"}, "tools.0.name"),
        ({"name": "word\u200b_count"}, "tools.0.name"),
        ({"name": "a" * 56}, "tools.0.name"),
        ({"name": ""}, "tools.0.name"),
        ({"description": ""}, "tools.0.description"),
        ({"inputSchema": "text"}, "tools.0.inputSchema"),
        ({"timeout": 0}, "tools.0.timeout"),
        ({"timeout": "long"}, "tools.0.timeout"),
    ],
)
async def test_a_tool_that_is_described_wrongly_is_refused_with_its_place(changes: Json, words: str) -> None:
    async with host().attach() as program:
        await program.introduce()
        answer = await program.request("tools/register", tools=[{**COUNT, **changes}])
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"].startswith(words)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({}, '"type": "object"'),
        ({"type": "string"}, '"type": "object"'),
        ({"type": "object", "properties": {"a": {"type": "wish"}}}, "no JSON Schema: properties.a.type"),
        ({"type": "object", "properties": {"a": {"minimum": "1"}}}, "no JSON Schema: properties.a.minimum"),
        ({"type": "object", "required": ["a b"], "properties": {"a b": {}}}, "a name that models cannot use"),
        ({"type": "object", "description": "x" * 50_000}, "longer than"),
        (json.loads('{"type":"object","not":' + '{"not":' * 900 + "{}" + "}" * 900 + "}"), "nested too deeply"),
    ],
)
async def test_a_schema_that_cannot_be_used_refuses_its_tool_only(schema: Json, words: str) -> None:
    async with host().attach() as program:
        await program.introduce()
        result = await program.lend({**COUNT, "name": "bad", "inputSchema": schema}, COUNT)
    assert [row["name"] for row in result["registered"]] == ["word_count"]
    [refused] = result["refused"]
    assert refused["name"] == "bad"
    assert words in refused["reason"]


async def test_ten_thousand_tools_are_refused_and_so_is_one_more_than_fit() -> None:
    house = host()
    async with house.attach() as program:
        await program.introduce()
        many = [{**COUNT, "name": f"t{number}"} for number in range(10_000)]
        assert "tools" in (await program.request("tools/register", tools=many))["error"]["message"]
        assert (await program.lend(*many[:MOST_TOOLS]))["refused"] == []
        [refused] = (await program.lend(many[MOST_TOOLS]))["refused"]
        assert "tools are lent already" in refused["reason"]
        assert len(house.programs.rows()[0]["tools"]) == MOST_TOOLS  # type: ignore[arg-type]


async def test_a_tool_never_has_the_name_of_another() -> None:
    house = host()
    async with house.attach() as first, house.attach() as second:
        await first.introduce()
        await second.introduce(endpointInfo={"name": "other", "version": "1"})
        result = await first.lend({**COUNT, "name": "shell"})
        assert result["registered"] == [{"name": "shell", "knownAs": "remote__shell"}]
        [refused] = (await second.lend({**COUNT, "name": "shell"}))["refused"]
        assert "another program (counter)" in refused["reason"]
        assert (await first.lend({**COUNT, "name": "shell"}))["refused"] == []
        assert (await first.request("tools/unregister", names=["shell", "none"]))["result"] == {}
        assert (await second.lend({**COUNT, "name": "shell"}))["refused"] == []


async def test_a_scope_is_one_session_or_one_folder() -> None:
    async with host().attach() as program:
        await program.introduce()
        for scope, words in (({"session": "s", "folder": "/f"}, "not both"), ({"folder": "f"}, "absolute path")):
            answer = await program.request("tools/register", tools=[COUNT], scope=scope)
            assert words in answer["error"]["message"]


# ------------------------------------------------------------------ connections


async def test_a_program_that_attaches_again_replaces_its_older_connection() -> None:
    house = host()
    async with house.attach() as older, house.attach() as newer, house.attach() as another:
        for program, instance in ((older, "a"), (another, "b"), (newer, "a")):
            info = {"name": "counter", "version": "1", "instance": instance}
            await program.introduce(endpointInfo=info)
            await program.lend({**COUNT, "name": f"count_{instance}"})
        last = await older.hear_all()
        assert last["params"]["reason"] == "replaced"
        assert sorted(row["tools"] for row in house.programs.rows()) == [["remote__count_a"], ["remote__count_b"]]  # type: ignore[type-var]


async def test_of_connections_that_replace_each_other_in_a_row_the_last_one_stays() -> None:
    house = host()
    async with house.attach() as first, house.attach() as second, house.attach() as third:
        await first.introduce()
        await first.request("ping")
        await second.introduce()
        await third.introduce()
        assert (await second.hear_all())["params"]["reason"] == "replaced"
        await third.lend()
        assert len(house.programs.rows()) == 1


async def test_a_program_that_prints_garbage_is_let_go() -> None:
    async with host().attach() as program:
        await program.introduce()
        await program.send_bytes(b"Warning: something\n" * MOST_MALFORMED)
        last = await program.hear_all()
    assert last["params"]["reason"] == "malformed"


async def test_ten_megabytes_in_one_line_are_dropped_and_the_next_line_counts() -> None:
    async with host().attach() as program:
        await program.introduce()
        await program.send_bytes(
            b'{"jsonrpc":"2.0","method":"log","params":{"message":"' + b"x" * 10_000_000 + b'"}}\n'
        )
        assert (await program.request("ping"))["result"] == {}


async def test_a_program_that_does_not_answer_pings_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PING_EVERY", 0.01)
    monkeypatch.setattr(connection, "PING_TIMEOUT", 0.01)
    async with host().attach() as program:
        await program.introduce()
        with anyio.fail_after(TIMEOUT):
            data = b""
            while b"closing" not in data:
                data += await program.stream.receive()
    assert b'"reason":"unresponsive"' in data.replace(b'": "', b'":"')


async def test_a_flood_of_log_lines_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    async with host().attach() as program:
        await program.introduce()
        for _ in range(endpoint.LOG_LINES + 50):
            await program.send(method="log", params={"level": "info", "message": "\x1b[2Jhello"})
        await program.request("ping")
    kept = [record for record in caplog.records if record.message == "an attached program says"]
    assert len(kept) == endpoint.LOG_LINES
    assert kept[0].__dict__["text"] == "\\x1b[2Jhello"
    assert [record.__dict__["count"] for record in caplog.records if "were dropped" in record.message] == [50]


async def test_methods_of_other_roles_do_not_exist_for_a_lender() -> None:
    async with host().attach() as program:
        await program.introduce()
        for method in ("session/new", "schedule/fire", "sessions/list", "initialize"):
            assert (await program.request(method))["error"]["code"] == -32601


async def test_a_program_learns_that_it_is_heard() -> None:
    async with host().attach() as program:
        await program.introduce()
        assert (await program.request("ping"))["result"] == {}
        assert Program is type(program)


async def test_schemas_that_take_long_to_check_keep_nobody_waiting() -> None:
    properties = {f"p{number}": {"type": "string", "enum": ["a", "b"]} for number in range(250)}
    schema = {"type": "object", "properties": properties}
    async with host().attach() as program:
        await program.introduce()
        tools = [{**COUNT, "name": f"t{number}", "inputSchema": schema} for number in range(8)]
        await program.send(id="slow", method="tools/register", params={"tools": tools})
        await program.request("ping")
        assert not any(message.get("id") == "slow" for message in program.heard)


async def test_a_program_is_handed_a_few_results_at_a_time_and_gets_all_of_them() -> None:
    house, outcomes = host(), list[str]()

    async def hand_over(number: int) -> None:
        result = RunResult(status="succeeded", text="done")
        outcomes.append(await house.programs.take_result(f'["counter", "", "{number}"]', result))

    async with house.attach() as program, anyio.create_task_group() as tasks:
        program.deaf = True
        await program.introduce("scheduler")
        await program.request("schedule/fire")
        for number in range(2 * MOST_CALLS):
            tasks.start_soon(hand_over, number)
        await program.request("schedule/fire")
        waiting = [one for one in program.heard if one.get("method") == "schedule/finished"]
        assert len(waiting) <= AT_ONCE
        program.deaf = False
        for one in waiting:
            await program.send(id=one["id"], result={})
        while sum(one.get("method") == "schedule/finished" for one in program.heard) < 2 * MOST_CALLS:
            await program.receive()
        with anyio.fail_after(TIMEOUT):
            while len(outcomes) < 2 * MOST_CALLS:
                await anyio.lowlevel.checkpoint()
    assert set(outcomes) == {"taken by the program counter"}
