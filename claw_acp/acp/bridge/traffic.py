"""Everything that is under way on a bridged connection, so that another agent process can take over. No I/O.

Frames pass unchanged. Only when an agent process was lost do ids change: the new process counts its requests from one
again, so those of the n-th process get `n:` in front.
"""

import os
import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from claw_acp.acp.prompt_meta import META_AGAIN, META_PROMPT
from claw_acp.core.errors import AgentLost
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.message import (
    Notification,
    Request,
    RequestId,
    Response,
    decode,
    encode,
    error_line,
    notification_line,
)

ENDING: Final = notification_line("claw-acp/ending", {})
"""The last line of a hub that stops: whatever comes behind it is not for the editor."""

OWN: Final = "claw-acp/bridge/"
"""The beginning of the ids of our own requests."""

_PROMPT: Final = "session/prompt"
_REPEATABLE: Final = frozenset({
    _PROMPT, "auth/status", "providers/list", "session/archive", "session/close", "session/delete", "session/list",
    "session/new", "session/resume", "session/set_config_option", "session/set_mode", "session/set_title",
    "session/status", "session/unarchive",
})  # fmt: skip
"""Requests that may be made again where nobody knows whether they were carried out."""

_NOTIFICATION: Final = b'{"jsonrpc":"2.0","method":'
_CANCEL: Final = "$/cancel_request"
_CANCEL_LINE: Final = notification_line(_CANCEL, {})[: -len(b"{}}\n")]
_NOTHING: Final[JsonObject] = {}
_CALL: Final = b'"toolCallId":'
_OVER: Final = frozenset({"completed", "failed", "cancelled"})
_OPENS: Final = frozenset({"session/new", "session/fork", "session/load", "session/resume"})
_ENDS: Final = frozenset({"session/close", "session/delete", "session/archive"})


class _Waiting(NamedTuple):
    """A request of the editor that has no answer yet; `repeatable` once, while nobody cancels it."""

    id: RequestId
    method: str
    params: JsonObject
    repeatable: bool


