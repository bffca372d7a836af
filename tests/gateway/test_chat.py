"""Chat for plain web clients: `POST /api/chat` and `/ws/chat`."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from tests.gateway.conftest import Serve
from tests.gateway.test_control import base_of, control_of, token_of
from tests.support.editors.exchange import Json
from tests.support.editors.websocket_client import Closed, Rejected, WebSocketClient
from tests.support.script_files import Script, call, fail, hold, say, turn, usage
from tests.support.servers.remote_server import RemoteServer

WRITES = Script(turn(call("write_file", path="new.txt", content="hello")), turn(say("that is all")), loop=True)


class ChatClient:
    """An open `/ws/chat`."""

    def __init__(self, websocket: WebSocketClient) -> None:
        self.websocket = websocket

    async def send(self, **frame: object) -> None:
        await self.websocket.send(json.dumps(frame))

    async def next(self) -> Json:
        received = await self.websocket.receive()
        assert not isinstance(received, Closed), received
        return json.loads(received)

    async def up_to(self, kind: str) -> list[Json]:
        """Frames, the last of them of this type."""
        frames = [await self.next()]
        while frames[-1]["type"] != kind:
            frames.append(await self.next())
        return frames


@asynccontextmanager
async def chatting(server: RemoteServer, token: str | None = None) -> AsyncGenerator[ChatClient]:
    url = server.websocket_url.removesuffix("/acp") + "/ws/chat"
    offered = ["acp", f"acp.bearer.{token or server.token}"]
    async with WebSocketClient.connected(url, subprotocols=offered) as websocket:
        yield ChatClient(websocket)


async def post(client: httpx.AsyncClient, server: RemoteServer, **content: object) -> httpx.Response:
    return await client.post(f"{base_of(server)}/api/chat", json=content)


def kinds(frames: Sequence[Json]) -> list[str]:
    return [frame["type"] for frame in frames]


# ---------------------------------------------------------------------- one shot


async def test_a_prompt_by_http_is_answered_and_the_session_goes_on(serve: Serve, project: Path) -> None:
    script = Script(turn(say("one, ", "two"), usage(input_tokens=7, output_tokens=3)), turn(say("three")))
    async with serve(script=script) as server, server.http() as client:
        first = (await post(client, server, message="count", cwd=str(project))).json()
        assert (first["text"], first["stop_reason"]) == ("one, two", "end_turn")
        assert first["usage"]["output_tokens"] == 3
        second = (await post(client, server, message="on", session=first["session"])).json()
        assert (second["text"], second["session"]) == ("three", first["session"])
        async with control_of(server) as control:
            shown = await control.ask("sessions/show", sessionId=first["session"])
            assert [message["text"] for message in shown["messages"]] == ["count", "one, two", "on", "three"]
            assert (shown["session"]["cwd"], shown["session"]["open"]) == (str(project), False)
            assert await control.ask("sessions/archive", sessionId=first["session"]) == {}
            assert (await control.ask("sessions/list"))["sessions"] == []
            assert await control.ask("sessions/delete", sessionId=first["session"]) == {}
            assert (await control.ask("sessions/show", sessionId=first["session"]))["code"] == -32002


async def test_what_would_be_asked_is_refused_and_told(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as server, server.http() as client:
        answer = (await post(client, server, message="write")).json()
        assert answer["text"] == "that is all"
        assert "new.txt" in answer["refused"][0]
        assert not (project / "new.txt").exists()


async def test_failures_have_a_status_and_a_reason(serve: Serve) -> None:
    async with serve(script=Script(turn(fail("ProviderUnavailable")), loop=True)) as server, server.http() as client:
        for content, status in (
            ({}, 400),
            ({"message": ""}, 400),
            ({"message": "x", "session": "ses_none"}, 404),
            ({"message": "x", "cwd": "/no/such/folder"}, 400),
            ({"message": "x", "mode": "wild"}, 400),
            ({"message": "x"}, 502),
        ):
            answer = await post(client, server, **content)
            assert (answer.status_code, bool(answer.json()["error"]["message"])) == (status, True), content


async def test_a_chat_token_gets_no_wider_mode_than_the_configured_one(serve: Serve, home: Path) -> None:
    async with serve(script=WRITES) as server:
        async with control_of(server, token_of(home, "web", ["chat"])) as chat:
            refused = await post(chat.client, server, message="write", mode="auto")
            assert "scope control" in refused.json()["error"]["message"]
            assert (await post(chat.client, server, message="write", mode="plan")).status_code == 200
            assert (await chat.post({})).status_code == 403
        async with server.http() as client:
            assert "refused" not in (await post(client, server, message="write", mode="auto")).json()


async def test_a_client_that_hangs_up_ends_its_turn(serve: Serve, home: Path) -> None:
    async with serve(script=Script(turn(say("half"), hold("gate")))) as server, control_of(server) as control:
        with pytest.raises(httpx.ReadTimeout):
            await control.client.post(f"{base_of(server)}/api/chat", json={"message": "go"}, timeout=0.5)
        while (await control.ask("hub/status"))["sessions"]:
            pass
        listed = (await control.ask("sessions/list"))["sessions"]
        assert (len(listed), listed[0]["turns"]) == (1, 0)


# ---------------------------------------------------------------------- WebSocket


async def test_an_answer_comes_in_chunks_and_ends_with_done(serve: Serve) -> None:
    async with serve(script=Script(turn(say("a", "b")), turn(say("c")))) as server, chatting(server) as chat:
        await chat.send(type="message", message="go")
        frames = await chat.up_to("done")
        assert kinds(frames)[0] == "session"
        assert "".join(frame["text"] for frame in frames if frame["type"] == "chunk") == "ab"
        assert (frames[-1]["text"], frames[-1]["stop_reason"]) == ("ab", "end_turn")
        await chat.send(type="message", message="on", session=frames[0]["session"])
        assert (await chat.up_to("done"))[-1]["text"] == "c"


async def test_the_client_of_a_websocket_is_asked_and_answers(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as server, chatting(server) as chat:
        await chat.send(type="message", message="write", cwd=str(project))
        asked = (await chat.up_to("permission"))[-1]
        assert asked["diffs"][0]["new"] == "hello"
        await chat.send(type="permission", id=asked["id"], option="no-such")
        assert (await chat.next())["type"] == "error"
        allow = next(option["id"] for option in asked["options"] if option["kind"] == "allow_once")
        await chat.send(type="permission", id=asked["id"], option=allow)
        await chat.up_to("done")
        assert (project / "new.txt").read_text() == "hello"


async def test_a_client_whose_prompt_waits_behind_a_question_is_asked_it_too(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as server, chatting(server) as first, chatting(server) as second:
        await first.send(type="message", message="write", cwd=str(project))
        session = (await first.up_to("permission"))[0]["session"]
        await second.send(type="message", message="and then", session=session)
        asked = (await second.up_to("permission"))[-1]
        allow = next(option["id"] for option in asked["options"] if option["kind"] == "allow_once")
        await second.send(type="permission", id=asked["id"], option=allow)
        await first.up_to("permission_withdrawn")
        await first.up_to("done")
        assert (project / "new.txt").read_text() == "hello"


async def test_a_question_can_be_answered_by_a_control_client_instead(serve: Serve, project: Path) -> None:
    async with serve(script=WRITES) as server, chatting(server) as chat, control_of(server) as control:
        await chat.send(type="message", message="write", cwd=str(project))
        asked = (await chat.up_to("permission"))[-1]
        (waiting,) = (await control.ask("permissions/list"))["permissions"]
        answer = {"permissionId": waiting["permissionId"]}
        assert "possible are" in (await control.ask("permissions/answer", **answer, optionId="x"))["message"]
        allow = next(option["optionId"] for option in waiting["options"] if option["kind"] == "allow_once")
        assert await control.ask("permissions/answer", **answer, optionId=allow) == {}
        assert (await chat.up_to("permission_withdrawn"))[-1]["id"] == asked["id"]
        await chat.up_to("done")
        assert (project / "new.txt").read_text() == "hello"
        assert "not wait any more" in (await control.ask("permissions/answer", **answer, optionId=allow))["message"]


async def test_a_prompt_is_cancelled_by_its_client_and_by_a_control_client(serve: Serve) -> None:
    script = Script(turn(say("half"), hold("gate")), loop=True)
    async with serve(script=script) as server, chatting(server) as chat, control_of(server) as control:
        await chat.send(type="message", message="go")
        session = (await chat.up_to("chunk"))[0]["session"]
        await chat.send(type="message", message="again")
        assert "is running" in (await chat.next())["message"]
        await chat.send(type="cancel")
        assert (await chat.up_to("done"))[-1]["stop_reason"] == "cancelled"
        await chat.send(type="message", message="go", session=session)
        await chat.up_to("chunk")
        assert await control.ask("sessions/cancel", sessionId=session) == {"turns": 1}
        assert (await chat.up_to("done"))[-1]["stop_reason"] == "cancelled"


@pytest.mark.parametrize(
    "frame", ["", "{", "[]", '{"type": "dance"}', '{"type": "message"}', '{"type": "cancel", "x": 1}']
)
async def test_no_frame_breaks_the_conversation(shared: RemoteServer, frame: str) -> None:
    async with chatting(shared) as chat:
        await chat.websocket.send(frame)
        await chat.send(type="message", message="go")
        assert (await chat.up_to("done"))[-1]["text"] == "here"


async def test_a_websocket_needs_a_token_of_its_scope(serve: Serve, home: Path) -> None:
    async with serve() as server:
        for token in ("wrong", token_of(home, "wall", ["read"])):
            with pytest.raises(Rejected):
                async with chatting(server, token):
                    pass


async def test_a_chat_token_cannot_answer_for_good(serve: Serve, home: Path, project: Path) -> None:
    async with serve(script=WRITES) as server:
        for token, kinds_offered in ((token_of(home, "web", ["chat"]), {"once"}), (None, {"once", "always"})):
            async with chatting(server, token) as chat:
                await chat.send(type="message", message="write", cwd=str(project))
                asked = (await chat.up_to("permission"))[-1]
                assert {option["kind"].rpartition("_")[2] for option in asked["options"]} == kinds_offered
                always = next((each["id"] for each in asked["options"] if each["kind"] == "allow_always"), "always")
                if token is not None:
                    await chat.send(type="permission", id=asked["id"], option=always)
                    assert (await chat.next())["type"] == "error"
                await chat.send(type="cancel")
                await chat.up_to("done")
