"""The symmetric peer: correlates requests both ways, cancels, keeps order, survives anything that arrives."""

import json
import logging
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

import anyio
from anyio.abc import TaskGroup

from claw_acp.core.errors import ServerBusy
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Record, made_by
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.framing import Frame, Oversized
from claw_acp.rpc.message import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    REQUEST_CANCELLED,
    Incoming,
    Malformed,
    Notification,
    Request,
    RequestId,
    Response,
    broken_answer,
    decode,
    error_line,
    is_plain,
    notification_line,
    request_line,
    result_line,
)
from claw_acp.rpc.peer import (
    IncomingCall,
    NotificationHandler,
    OnFrame,
    Reply,
    RequestHandler,
    Router,
    Transport,
)

log = logging.getLogger(__name__)

IN_FLIGHT = 1024  # requests handled at once; more wait
# One more is refused. We never stop reading instead: what would free a place may be a cancel or an answer to us.
WAITING = 8 * IN_FLIGHT
HIGH_WATER = 1024 * 1024  # bytes queued to a slow reader before notifications wait
OVERLOADED = 8 * HIGH_WATER  # bytes of unread answers before we stop reading too; a slow reader can cancel up to here
LAST_ANSWERS = 0.3  # seconds for the requests that were being handled when the input ended
GIVEN_UP = 256  # ids of requests we cancelled that are remembered, to know their late answers
CANCEL = "$/cancel_request"
BAD_ID = "Invalid request: `id` must be a string or an integer"


class OutgoingCall(Record):
    """A request to the other side, by its `id`. Once it is `done`, it has a `response`, or the connection is over."""

    id: int
    line: bytes
    done: anyio.Event = made_by(default_factory=anyio.Event)
    response: Response | None = None


class _InFlight(Record):
    call: IncomingCall
    scope: anyio.CancelScope


