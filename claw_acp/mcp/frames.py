"""Lines of a program as messages of MCP, also slightly malformed ones."""

import json
import logging
from typing import cast

from mcp.shared.message import SessionMessage
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.rpc.framing import Frame, Oversized
from claw_acp.rpc.message import encode

log = logging.getLogger(__name__)

STRAYS_LOGGED = 20  # lines of one server that are no messages; the rest is not told


class FrameReader:
    """Reads the frames of one server. Other lines are skipped, with a log line.

    A malformed answer still ends its request, with an error: no better one will come.
    """

    def __init__(self, *, server: str, evidence: Diagnostics) -> None:
        self._server = server
        self._evidence = evidence
        self._strays = 0

    def read(self, frame: Frame) -> SessionMessage | None:
        """The message in a frame, if any."""
        if isinstance(frame, Oversized):
            self._note(f"a line of {frame.size} bytes")
            request_id: JsonValue = None if frame.id_json is None else json.loads(frame.id_json)
            return _refused(request_id, f"the answer is too large ({frame.size} bytes)")
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(frame, by_name=False))
        except ValidationError:
            return self._mended(frame)

    def _mended(self, frame: bytes) -> SessionMessage | None:
        """The message without lone surrogates and infinities; or an error response."""
        text = frame.decode("utf-8", "replace").lstrip("\ufeff")
        try:
            value: JsonValue = json.loads(text)
        except (ValueError, RecursionError):
            self._evidence.stray = self._evidence.stray or text[:1000]
            return self._note(text)
        if not isinstance(value, dict):
            return self._note(text)
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(encode(value), by_name=False))
        except ValidationError:
            self._note(text)
            return None if "method" in value else _refused(value.get("id"), "the answer is not valid JSON-RPC")

    def _note(self, what: str) -> None:
        self._strays += 1
        if self._strays <= STRAYS_LOGGED:
            log.info(
                "MCP server wrote something else", extra={"server": self._server, "text": self._evidence.clean(what)}
            )


def line(message: SessionMessage) -> bytes:
    """A message as one line, with its newline."""
    content = message.message.model_dump(by_alias=True, exclude_unset=True)
    return encode(cast("JsonObject", content))


def _refused(request_id: JsonValue, reason: str) -> SessionMessage | None:
    if isinstance(request_id, bool) or not isinstance(request_id, int | str):
        return None
    error = ErrorData(code=INTERNAL_ERROR, message=reason)
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))
