"""A stored conversation as the frames that a client received which watched it, and sent its prompts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.updates import token_counts
from claw_acp.acp.v1 import updates as v1
from claw_acp.acp.v2 import updates as v2
from claw_acp.acp.v2.tool_calls import ToolCalls
from claw_acp.core.events import Event, MessageStarted, Notice, StateChanged, ToolCallChanged
from claw_acp.core.json_value import JsonObject
from claw_acp.rpc.message import INTERNAL_ERROR


class StoredFrames(Protocol):
    """Makes the frames of one session, event by event."""

    def frames(self, event: Event) -> list[JsonObject]:
        """The frames for the next event of the journal."""
        ...


class FramesV1:
    """Frames of protocol 1. The answer to a prompt ends its turn.

    Args:
        session_id: The session.
        client: The capabilities of the client.
    """

    def __init__(self, session_id: str, client: ClientCapabilities) -> None:
        self._session_id = session_id
        self._client = client
        self._statuses = v1.CallStatuses()
        self._prompts = 0
        self._unanswered: list[int] = []

    def frames(self, event: Event) -> list[JsonObject]:
        """See `StoredFrames`."""
        match event:
            case MessageStarted(role="user"):
                self._prompts += 1
                self._unanswered.append(self._prompts)
                return self._updates(v1.user_message(event))
            case StateChanged(state="running"):
                self._unanswered.clear()  # of a turn that a crash interrupted
                return []
            case StateChanged(state="idle"):
                ending = _ending(event)
                answers = [_answer(number, ending) for number in self._unanswered]
                self._unanswered.clear()
                return answers
            case ToolCallChanged():
                return self._updates([self._statuses.render(event, client=self._client, replay=False)])
            case _:
                return self._updates([v1.render(event, client=self._client, replay=False)])

    def _updates(self, updates: Iterable[JsonObject | None]) -> list[JsonObject]:
        return [_notification(self._session_id, update) for update in updates if update is not None]


class FramesV2:
    """Frames of protocol 2. A prompt is answered when it is part of the conversation; a state ends its turn.

    Args:
        session_id: The session.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._calls = ToolCalls()
        self._prompts = 0

    def frames(self, event: Event) -> list[JsonObject]:
        """See `StoredFrames`."""
        match event:
            case StateChanged():
                ending: JsonObject = v2.end_of_turn(event) if event.state == "idle" else {}
                state: JsonObject = {"sessionUpdate": "state_update", "state": v2.STATES[event.state]}
                return self._updates([{**state, "background": [], **ending}])
            case ToolCallChanged():
                return self._updates(self._calls.change(event))
            case Notice(severity="error"):
                return []  # the end of the turn says the same
            case MessageStarted(role="user"):
                self._prompts += 1
                answer = _answer(self._prompts, {"result": {"messageId": event.item}})
                return [*self._updates([v2.render(event)]), answer]
            case _:
                return self._updates([v2.render(event)])

    def _updates(self, updates: Iterable[JsonObject | None]) -> list[JsonObject]:
        return [_notification(self._session_id, update) for update in updates if update is not None]


STORED_FRAMES: Final[Mapping[int, Callable[[str], StoredFrames]]] = {
    1: lambda session_id: FramesV1(session_id, ClientCapabilities(notices=True, compaction=True)),
    2: FramesV2,
}
"""What makes the frames of a session, by the version of the protocol."""


def _ending(event: StateChanged) -> JsonObject:
    """The answer to the prompts of a turn."""
    if event.stop is None:
        code = INTERNAL_ERROR if event.code is None else event.code
        return {"error": {"code": code, "message": event.error or "the turn failed"}}
    usage: JsonObject = {} if event.usage is None else {"usage": token_counts(event.usage)}
    return {"result": {"stopReason": event.stop, **usage}}


def _notification(session_id: str, update: JsonObject) -> JsonObject:
    params: JsonObject = {"sessionId": session_id, "update": update}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _answer(number: int, content: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, **content}
