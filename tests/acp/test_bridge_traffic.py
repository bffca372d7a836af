"""The frames of a bridge: what is under way when an agent's process ends, and how the next one takes over."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.acp.bridge.traffic import Traffic
from claw_acp.core.errors import AgentLost

Json = dict[str, Any]

INITIALIZE: Json = {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"protocolVersion": 1}}


def line(message: Json) -> bytes:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def frames(data: bytes) -> list[Json]:
    return [json.loads(each) for each in data.splitlines()]


def request(request_id: object, method: str, **params: object) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def result(request_id: object, value: object = None) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "result": {} if value is None else value}


class Bridged:
    """Both sides of a bridge.

    Attributes:
        again: What the last process that connected was sent once more.
    """

    again: list[Json]

    def __init__(self) -> None:
        self.traffic = Traffic(line(INITIALIZE).rstrip())
        self.connected()

    def connected(self) -> list[Json]:
        """A new process answers the bridge's own requests, which are returned."""
        asked = frames(self.traffic.initializing())
        for each in asked:
            assert self.traffic.to_editor(line(result(each["id"]))) == b""
        reopened = frames(self.traffic.reopening())
        for each in reopened:
            assert self.traffic.to_editor(line(result(each["id"]))) == b""
        assert self.traffic.ready
        self.again = frames(self.traffic.again())
        return asked + reopened

    def editor(self, message: Json) -> list[Json]:
        """The agent's frames for one of the editor."""
        return frames(self.traffic.to_agent(line(message).rstrip()))

    def agent(self, message: Json) -> list[Json]:
        """The editor's frames for one of the agent."""
        return frames(self.traffic.to_editor(line(message)))

    def lose(self) -> list[Json]:
        """The agent's process ends; what the editor is told."""
        return frames(self.traffic.lost())


def test_frames_pass_unchanged_while_one_process_serves() -> None:
    bridged = Bridged()
    cancel: Json = {"jsonrpc": "2.0", "method": "session/cancel", "params": {}}
    for message in (request(1, "session/new", cwd="/x"), cancel):
        assert bridged.editor(message) == [message]
    for message in (result(1, {"sessionId": "s"}), request(1, "fs/read_text_file", path="/x")):
        assert bridged.agent(message) == [message]
    assert bridged.editor(result(1, {"content": "text"})) == [result(1, {"content": "text"})]


def test_what_cannot_be_made_again_is_answered_when_the_process_ends() -> None:
    bridged = Bridged()
    bridged.editor(request("a", "session/load", sessionId="s"))
    bridged.editor(request(2, "session/list"))
    bridged.agent(result(2))
    bridged.agent(request(1, "session/request_permission"))
    told = bridged.lose()
    assert [(each.get("method"), each.get("params")) for each in told[:1]] == [("$/cancel_request", {"requestId": 1})]
    assert [(each["id"], each["error"]["code"]) for each in told[1:]] == [("a", AgentLost.code)]
    assert bridged.lose() == []


def test_a_prompt_is_sent_again_with_its_key_and_only_once() -> None:
    bridged = Bridged()
    [sent] = bridged.editor(request("a", "session/prompt", sessionId="s", prompt=[], _meta={"x": 1}))
    [other] = bridged.editor(request("b", "session/prompt", sessionId="s", prompt=[]))
    key = sent["params"]["_meta"].pop("claw-acp/prompt")
    assert sent == request("a", "session/prompt", sessionId="s", prompt=[], _meta={"x": 1})
    assert re.fullmatch("[0-9a-f]{32}", key)
    assert other["params"]["_meta"]["claw-acp/prompt"] != key
    assert bridged.lose() == []
    bridged.connected()
    meta = {"x": 1, "claw-acp/prompt": key, "claw-acp/again": True}
    assert bridged.again[0] == request("a", "session/prompt", sessionId="s", prompt=[], _meta=meta)
    assert bridged.agent(result("b")) == [result("b")]
    assert [(each["id"], each["error"]["code"]) for each in bridged.lose()] == [("a", AgentLost.code)]
    bridged.connected()
    assert bridged.again == []


@pytest.mark.parametrize("cancel", [("session/cancel", {"sessionId": "s"}), ("$/cancel_request", {"requestId": "a"})])
def test_a_prompt_that_was_cancelled_is_not_sent_again(cancel: tuple[str, Json]) -> None:
    bridged = Bridged()
    bridged.editor(request("a", "session/prompt", sessionId="s"))
    bridged.editor({"jsonrpc": "2.0", "method": cancel[0], "params": cancel[1]})
    assert [each["id"] for each in bridged.lose()] == ["a"]
    bridged.connected()
    assert bridged.again == []