class Dispatcher:
    """One connection. `run` reads until the other side is gone; `request` and `notify` may be used meanwhile.

    Args:
        transport: Carries the frames.
        router: Finds the handlers of requests and notifications.
        on_frame: Called with every frame.
        decode: Reads a frame instead of `rpc.message`, for peers whose faults are treated differently; None from it:
            nothing more to do.
        overloaded_at: Bytes of unread answers before reading stops. A peer that finishes one answer before it reads on,
            as single-threaded ones do, would then block for ever.
    """

    def __init__(
        self,
        transport: Transport,
        router: Router,
        *,
        on_frame: OnFrame | None = None,
        decode: Callable[[Frame], Incoming | None] | None = None,
        overloaded_at: int = OVERLOADED,
    ) -> None:
        self._transport = transport
        self._router = router
        self._on_frame = on_frame
        self._decode = decode or self._read
        self._overloaded_at = overloaded_at
        self._pending: dict[RequestId, OutgoingCall] = {}
        self._given_up: deque[RequestId] = deque(maxlen=GIVEN_UP)
        self._in_flight: set[_InFlight] = set()
        self._waiting: deque[tuple[_InFlight, RequestHandler, JsonObject]] = deque()
        self._tasks: TaskGroup | None = None
        self._idle = anyio.Event()
        self._last_id = 0
        self._closed = False
        self._ending = False
        self.plain_ids = False
        """Refuse requests whose id is null or a fraction, which JSON-RPC allows and protocol 2 does not."""

    # ------------------------------------------------------------------ outgoing

    async def request(self, method: str, params: JsonObject, *, within: float | None = None) -> JsonValue:
        """See `Peer.request`."""
        if self._closed:
            raise ConnectionClosed(f"{method} was not sent: the connection is closed")
        call = self.call(lambda request_id: request_line(request_id, method, params))
        try:
            with anyio.fail_after(within):
                await call.done.wait()
        except BaseException:
            if not call.done.is_set():
                self._given_up.append(call.id)
                self.cancel(call)
            raise
        finally:
            self.forget(call)
        response = call.response
        if response is None:
            raise ConnectionClosed(f"the connection closed before {method} was answered")
        if response.error is not None:
            raise RpcError.from_wire(response.error)
        return response.result

    def call(self, write: Callable[[int], bytes]) -> OutgoingCall:
        """Send the request that `write` makes of its id, without waiting; a caller that gives up has to `forget` it."""
        self._last_id += 1
        call = OutgoingCall(id=self._last_id, line=write(self._last_id))
        if self._closed:
            call.done.set()
        else:
            self._pending[call.id] = call
            self._send(call.line)
        return call

    def cancel(self, call: OutgoingCall) -> None:
        """Ask the other side to stop working on a request."""
        self.notify_nowait(CANCEL, {"requestId": call.id})

    def forget(self, call: OutgoingCall) -> None:
        """Drop a call whose answer is not needed any more."""
        self._pending.pop(call.id, None)

    async def notify(self, method: str, params: JsonObject) -> None:
        """See `Peer.notify`."""
        self.notify_nowait(method, params)
        if self.slow:
            await self._transport.drained()

    def notify_nowait(self, method: str, params: JsonObject) -> None:
        """See `Peer.notify_nowait`."""
        self._send(notification_line(method, params))

    @property
    def slow(self) -> bool:
        """See `Peer.slow`."""
        return self._transport.backlog > HIGH_WATER

    @property
    def overloaded(self) -> bool:
        """See `Peer.overloaded`."""
        return self._transport.backlog > self._overloaded_at

    async def drained(self) -> None:
        """See `Peer.drained`."""
        await self._transport.drained()

    @property
    def closed(self) -> bool:
        """See `Peer.closed`."""
        return self._closed

    def hang_up(self) -> None:
        """See `Peer.hang_up`."""
        if self._tasks is not None:
            self._tasks.cancel_scope.cancel()

    def _send(self, line: bytes) -> None:
        if self._on_frame is not None:
            self._on_frame("out", line)
        self._transport.send(line)

    # ------------------------------------------------------------------ incoming

    async def run(self) -> None:
        """Serve until the other side is gone, then cancel running handlers and wake all waiters.

        Long-running requests are cancelled at once, the others have `LAST_ANSWERS` seconds to finish.
        """
        async with anyio.create_task_group() as self._tasks:
            tasks = self._tasks
            try:
                while (frame := await self._transport.receive()) is not None:
                    self._accept(frame, tasks)
                    if self.overloaded:
                        await self._transport.drained()
                await self._finish()
            finally:
                self._closed = True
                self._waiting.clear()
                tasks.cancel_scope.cancel()  # first: a handler that waits is to end, not to work around a lost answer
                for call in self._pending.values():
                    call.done.set()

    async def _finish(self) -> None:
        self._ending = True
        for entry in tuple(self._in_flight):
            entry.call.connection_over()
        with anyio.move_on_after(LAST_ANSWERS):
            while self._in_flight:
                self._idle = anyio.Event()
                await self._idle.wait()

    def _accept(self, frame: Frame, tasks: TaskGroup) -> None:
        message: Incoming | None = None
        try:
            message = self._decode(frame)
            self._act_on(message, tasks)
        except Exception as error:  # noqa: BLE001 - the frame wall: nothing that arrives ends the connection
            request = message if isinstance(message, Request) else Request(None, "reading a frame", None)
            wire = self._router.to_wire(error, request.method)
            if message is None or message is request:
                self._send(error_line(request.id, wire.code, wire.message, wire.data))

    def _read(self, frame: Frame) -> Incoming:
        if isinstance(frame, Oversized):
            request_id = None if frame.id_json is None else json.loads(frame.id_json)
            reason = f"{frame.size} bytes are too many"
            if frame.is_response:
                return Response(request_id, None, broken_answer(reason))
            return Malformed(INVALID_REQUEST, f"Invalid request: {reason}", request_id)
        if self._on_frame is not None:
            self._on_frame("in", frame)
        return decode(frame)

    def _act_on(self, message: Incoming | None, tasks: TaskGroup) -> None:
        """Answer a malformed message, start the handler of a request, or wake the waiter of a response."""
        match message:
            case Request() as request:
                self._accept_request(request, tasks)
            case Notification(method, params):
                self._accept_notification(method, params, tasks)
            case Response() as response:
                self._accept_response(response)
            case None:
                pass
            case Malformed(code, reason, request_id):
                usable = is_plain(request_id) or not self.plain_ids
                self._send(error_line(request_id if usable else None, code, reason))

    def _accept_request(self, request: Request, tasks: TaskGroup) -> None:
        if self.plain_ids and not is_plain(request.id):
            self._send(error_line(None, INVALID_REQUEST, BAD_ID))
            return
        handler = self._router.request_handler(request.method)
        if handler is None:
            self._send(error_line(request.id, METHOD_NOT_FOUND, f"Method not found: {request.method}"))
            return
        params: JsonValue = {} if request.params is None else request.params
        if not isinstance(params, Mapping):
            self._send(error_line(request.id, INVALID_PARAMS, f"{request.method}: params must be an object"))
            return
        if len(self._waiting) >= WAITING:
            reason = f"{WAITING} requests already wait to be handled; wait for some of the answers"
            self._send(error_line(request.id, ServerBusy.code, reason))
            return
        call = IncomingCall(request.id, request.method, send=partial(self._send_result, request.id))
        self._waiting.append((_InFlight(call=call, scope=anyio.CancelScope()), handler, params))
        self._start_waiting(tasks)

    def _start_waiting(self, tasks: TaskGroup) -> None:
        while self._waiting and len(self._in_flight) < IN_FLIGHT:
            entry, handler, params = self._waiting.popleft()
            if self._ending:
                entry.call.connection_over()
            self._in_flight.add(entry)
            tasks.start_soon(self._handle, entry, handler, params, tasks, name=entry.call.method)

    async def _handle(self, entry: _InFlight, handler: RequestHandler, params: JsonObject, tasks: TaskGroup) -> None:
        call = entry.call
        after = None
        try:
            with entry.scope:
                reply = await handler(call, params)
                result, after = (reply.result, reply.after) if isinstance(reply, Reply) else (reply, None)
                call.answer(result)
            if entry.scope.cancelled_caught and not call.answered:
                self._send(error_line(call.id, REQUEST_CANCELLED, f"{call.method} was cancelled"))
        except Exception as error:  # noqa: BLE001 - the request wall: every failure becomes one answer
            wire = self._router.to_wire(error, call.method)
            if call.answered:
                log.info("failed after its answer", extra={"method": call.method, "reason": wire.message})
            else:
                self._send(error_line(call.id, wire.code, wire.message, wire.data))
        finally:
            self._in_flight.remove(entry)
            self._start_waiting(tasks)
            if not self._in_flight:
                self._idle.set()
        if after is not None:
            await self._hear(lambda _: after(), call.method, {})

    def _accept_notification(self, method: str, params: JsonValue, tasks: TaskGroup) -> None:
        if params is None:
            params = {}
        if not isinstance(params, Mapping):
            log.warning("notification ignored: params are no object", extra={"method": method})
            return
        if method == CANCEL:
            # Started, not called: the request's own task comes first and may say what cancelling means.
            tasks.start_soon(self._cancel, params.get("requestId"), name=method)
            return
        handler = self._router.notification_handler(method)
        if handler is not None:
            tasks.start_soon(self._hear, handler, method, params, name=method)

    async def _hear(self, handler: NotificationHandler, method: str, params: JsonObject) -> None:
        try:
            await handler(params)
        except Exception as error:  # noqa: BLE001 - the notification wall: there is nobody to answer
            reason = self._router.to_wire(error, method).message
            log.warning("notification failed", extra={"method": method, "reason": reason})

    async def _cancel(self, request_id: JsonValue) -> None:
        for waiting in tuple(self._waiting):
            call = waiting[0].call
            if _is_same(call.id, request_id):
                self._waiting.remove(waiting)
                self._send(error_line(call.id, REQUEST_CANCELLED, f"{call.method} was cancelled"))
        for entry in tuple(self._in_flight):
            if not _is_same(entry.call.id, request_id) or entry.call.answered:
                continue
            if entry.call.on_cancel is not None:
                entry.call.on_cancel()
            else:
                entry.scope.cancel()

    def _send_result(self, request_id: RequestId, result: JsonValue) -> None:
        self._send(result_line(request_id, result))

    def _accept_response(self, response: Response) -> None:
        call = self._pending.pop(response.id, None) if isinstance(response.id, int) else None
        if call is None:
            level = logging.DEBUG if response.id in self._given_up else logging.WARNING
            log.log(level, "response ignored: nobody waits for it", extra={"id": response.id})
            return
        call.response = response
        call.done.set()


def _is_same(request_id: RequestId, named: JsonValue) -> bool:
    return type(request_id) is type(named) and request_id == named  # 1, 1.0 and true differ