class Traffic:
    """Follows the frames between an editor and the agent's process.

    Args:
        answered: The editor's `initialize`, if it was answered before the agent was there.
    """

    def __init__(self, answered: bytes | None) -> None:
        self._initialize = answered
        self._process = 0
        self._own = 0
        self._unanswered = 0
        self._waiting: dict[str, _Waiting] = {}
        self._sessions: dict[str, JsonObject] = {}
        self._asked: set[int] = set()
        self._calls: dict[tuple[str, str], None] = {}  # tool calls that are not over

    def initializing(self) -> bytes:
        """The line that a new agent process gets first; empty when the editor has not sent `initialize` yet."""
        if self._initialize is None:
            return b""
        request = decode(self._initialize)
        assert isinstance(request, Request)
        return self._request("initialize", _object(request.params))

    @property
    def ready(self) -> bool:
        """True if the agent's process has answered all requests of our own, so that others may follow."""
        return not self._unanswered

    def reopening(self) -> bytes:
        """The lines that open the editor's sessions in a new agent process, once it has answered `initialize`."""
        return b"".join(
            self._request("session/resume", {**params, "sessionId": session})
            for session, params in self._sessions.items()
        )

    def to_agent(self, frame: bytes) -> bytes:
        """The line to send for a frame of the editor; empty for an answer to a process that is gone."""
        message = decode(frame)
        if isinstance(message, Request):
            return self._follow_request(message, frame)
        if isinstance(message, Notification):
            self._follow_cancel(message)
        elif isinstance(message, Response):
            own_id = self._id_of(message.id)
            if own_id not in self._asked:
                return b""
            self._asked.discard(own_id)
            if self._process:
                value = {"jsonrpc": "2.0", "id": own_id}
                ending = {"error": message.error} if message.error is not None else {"result": message.result}
                return encode({**value, **ending})
        return frame + b"\n"

    def to_editor(self, line: bytes) -> bytes:
        """The line to send for a line of the agent; empty for answers to our own requests."""
        if line.startswith(_NOTIFICATION) and not (self._process and line.startswith(_CANCEL_LINE)):
            if _CALL in line:
                self._follow_call(line)
            return line
        message = decode(line)
        if isinstance(message, Response):
            return self._answer(message, line)
        if isinstance(message, Request) and isinstance(message.id, int):
            self._asked.add(message.id)
            if self._process:
                return encode({"jsonrpc": "2.0", "id": self._name(message.id), "method": message.method,
                               "params": message.params})  # fmt: skip
        elif self._process and not isinstance(message, Request) and isinstance(params := message[1], Mapping):
            requested = params.get("requestId")
            if isinstance(requested, int):
                return notification_line(_CANCEL, {"requestId": self._name(requested)})
        return line

    def lost(self) -> bytes:
        """The lines for the editor when the agent's process has ended; what follows comes from another one.

        Requests that may be made again are not answered: see `again`.
        """
        lines = [notification_line(_CANCEL, {"requestId": self._name(asked)}) for asked in sorted(self._asked)]
        lines += [
            notification_line(
                "session/update",
                {
                    "sessionId": session,
                    "update": {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "failed"},
                },
            )
            for session, call in self._calls
        ]
        lines += _given_up(waiting for waiting in self._waiting.values() if not waiting.repeatable)
        self._waiting = {name: waiting for name, waiting in self._waiting.items() if waiting.repeatable}
        self._asked.clear()
        self._calls.clear()
        self._unanswered = 0
        self._process += 1
        return b"".join(lines)

    def again(self) -> bytes:
        """The lines with the requests that the process before had, for the next one, once it has the sessions."""
        lines: list[bytes] = []
        for name, waiting in self._waiting.items():
            params = waiting.params
            if waiting.method == _PROMPT:
                params = {**params, "_meta": {**_object(params.get("_meta")), META_AGAIN: True}}
            lines.append(encode({"jsonrpc": "2.0", "id": waiting.id, "method": waiting.method, "params": params}))
            self._waiting[name] = waiting._replace(repeatable=False)
        return b"".join(lines)

    def over(self) -> bytes:
        """The lines for the editor when there is no next process."""
        return b"".join(_given_up(self._waiting.values()))

    # ------------------------------------------------------------------ the editor's requests

    def _follow_request(self, request: Request, frame: bytes) -> bytes:
        params, line = _object(request.params), frame + b"\n"
        repeatable = request.method in _REPEATABLE and params is request.params and "replayFrom" not in params
        if request.method == "initialize" and self._initialize is None:
            self._initialize = frame
        elif request.method == _PROMPT and repeatable:
            meta = params.get("_meta")
            repeatable = meta is None or isinstance(meta, Mapping)
            if repeatable:
                params = {**params, "_meta": {**_object(meta), META_PROMPT: _new_key()}}
                line = encode({"jsonrpc": "2.0", "id": request.id, "method": _PROMPT, "params": params})
        self._waiting[repr(request.id)] = _Waiting(request.id, request.method, params, repeatable)
        return line

    def _follow_cancel(self, notification: Notification) -> None:
        """Note which requests nobody wants any more; they are not made again."""
        params = _object(notification.params)
        if notification.method not in {_CANCEL, "session/cancel"}:
            return
        for name, waiting in self._waiting.items():
            by_id = notification.method == _CANCEL and name == repr(params.get("requestId"))
            in_session = waiting.method == _PROMPT and waiting.params.get("sessionId") == params.get("sessionId")
            if by_id or (notification.method != _CANCEL and in_session):
                self._waiting[name] = waiting._replace(repeatable=False)

    # ------------------------------------------------------------------ ids

    def _request(self, method: str, params: JsonObject) -> bytes:
        self._own += 1
        self._unanswered += 1
        return encode({"jsonrpc": "2.0", "id": f"{OWN}{self._own}", "method": method, "params": params})

    def _name(self, request_id: int) -> int | str:
        """The id under which the editor sees a request of the agent."""
        return f"{self._process}:{request_id}" if self._process else request_id

    def _id_of(self, name: RequestId) -> int | None:
        """The agent's own id of a request that the editor answers; None if a process that is gone had asked."""
        if not self._process:
            return name if isinstance(name, int) else None
        process, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
        return int(number) if process == str(self._process) and number.isdecimal() else None

    # ------------------------------------------------------------------ sessions

    def _follow_call(self, line: bytes) -> None:
        """Remember which tool calls are not over: nobody else would ever tell the editor of their end."""
        message = decode(line)
        params = _object(message.params if isinstance(message, Notification) else None)
        update = _object(params.get("update"))
        session, call = params.get("sessionId"), update.get("toolCallId")
        if not (isinstance(session, str) and isinstance(call, str)):
            return
        if update.get("status") in _OVER:
            self._calls.pop((session, call), None)
        elif update.get("sessionUpdate") == "tool_call" or "status" in update:
            self._calls[session, call] = None

    def _answer(self, response: Response, line: bytes) -> bytes:
        if isinstance(response.id, str) and response.id.startswith(OWN):
            self._unanswered -= 1
            return b""
        waiting = self._waiting.pop(repr(response.id), None)
        if waiting is not None and response.error is None:
            self._note(waiting, response)
        return line

    def _note(self, request: _Waiting, response: Response) -> None:
        """Remember which sessions are open, and how each was opened."""
        session = request.params.get("sessionId")
        if request.method in {"session/new", "session/fork"} and isinstance(response.result, Mapping):
            session = response.result.get("sessionId")
        if not isinstance(session, str):
            return
        if request.method in _OPENS:
            self._sessions[session] = {name: value for name, value in request.params.items() if name != "sessionId"}
        elif request.method in _ENDS:
            self._sessions.pop(session, None)


def _given_up(requests: Iterable[_Waiting]) -> list[bytes]:
    return [error_line(each.id, AgentLost.code, f"{each.method}: {AgentLost.TEXT}") for each in requests]


def _new_key() -> str:
    """A number of 128 bits that grows with time, as hexadecimal digits."""
    return f"{int(time.time() * 1000):012x}{os.urandom(10).hex()}"


def _object(params: JsonValue) -> JsonObject:
    return params if isinstance(params, Mapping) else _NOTHING