def test_when_no_process_comes_everything_is_answered() -> None:
    bridged = Bridged()
    bridged.editor(request(1, "session/new", cwd="/x"))
    assert bridged.lose() == []
    assert [each["id"] for each in frames(bridged.traffic.over())] == [1]


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_open_sessions_are_opened_again_as_they_were(method: str) -> None:
    bridged = Bridged()
    servers = [{"name": "files", "command": "files"}]
    bridged.editor(request(1, "session/new", cwd="/x", mcpServers=servers))
    bridged.agent(result(1, {"sessionId": "new"}))
    bridged.editor(request(2, method, sessionId="old", cwd="/y"))
    bridged.agent(result(2))
    bridged.editor(request(3, "session/new", cwd="/z"))
    bridged.agent({"jsonrpc": "2.0", "id": 3, "error": {"code": -32602, "message": "no"}})
    bridged.lose()
    initialize, first, second = bridged.connected()
    assert initialize["params"] == INITIALIZE["params"]
    assert [first["method"], second["method"]] == ["session/resume", "session/resume"]
    assert first["params"] == {"cwd": "/x", "mcpServers": servers, "sessionId": "new"}
    assert second["params"] == {"cwd": "/y", "sessionId": "old"}


def test_a_session_that_was_closed_stays_closed() -> None:
    bridged = Bridged()
    for number, method in enumerate(("session/new", "session/close")):
        bridged.editor(request(number, method, sessionId="s"))
        bridged.agent(result(number, {"sessionId": "s"}))
    bridged.lose()
    assert len(bridged.connected()) == 1


def test_requests_of_the_next_process_have_ids_of_their_own() -> None:
    bridged = Bridged()
    bridged.agent(request(1, "fs/read_text_file"))
    bridged.lose()
    bridged.connected()
    [asked] = bridged.agent(request(1, "fs/write_text_file"))
    assert asked["id"] != 1
    assert bridged.editor(result(1, {"content": "late"})) == []
    [withdrawn] = bridged.agent({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}})
    assert withdrawn["params"] == {"requestId": asked["id"]}
    assert bridged.editor(result(asked["id"], {"ok": True})) == [result(1, {"ok": True})]
    assert bridged.editor(result(asked["id"], {"ok": True})) == []


def test_tool_calls_that_nobody_will_end_are_shown_as_failed() -> None:
    bridged = Bridged()

    def update(call: str, **more: object) -> None:
        body = {"sessionUpdate": more.pop("kind", "tool_call_update"), "toolCallId": call, **more}
        bridged.agent({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": body}})

    update("done", kind="tool_call", status="pending")
    update("open", kind="tool_call", status="pending")
    update("open", status="in_progress")
    update("done", status="completed")
    update("open", content=[])
    [told] = bridged.lose()
    assert told["params"]["update"] == {"sessionUpdate": "tool_call_update", "toolCallId": "open", "status": "failed"}


_IDS = st.one_of(st.integers(), st.text(max_size=8), st.none())
_MESSAGES = st.one_of(
    st.builds(request, _IDS, st.sampled_from(["session/prompt", "session/new", "session/close", "x"])),
    st.builds(result, _IDS),
    st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "method": st.just("$/cancel_request")}),
    st.fixed_dictionaries({}, optional={"id": st.lists(st.integers()), "method": st.integers(), "params": st.text()}),
)


@given(st.lists(st.tuples(st.sampled_from(["editor", "agent", "lose"]), _MESSAGES), max_size=30))
def test_every_request_of_the_editor_is_answered_once_whatever_comes(steps: list[tuple[str, Json]]) -> None:
    bridged = Bridged()
    waiting: list[object] = []
    again: list[object] = []
    for who, message in steps:
        if who == "editor":
            bridged.editor(message)
            if isinstance(message.get("method"), str) and "id" in message:
                waiting = [each for each in waiting if each != message["id"]] + [message["id"]]
                again = [each for each in again if each != message["id"]]
        elif who == "agent":
            bridged.agent(message)
            if "result" in message:
                waiting = [each for each in waiting if each != message["id"]]
        else:
            answered = [each["id"] for each in bridged.lose() if "error" in each]
            assert all(each in answered for each in again if each in waiting)
            bridged.connected()
            again = [each["id"] for each in bridged.again]
            assert sorted(map(repr, answered + again)) == sorted(map(repr, waiting))
            waiting = again.copy()
