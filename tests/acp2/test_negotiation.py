"""Which protocol is spoken is agreed on once; what does not start the connection leaves it open."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor import Editor
from tests.support.editors.editor_v2 import INFO, EditorV2
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, say, turn

SPEAKS_ONE = "protocol_2 = false"


class Asking(EditorV2):
    """A client that asks for 2 and gets 1."""

    version: ClassVar[int] = 1


@pytest.mark.rule("v2.negotiation", "v2.info", "kit2.init")
@pytest.mark.case(16)
@pytest.mark.parametrize("requested", [2, 3, 65535])
async def test_two_and_everything_newer_is_answered_with_two(spawn: Spawn, requested: int) -> None:
    async with spawn() as editor:
        answer = await editor.initialize(protocolVersion=requested)
        assert answer["protocolVersion"] == 2
        assert set(answer["info"]) == {"name", "title", "version"}
        assert set(answer["capabilities"]["session"]) >= {"prompt", "mcp", "delete", "additionalDirectories"}


@pytest.mark.case(16)
@pytest.mark.rule("v2.negotiation")
async def test_one_is_answered_with_one(project: Path, home: Path) -> None:
    async with Editor.spawned(project=project, home=home) as editor:
        answer = await editor.request("initialize", {"protocolVersion": 1, "info": INFO, "capabilities": {}})
        assert answer["protocolVersion"] == 1
        assert "agentInfo" in answer


@pytest.mark.case(16)
@pytest.mark.rule("v2.negotiation", "v2.failed-initialize")
async def test_zero_is_refused_with_both_lists_and_the_connection_stays_open(spawn: Spawn) -> None:
    async with spawn() as editor:
        failure = await editor.failing("initialize", {"protocolVersion": 0, "info": INFO})
        assert failure.code == -32022
        assert failure.data == {"requested": 0, "supported": [1, 2]}
        early = await editor.failing("session/new", {"cwd": str(editor.project)})
        assert early.code == -32600
        assert (await editor.initialize())["protocolVersion"] == 2
        await editor.new_session()


@pytest.mark.case(16)
@pytest.mark.rule("v2.strict-when-exact", "v2.failed-initialize")
@pytest.mark.parametrize("version", ["2", 2.5, True, None, -1, 65536])
async def test_a_version_that_is_no_number_of_one_is_refused(spawn: Spawn, version: object) -> None:
    async with spawn() as editor:
        failure = await editor.failing("initialize", {"protocolVersion": version, "info": INFO})
        assert failure.code == -32602
        assert (await editor.initialize())["protocolVersion"] == 2


@pytest.mark.rule("v2.strict-when-exact")
@pytest.mark.parametrize("info", [None, "me", {}, {"name": "me"}, {"name": 1, "version": "1"}])
async def test_who_asks_for_exactly_two_must_say_who_it_is(spawn: Spawn, info: object) -> None:
    async with spawn() as editor:
        failure = await editor.failing("initialize", {"protocolVersion": 2, "info": info})
        assert failure.code == -32602
        assert "info" in str(failure)
        assert (await editor.initialize())["protocolVersion"] == 2


@pytest.mark.rule("v2.strict-when-exact")
async def test_who_asks_for_something_newer_may_say_it_in_other_words(spawn: Spawn) -> None:
    async with spawn() as editor:
        asked: Json = {"protocolVersion": 3, "info": 7, "capabilities": "all", "stranger": []}
        assert (await editor.request("initialize", asked))["protocolVersion"] == 2
        await editor.new_session()


@pytest.mark.case(17)
@pytest.mark.parametrize("capabilities", ["yes", 7, [], None, {"auth": 1, "elicitation": {"form": True, "url": []}}])
async def test_a_malformed_capability_is_off(spawn: Spawn, capabilities: object) -> None:
    async with spawn(capabilities=capabilities) as editor:
        assert (await editor.initialize())["protocolVersion"] == 2


@pytest.mark.rule("v2.negotiation")
async def test_where_the_draft_is_switched_off_its_clients_are_answered_with_one(project: Path, home: Path) -> None:
    script = Script(turn(say("hello")))
    async with Asking.spawned(project=project, home=home, script=script, config=SPEAKS_ONE) as editor:
        answer = await editor.initialize(protocolVersion=2)
        assert answer["protocolVersion"] == 1
        created = await editor.request("session/new", {"cwd": str(project), "mcpServers": []})
        web = next(option for option in created["configOptions"] if option["id"] == "web")
        assert web["type"] == "boolean", "a client of the draft knows switches"
        params = {"sessionId": created["sessionId"], "prompt": [{"type": "text", "text": "hi"}]}
        assert (await editor.request("session/prompt", params))["stopReason"] == "end_turn"


@pytest.mark.rule("v2.negotiation")
@pytest.mark.parametrize("requested", [0, 65535])
async def test_where_only_one_is_spoken_every_version_is_answered_with_it(
    project: Path, home: Path, requested: int
) -> None:
    async with Editor.spawned(project=project, home=home, config=SPEAKS_ONE) as editor:
        assert (await editor.initialize(protocolVersion=requested))["protocolVersion"] == 1


@pytest.mark.case(19)
async def test_initialize_may_be_repeated_until_something_else_is_asked(spawn: Spawn) -> None:
    async with spawn() as editor:
        await editor.initialize()
        assert (await editor.initialize(protocolVersion=5))["protocolVersion"] == 2
        lower = await editor.failing("initialize", {"protocolVersion": 1})
        assert lower.code == -32600
        malformed = await editor.failing("initialize", {"protocolVersion": 2})
        assert malformed.code == -32602
        await editor.new_session()
        late = await editor.failing("initialize", {"protocolVersion": 2, "info": INFO})
        assert late.code == -32600


@pytest.mark.case(19)
async def test_what_is_asked_together_with_initialize_comes_too_early(spawn: Spawn) -> None:
    async with spawn() as editor:
        asked: Json = {"protocolVersion": 2, "info": INFO}
        frames: list[Json] = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked},
            {"jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {}},
        ]
        await editor.send_bytes(b"".join(json.dumps(frame).encode() + b"\n" for frame in frames))
        await editor.wait_for(lambda: len(editor.stray) == 2, "both answers")
        by_id = {answer["id"]: answer for answer in editor.stray}
        assert by_id[1]["result"]["protocolVersion"] == 2
        assert by_id[2]["error"]["code"] == -32600


@pytest.mark.case(20)
@pytest.mark.rule("v2.request-id")
@pytest.mark.parametrize("request_id", ["null", "1.5"])
async def test_an_id_that_is_null_or_a_fraction_is_refused_without_echo(spawn: Spawn, request_id: str) -> None:
    async with spawn() as editor:
        await _send(editor, '{"jsonrpc":"2.0","id":%s,"method":"initialize","params":%s}', request_id, _hello())
        assert await _refusal(editor, 1) == (None, -32600)
        await editor.initialize()
        await _send(editor, '{"jsonrpc":"2.0","id":%s,"method":"session/list","params":%s}', request_id, {})
        assert await _refusal(editor, 2) == (None, -32600)
        assert await editor.request("session/list", {}, id="") == {"sessions": []}
        assert await editor.request("session/list", {}, id=2**53 + 1) == {"sessions": []}


async def _send(editor: EditorV2, frame: str, request_id: str, params: Json) -> None:
    await editor.process.write((frame % (request_id, json.dumps(params))).encode() + b"\n")  # the judge must not wait


async def _refusal(editor: EditorV2, count: int) -> tuple[Any, int]:
    await editor.wait_for(lambda: len(editor.stray) == count, "the refusal")
    return editor.stray[-1]["id"], editor.stray[-1]["error"]["code"]


def _hello() -> Json:
    return {"protocolVersion": 2, "info": INFO}


@pytest.mark.case(22)
@pytest.mark.rule("v2.batch")
@pytest.mark.parametrize("line", ["[]", '[{"jsonrpc":"2.0","method":"session/cancel"}]', "17", "null"])
async def test_a_batch_and_what_is_no_object_is_answered_once(opened: Spawn, line: str) -> None:
    async with opened() as editor:
        await editor.process.write(line.encode() + b"\n")
        assert await _refusal(editor, 1) == (None, -32600)
        await editor.request("session/list", {})


@pytest.mark.rule("kit2.ext", "kit2.clientcap")
@pytest.mark.case(44)
async def test_methods_of_protocol_1_and_unknown_ones_are_not_there(opened: Spawn) -> None:
    async with opened() as editor:
        for method in ("authenticate", "logout", "session/load", "session/set_mode", "_x/y", "foo/bar"):
            assert (await editor.failing(method, {"sessionId": editor.session})).code == -32601, method
        await editor.notify("_x/y", {})
        await editor.notify("session/set_mode", {})
        await editor.request("session/list", {})


@pytest.mark.rule("v2.auth-pair", "kit2.auth")
async def test_with_login_methods_both_login_and_logout_are_there(spawn: Spawn) -> None:
    async with spawn() as editor:
        answer = await editor.initialize()
        methods = {method["methodId"]: method["type"] for method in answer["authMethods"]}
        assert "agent" in methods.values()
        assert (await editor.failing("auth/login", {"methodId": "nonsense"})).code == -32602
        assert (await editor.failing("auth/login", {})).code == -32602
        await editor.request("auth/logout", {})


@pytest.mark.rule("v2.meta", "kit2.meta")
@pytest.mark.case(43)
async def test_meta_is_accepted_everywhere(spawn: Spawn) -> None:
    meta: Json = {"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01", "_own": None}
    async with spawn(script=Script(turn(say("hello")))) as editor:
        await editor.initialize(_meta=meta)
        await editor.new_session(_meta=None)
        begin = len(editor.transcript)
        block: Json = {"type": "text", "text": "hi", "_meta": meta}
        await editor.request("session/prompt", {"sessionId": editor.session, "prompt": [block], "_meta": meta})
        assert (await editor.ended(begin)).text == "hello"
        await editor.request("session/list", {"_meta": meta})
