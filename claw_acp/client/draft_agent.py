"""An agent that speaks protocol 2, a draft: what differs of it, in the words of protocol 1."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, cast

import anyio

from claw_acp.client.agent import Agent, AgentMisbehaved
from claw_acp.client.served import Dialect
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.version import VERSION

_MESSAGES: Final = {
    "agent_message": "agent_message_chunk",
    "agent_thought": "agent_thought_chunk",
    "user_message": "user_message_chunk",
}
_SAME: Final = frozenset({*_MESSAGES.values(), "usage_update", "notice"})
_STATUSES: Final = {"cancelled": "failed", "paused": "in_progress"}


class DraftDialect(Dialect):
    """Reads updates and questions of protocol 2; waits for the end of turns, which are updates there."""

    def __init__(self) -> None:
        self._begun: set[str] = set()  # messages that came in pieces
        self._idle = anyio.Event()
        self._end: JsonObject = {}

    def turn_begins(self) -> None:
        """Forget how the last turn ended."""
        self._idle, self._end = anyio.Event(), {}

    async def end_of_turn(self) -> JsonObject:
        """Wait for the end of the turn; returns the state that tells of it."""
        await self._idle.wait()
        return self._end

    def updates(self, params: JsonObject) -> Sequence[JsonObject]:
        """See `Dialect`."""
        update = _object(params.get("update"))
        return [{"sessionId": params.get("sessionId"), "update": each} for each in self._updates(update)]

    def _updates(self, update: JsonObject) -> Iterator[JsonObject]:
        kind = update.get("sessionUpdate")
        if kind == "state_update":
            self._note(update)
        elif kind in _SAME:
            if kind in _MESSAGES.values():
                self._begun.add(str(update.get("messageId")))
            yield update
        elif kind == "tool_call_update":
            yield _call(update)
        elif kind == "plan_update":
            plan = _object(update.get("plan"))
            yield {"sessionUpdate": "plan", "entries": [_step(each) for each in _array(plan.get("entries"))]}
        elif isinstance(kind, str) and kind in _MESSAGES and str(update.get("messageId")) not in self._begun:
            for block in _array(update.get("content")):  # else it repeats the pieces
                yield {**update, "sessionUpdate": _MESSAGES[kind], "content": block}

    def _note(self, state: JsonObject) -> None:
        if state.get("state") == "idle":
            self._end = state
            self._idle.set()

    def question(self, params: JsonObject) -> JsonObject:
        """See `Dialect`."""
        subject = _object(params.get("subject"))
        call = _call(_object(subject.get("toolCall")))
        if subject.get("type") == "command":
            raw = {"command": subject.get("command"), "cwd": subject.get("cwd")}
            call = {"toolCallId": subject.get("toolCallId"), "kind": "execute", "rawInput": raw}
        call = {**call, "toolCallId": str(call.get("toolCallId") or "question")}
        return {**params, "toolCall": {**call, "title": call.get("title") or params.get("title")}}


class DraftAgent:
    """A connected agent in protocol 2, with the methods of `Agent` that differ there."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._dialect = DraftDialect()
        agent.speaks(self._dialect)

    async def initialize(self) -> JsonObject:
        """Agree on protocol 2; returns the answer."""
        info = {"name": "claw-acp-client", "version": VERSION}
        request: JsonObject = {"protocolVersion": 2, "capabilities": {}, "info": info}
        return _object(await self._agent.request("initialize", request))

    async def new_session(self, cwd: Path, *, mcp_servers: Sequence[JsonObject] = ()) -> str:
        """Start a session; returns its id."""
        request: JsonObject = {"cwd": str(cwd), "mcpServers": list(mcp_servers)}
        answer = _object(await self._agent.request("session/new", request))
        session = answer.get("sessionId")
        if not isinstance(session, str):
            raise AgentMisbehaved("the agent's answer is not one: session/new has no sessionId")
        return session

    async def prompt(self, session_id: str, text: str) -> JsonObject:
        """Run a turn; returns the state that tells of its end."""
        self._dialect.turn_begins()
        await self._agent.request(
            "session/prompt", {"sessionId": session_id, "prompt": [{"type": "text", "text": text}]}
        )
        end: JsonObject = {}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._stop_when_gone, tasks.cancel_scope)
            end = await self._dialect.end_of_turn()
            tasks.cancel_scope.cancel()
        if not end:
            raise await self._agent.gone()
        await self._agent.caught_up()
        return end

    async def _stop_when_gone(self, scope: anyio.CancelScope) -> None:
        await self._agent.ended.wait()
        scope.cancel()


def _call(update: JsonObject) -> JsonObject:
    """A tool call; a change of files, which has no texts there, becomes its locations."""
    content = [_object(each) for each in _array(update.get("content"))]
    changes = [_object(change) for each in content for change in _array(each.get("changes"))]
    paths: list[JsonValue] = [{"path": change["path"]} for change in changes if "path" in change]
    status = update.get("status")
    call: dict[str, JsonValue] = {**update, "status": _STATUSES.get(str(status), status)}
    if paths:
        call["locations"] = [*_array(update.get("locations")), *paths]
    if content:
        call["content"] = [each for each in content if each.get("type") == "content"]
    return call


def _step(entry: JsonValue) -> JsonObject:
    step = _object(entry)
    return {**step, "status": "completed"} if step.get("status") == "cancelled" else step


def _object(value: JsonValue) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def _array(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
