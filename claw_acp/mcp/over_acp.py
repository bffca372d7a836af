"""MCP inside ACP: the server lives in the client, and each request is independent (MCP 2026-07-28, no session)."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

import anyio
from anyio.abc import TaskGroup
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCNotification, RequestId
from mcp.types.jsonrpc import JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from claw_acp.contracts.mcp_server import ClientServer
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import ConnectionClosed, RpcError

CANCELLED = "notifications/cancelled"
WAITING = 256  # notifications that were not looked at yet; one more is dropped, as all of them only inform

log = logging.getLogger(__name__)


@asynccontextmanager
async def acp_streams(spec: ClientServer) -> AsyncGenerator[TransportStreams]:
    """The streams to the server over its link."""
    async with anyio.create_task_group() as tasks:
        carrier = _Carrier(spec, tasks)
        spec.link.listen(carrier.heard)
        tasks.start_soon(carrier.carry)
        try:
            yield carrier.streams
        finally:
            tasks.cancel_scope.cancel()
            carrier.close()


class _Carrier:
    """Puts requests of the library into envelopes, and unpacks the answers."""

    def __init__(self, spec: ClientServer, tasks: TaskGroup) -> None:
        self._spec = spec
        self._tasks = tasks
        # Sessions of one client share its servers, and no two requests may have one id.
        self._prefix = new_id("con")
        self._active: dict[str, tuple[RequestId, anyio.CancelScope]] = {}
        self._incoming, self._received = anyio.create_memory_object_stream[SessionMessage | Exception](WAITING)
        self._sent, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self.streams: TransportStreams = (self._received, self._sent)

    def close(self) -> None:
        for stream in (self._incoming, self._received, self._sent, self._outgoing):
            stream.close()

    async def carry(self) -> None:
        """Send the library's messages.

        Of its notifications this form of MCP knows only the cancellation of a request.
        """
        async for item in self._outgoing:
            message = item.message
            if isinstance(message, JSONRPCRequest):
                name = f"{self._prefix}-{message.id}"
                self._active[name] = (message.id, anyio.CancelScope())
                self._tasks.start_soon(self._ask, name, message)
            elif isinstance(message, JSONRPCNotification) and message.method == CANCELLED:
                self._cancel((message.params or {}).get("requestId"))

    def _cancel(self, request_id: object) -> None:
        for own, scope in self._active.values():
            if own == request_id:
                scope.cancel()

    async def _ask(self, name: str, request: JSONRPCRequest) -> None:
        _, scope = self._active[name]
        try:
            with scope:
                outcome = await self._outcome(name, request)
                await self._incoming.send(_answer(request.id, outcome))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # the session is over
        except ConnectionClosed:
            self._incoming.close()  # the client is gone, and its servers with it
        finally:
            del self._active[name]

    async def _outcome(self, name: str, request: JSONRPCRequest) -> JsonObject:
        params = cast("JsonObject", request.params or {})
        try:
            return await self._spec.link.request(name, request.method, params)
        except RpcError as error:
            # The client could not deliver it; its codes are none of MCP's, and must not be taken for such.
            return {"error": {"code": INTERNAL_ERROR, "message": f"the client could not deliver it: {error.message}"}}

    async def heard(self, request_id: str, method: str, params: JsonObject) -> None:
        """Deliver a notification that belongs to a request of ours; ignored once that is over."""
        if request_id not in self._active:
            return
        own, _ = self._active[request_id]
        content = JSONRPCNotification(jsonrpc="2.0", method=method, params=_own_subscription(params, request_id, own))
        try:
            self._incoming.send_nowait(SessionMessage(content))
        except anyio.WouldBlock:
            log.warning("notification of an MCP server dropped", extra={"server": self._spec.name, "method": method})
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return


def _own_subscription(params: JsonObject, request_id: str, own: RequestId) -> dict[str, JsonValue]:
    """The params with the library's id of a subscription; the server uses the id it received."""
    meta = params.get("_meta")
    if not isinstance(meta, Mapping) or meta.get(SUBSCRIPTION_ID_META_KEY) != request_id:
        return dict(params)
    return {**params, "_meta": {**meta, SUBSCRIPTION_ID_META_KEY: own}}


def _answer(request_id: RequestId, outcome: JsonObject) -> SessionMessage:
    """The answer in an envelope; a result takes precedence over an error, as the binding says."""
    kept = {key: outcome[key] for key in ("result", "error") if key in outcome}
    if "result" in kept:
        kept.pop("error", None)
    try:
        message = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", "id": request_id, **kept})
    except ValidationError:
        error = ErrorData(code=INTERNAL_ERROR, message="the answer is not valid")
        message = JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
    return SessionMessage(message)
