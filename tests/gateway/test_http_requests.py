"""Each request of streamable HTTP, and the status it gets."""

import json
from contextlib import AsyncExitStack

import httpx
import pytest

from tests.gateway.conftest import INITIALIZE, Peer, messages_of, up_to_answer
from tests.support.editors.exchange import Json

LIST: Json = {"jsonrpc": "2.0", "id": 7, "method": "session/list", "params": {}}
NOWHERE = "ses_" + "0" * 26


def prompt(session: str, request_id: int = 3) -> Json:
    params = {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/prompt", "params": params}


async def new_session(peer: Peer) -> str:
    answer = await peer.ask("session/new", {"cwd": str(peer.project), "mcpServers": []})
    return answer["result"]["sessionId"]


async def test_initialize_is_answered_at_once_with_the_connection(peer: Peer) -> None:
    answer = await peer.initialize()
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["acp-connection-id"].startswith("con_")
    assert (answer.json()["id"], answer.json()["result"]["protocolVersion"]) == (1, 1)


async def test_an_initialize_that_fails_is_answered_with_the_error(peer: Peer) -> None:
    wrong = {**INITIALIZE, "params": {"protocolVersion": "1"}}
    answer = await peer.post(wrong, acp_connection_id=None)
    assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32602)


async def test_a_message_is_accepted_and_answered_on_the_stream(peer: Peer) -> None:
    accepted = await peer.post(LIST)
    assert (accepted.status_code, accepted.content) == (202, b"")
    assert isinstance((await peer.ask("session/list", {}))["result"]["sessions"], list)


@pytest.mark.parametrize("kind", ["text/plain", "application/jsonl", "", None])
async def test_a_message_of_another_type_is_refused(peer: Peer, kind: str | None) -> None:
    assert (await peer.post(json.dumps(LIST).encode(), content_type=kind)).status_code == 415


async def test_a_charset_does_no_harm(peer: Peer) -> None:
    assert (await peer.post(LIST, content_type="Application/JSON; charset=utf-8")).status_code == 202


@pytest.mark.parametrize(
    ("body", "code", "answered_id"),
    [
        (b"", -32700, None),
        (b'{"jsonrpc":"2.0","id":1,', -32700, None),
        (b"[]", -32600, None),
        (json.dumps([LIST]).encode(), -32600, None),
        (b"42", -32600, None),
        (b"null", -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"1.0","id":5,"method":"session/list"}', -32600, 5),
        (b'{"jsonrpc":"2.0","id":5,"method":7}', -32600, 5),
    ],
)
async def test_what_is_no_message_is_refused_in_json_rpc(
    peer: Peer, body: bytes, code: int, answered_id: int | None
) -> None:
    answer = await peer.post(body)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")
    assert (answer.json()["error"]["code"], answer.json()["id"]) == (code, answered_id)


async def test_a_message_needs_its_connection(peer: Peer) -> None:
    assert (await peer.post(LIST, acp_connection_id=None)).status_code == 400
    assert (await peer.post(LIST, acp_connection_id="con_nobody")).status_code == 404


async def test_initialize_makes_connections_and_does_not_change_them(peer: Peer) -> None:
    assert (await peer.post(INITIALIZE)).status_code == 400
    for message in ({**INITIALIZE, "id": None}, {key: value for key, value in INITIALIZE.items() if key != "id"}):
        assert (await peer.post(message, acp_connection_id=None)).status_code == 400


async def test_what_is_about_a_session_names_it_in_the_header(peer: Peer) -> None:
    session = await new_session(peer)
    assert (await peer.post(prompt(session))).status_code == 400
    assert (await peer.post(prompt(session), session=NOWHERE)).status_code == 400
    cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
    assert (await peer.post(cancel)).status_code == 400
    assert (await peer.post(cancel, session=session)).status_code == 202


async def test_a_session_that_is_not_open_is_told_in_json_rpc(peer: Peer) -> None:
    async with peer.stream() as stream:
        assert (await peer.post(prompt(NOWHERE, 11), session=NOWHERE)).status_code == 202
        error = (await up_to_answer(messages_of(stream), 11))[-1]["error"]
    assert (error["code"], error["data"]["sessionId"]) == (-32002, NOWHERE)


async def test_a_stream_must_be_accepted_as_events(peer: Peer) -> None:
    for accept in ("application/json", "*/*"):
        answer = await peer.client.get(peer.server.url, headers=peer.headers("", {"accept": accept}))
        assert answer.status_code == 406


async def test_a_stream_needs_its_connection_and_a_session_that_can_be(peer: Peer) -> None:
    events = {"accept": "text/event-stream"}
    for missing, status in (("", 400), ("con_nobody", 404)):
        headers = {**events, **({"Acp-Connection-Id": missing} if missing else {})}
        assert (await peer.client.get(peer.server.url, headers=headers)).status_code == status
    unknown = await peer.client.get(peer.server.url, headers=peer.headers("no-such-session", {**events}))
    assert unknown.status_code == 404


