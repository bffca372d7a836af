"""Errors of a JSON-RPC connection."""

from claw_acp.core.json_value import JsonObject, JsonValue


class RpcError(Exception):
    """An error on the wire: raised by a handler to be sent, or by a request whose answer was an error."""

    def __init__(self, code: int, message: str, data: JsonValue = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @classmethod
    def from_wire(cls, error: JsonObject) -> "RpcError":
        """The error member of a response, however incomplete."""
        code, message = error.get("code"), error.get("message")
        return cls(
            code if isinstance(code, int) else 0,
            message if isinstance(message, str) else "the peer gave no message",
            error.get("data"),
        )


class ConnectionClosed(Exception):
    """The other side is gone; every pending request fails with this."""
