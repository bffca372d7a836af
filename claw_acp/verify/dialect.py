"""The differences of the two protocol versions: initialize, logging in, and the end of a turn."""

from collections.abc import Mapping
from typing import Protocol

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.version import VERSION
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.frames import Call, Frame, text_of

WHO: JsonObject = {"name": "claw-acp-verify", "title": "claw-acp verify", "version": VERSION}


class Dialect(Protocol):
    """One version of the protocol, as far as shared checks need it."""

    def hello(self, capabilities: JsonObject) -> dict[str, JsonValue]:
        """The parameters of an ordinary `initialize`."""
        ...

    login: str
    logout: str
    yes: JsonValue
    """The value of a supported capability."""

    def end(self, agent: AgentConnection, call: Call) -> Frame | None:
        """The frame that ended the turn of this prompt; None while it runs."""
        ...

    def reason(self, end: Frame) -> str:
        """The reason a turn ended, or empty."""
        ...

    def server(self, name: str, command: str, *args: str) -> JsonObject:
        """An MCP server on stdio."""
        ...

    def setting(self, name: str, value: str) -> JsonObject:
        """The parameters that set an option to one of its values."""
        ...


class DialectV1:
    """Protocol 1: the answer to a prompt ends its turn."""

    def __init__(self) -> None:
        self.login, self.logout = "authenticate", "logout"
        self.yes: JsonValue = True

    def hello(self, capabilities: JsonObject) -> dict[str, JsonValue]:
        """See `Dialect`."""
        return {"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": WHO}

    def end(self, agent: AgentConnection, call: Call) -> Frame | None:
        """See `Dialect`."""
        del agent
        return call.answers[0] if call.answers else None

    def reason(self, end: Frame) -> str:
        """See `Dialect`."""
        return text_of(end.result, "stopReason")

    def server(self, name: str, command: str, *args: str) -> JsonObject:
        """See `Dialect`."""
        return {"name": name, "command": command, "args": list(args), "env": []}

    def setting(self, name: str, value: str) -> JsonObject:
        """See `Dialect`."""
        return {"configId": name, "value": value}


class DialectV2:
    """Protocol 2: a prompt is answered when it is accepted, and a state ends its turn."""

    def __init__(self) -> None:
        self.login, self.logout = "auth/login", "auth/logout"
        self.yes: JsonValue = {}

    def hello(self, capabilities: JsonObject) -> dict[str, JsonValue]:
        """See `Dialect`."""
        return {"protocolVersion": 2, "capabilities": capabilities, "info": WHO}

    def end(self, agent: AgentConnection, call: Call) -> Frame | None:
        """See `Dialect`."""
        if call.answers and call.answers[0].error is not None:
            return call.answers[0]
        for frame in agent.frames[agent.frames.index(call.frame) :]:
            own = frame.method == "session/update" and frame.params.get("sessionId") == call.session
            if own and frame.update.get("state") == "idle" and frame.update.get("stopReason"):
                return frame if call.answers else None
        return None

    def reason(self, end: Frame) -> str:
        """See `Dialect`."""
        return text_of(end.update, "stopReason")

    def server(self, name: str, command: str, *args: str) -> JsonObject:
        """See `Dialect`."""
        return {"type": "stdio", "name": name, "command": command, "args": list(args), "env": []}

    def setting(self, name: str, value: str) -> JsonObject:
        """See `Dialect`."""
        return {"configId": name, "type": "id", "value": value}


DIALECTS: Mapping[int, Dialect] = {1: DialectV1(), 2: DialectV2()}