async def test_a_stream_has_one_reader_and_then_another(peer: Peer) -> None:
    session = await new_session(peer)
    for name in ("", session):
        async with peer.stream(name) as first:
            assert first.status_code == 200
            assert first.headers["content-type"] == "text/event-stream"
            assert first.headers["acp-connection-id"] == peer.connection
            assert first.headers.get("acp-session-id", "") == name
            headers = peer.headers(name, {"accept": "text/event-stream"})
            assert (await peer.client.get(peer.server.url, headers=headers)).status_code == 409
        async with peer.stream(name) as second:
            assert second.status_code == 200


async def test_what_was_said_while_nobody_read_waits_for_a_reader(peer: Peer) -> None:
    session = await new_session(peer)
    assert (await peer.post(prompt(session, 12), session=session)).status_code == 202
    headers = peer.headers(session, {"accept": "text/event-stream"})
    async with peer.client.stream("GET", peer.server.url, headers=headers) as stream:
        said: list[Json] = []
        async for line in stream.aiter_lines():
            if line:
                said.append(json.loads(line.removeprefix("data: ")))
            if said and said[-1].get("id") == 12:
                break
    assert said[0]["params"]["update"]["sessionUpdate"] == "available_commands_update"
    assert said[-1]["result"]["stopReason"] == "end_turn"


async def test_delete_ends_the_connection_and_its_streams(peer: Peer) -> None:
    other = await peer.initialize()
    async with AsyncExitStack() as stack:
        headers = peer.headers("", {"accept": "text/event-stream"})
        stream = await stack.enter_async_context(peer.client.stream("GET", peer.server.url, headers=headers))
        gone = await peer.client.delete(peer.server.url, headers=headers)
        assert gone.status_code == 202
        assert [line async for line in stream.aiter_lines() if line] == []
    assert (await peer.post(LIST)).status_code == 404
    assert (await peer.client.delete(peer.server.url, headers=headers)).status_code == 404
    assert (await peer.client.delete(peer.server.url)).status_code == 400
    assert other.headers["acp-connection-id"] == peer.connection
    await peer.initialize()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS"])
async def test_other_methods_are_refused(peer: Peer, method: str) -> None:
    answer = await peer.client.request(method, peer.server.url)
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST, DELETE, OPTIONS")


async def test_there_is_nothing_else_here(peer: Peer) -> None:
    for path in ("/acp/", "/acp/x", "/ACP", "/%00"):
        answer = await peer.client.get(httpx.URL(peer.server.url).join(path))
        assert answer.status_code == 404


async def test_an_upgrade_that_is_none_is_refused(peer: Peer) -> None:
    assert (await peer.client.get(peer.server.url, headers={"Upgrade": "websocket"})).status_code == 400


async def test_an_answer_of_the_client_belongs_to_the_session_that_asked(peer: Peer) -> None:
    stray: Json = {"jsonrpc": "2.0", "id": 999, "result": {}}
    assert (await peer.post(stray)).status_code == 202
    assert (await peer.post(stray, session=NOWHERE)).status_code == 202


async def test_ids_come_back_as_they_were(peer: Peer) -> None:
    for request_id in ("x", 0, -1, 2**53 + 1, "1"):
        assert (await peer.ask("session/list", {}, request_id))["id"] == request_id


async def test_unknown_methods_are_told_on_the_stream(peer: Peer) -> None:
    assert (await peer.ask("_x/y", {}))["error"]["code"] == -32601


def load(peer: Peer, session: str, request_id: int) -> Json:
    params: Json = {"sessionId": session, "cwd": str(peer.project), "mcpServers": []}
    return {"jsonrpc": "2.0", "id": request_id, "method": "session/load", "params": params}


def kinds(messages: list[Json]) -> list[str]:
    return [message["params"]["update"]["sessionUpdate"] for message in messages if "method" in message]


async def test_a_load_while_nobody_reads_the_sessions_stream_is_shown_on_the_connections(peer: Peer) -> None:
    session = await new_session(peer)
    async with peer.server.http() as client:
        other = Peer(peer.server, client, project=peer.project)
        await other.initialize()
        await other.ask("session/load", load(other, session, 21)["params"])
        async with other.stream(session) as own:
            assert (await other.post(prompt(session), session=session)).status_code == 202
            await up_to_answer(messages_of(own), 3)
    async with peer.stream() as common:
        assert (await peer.post(load(peer, session, 22))).status_code == 202
        shown = kinds(await up_to_answer(messages_of(common), 22))
    assert shown.index("user_message_chunk") < shown.index("agent_message_chunk")


async def test_a_load_while_somebody_reads_the_sessions_stream_is_shown_there(peer: Peer) -> None:
    session = await new_session(peer)
    async with peer.stream(session) as own:
        messages = messages_of(own)
        assert (await peer.post(prompt(session), session=session)).status_code == 202
        await up_to_answer(messages, 3)
        assert (await peer.post(load(peer, session, 24), session=session)).status_code == 202
        shown = kinds(await up_to_answer(messages, 24))
    assert shown.index("user_message_chunk") < shown.index("agent_message_chunk")
