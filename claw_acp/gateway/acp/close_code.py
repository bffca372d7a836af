"""WebSocket close codes and reasons; streamable HTTP just closes its streams."""

from typing import Final, Protocol

from claw_acp.core.value import Value
from claw_acp.rpc.peer import Transport


class CloseReason(Value):
    """A close code of RFC 6455 and a reason for people (at most 123 bytes)."""

    code: int
    reason: str


OVER: Final = CloseReason(code=1000, reason="the connection is over")
LEFT: Final = CloseReason(code=1000, reason="the client has left")
SHUTDOWN: Final = CloseReason(code=1001, reason="the server is shutting down")
IDLE: Final = CloseReason(code=1001, reason="no stream was open for too long")
STALLED: Final = CloseReason(code=1008, reason="the client stopped reading")
TOKEN_ENDED: Final = CloseReason(code=1008, reason="the token of this connection has ended")
LATE: Final = CloseReason(code=1008, reason="no initialize in time")
FAILED: Final = CloseReason(code=1011, reason="internal error, see the log")


class RemoteTransport(Transport, Protocol):
    """A transport that the server can close."""

    def end(self, ending: CloseReason) -> None:
        """Stop receiving; frames already sent are still flushed, for a moment. Only the first call counts."""
        ...
