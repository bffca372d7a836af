"""One attached program: its connection, its signs of life, and the requests both ways."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import anyio
from pydantic import ValidationError

from claw_acp.contracts.endpoint import (
    LOG_LINES,
    LOG_SECONDS,
    MOST_CALLS,
    MOST_MALFORMED,
    PING_EVERY,
    PING_TIMEOUT,
)
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError, ServerBusy
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.kit.endpoint_wire import InitializeResult, LogParams, Message
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.framing import Frame, Oversized
from claw_acp.rpc.message import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Incoming,
    Malformed,
    Response,
    broken_answer,
    decode,
)
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler, Router, Transport

Answer: TypeAlias = Callable[[JsonObject], Awaitable[Message]]
"""Answers a request of the program."""

Reason: TypeAlias = Literal["refused", "replaced", "unresponsive", "malformed", "shutdown"]

LONGEST_LOGGED: Final = 2000  # characters of a line of its log

log = logging.getLogger(__name__)


class Identity(Value):
    """The identity of a program: one that attaches again has the same."""

    role: str
    name: str
    instance: str


class Endpoint(Router):
    """One attached program. `run` serves it until it leaves.

    Args:
        transport: Its connection.
        about: Its answer to `initialize`.
        clock: Time.

    Attributes:
        answers: Answers its requests, by method.
    """

    def __init__(self, transport: Transport, about: InitializeResult, *, clock: Clock) -> None:
        info = about.endpoint_info
        self.identity = Identity(role=about.role, name=info.name, instance=info.instance or "")
        self.version = info.version
        self.ending: Reason | None = None
        """The reason for which we ended the connection; None when the program did."""
        self.answers: dict[str, Answer] = {"ping": _pong}
        self._clock = clock
        self._peer = Dispatcher(transport, self, decode=self._decoded)
        self._calls = 0
        self._malformed = 0
        self._logged = 0
        self._unlogged = 0
        self._logged_since = clock.monotonic()

    @property
    def name(self) -> str:
        """Its name, for people."""
        return self.identity.name

    async def run(self) -> None:
        """Serve it until it leaves or is let go."""
        if self.ending is not None:
            return  # replaced while it waited for the end of an older connection
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, name="ping")
                await self._peer.run()
                tasks.cancel_scope.cancel()
        finally:
            self._tell_unlogged()

    async def request(self, method: str, params: Message, *, within: float) -> JsonValue:
        """Send a request, and wait for the result.

        Raises:
            ServerBusy: Too many are under way in it.
            RpcError: The answer is an error.
            ConnectionClosed: It has left.
            TimeoutError: There was no answer in time.
        """
        if self._calls >= MOST_CALLS:
            raise ServerBusy(f"the program {self.name} works on {MOST_CALLS} requests already")
        self._calls += 1
        try:
            return await self._peer.request(method, params.plain(), within=within)
        finally:
            self._calls -= 1

    def let_go(self, reason: Reason, message: str) -> None:
        """End the connection, and tell the program why."""
        if self.ending is None:
            self.ending = reason
            log.info("let go of an attached program", extra={"program": self.name, "reason": message})
            self._peer.notify_nowait("closing", {"reason": reason, "message": message})
            self._peer.hang_up()

    async def shut_down(self, *, within: float) -> None:
        """Ask it to leave, and end the connection."""
        self.ending = self.ending or "shutdown"
        try:
            await self._peer.request("shutdown", {}, within=within)
        except (RpcError, ConnectionClosed, TimeoutError) as error:
            log.debug("a program did not answer `shutdown`", extra={"program": self.name, "reason": str(error)})
        self._peer.hang_up()

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(PING_EVERY)
            try:
                await self._peer.request("ping", {}, within=PING_TIMEOUT)
            except TimeoutError:
                self.let_go("unresponsive", f"no answer to `ping` within {PING_TIMEOUT:g} s")
            except ConnectionClosed:
                return
            except RpcError:
                continue  # an error is a sign of life, too

    # ------------------------------------------------------------------ what it sends

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`."""
        answer = self.answers.get(method)
        if answer is None:
            return None

        async def handle(_: IncomingCall, params: JsonObject) -> JsonValue:
            return (await answer(params)).plain()

        return handle

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """See `Router`."""
        return self._log if method == "log" else None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        if isinstance(error, RpcError):
            return error
        if isinstance(error, ValidationError):
            return RpcError(INVALID_PARAMS, invalid(error))
        if isinstance(error, ClawError):
            return RpcError(error.code, error.message, error.data)
        incident = new_id("inc", clock=self._clock)
        log.error("request of an attached program failed", exc_info=error, extra={"method": method, "id": incident})
        return RpcError(INTERNAL_ERROR, f"internal error in {method}: see log entry {incident}")

    def _decoded(self, frame: Frame) -> Incoming | None:
        """Read a frame; a program that goes on writing what is no JSON-RPC is let go."""
        if self.ending not in {None, "shutdown"}:
            return None
        message = _too_long(frame) if isinstance(frame, Oversized) else decode(frame)
        if isinstance(message, Malformed):
            self._malformed += 1
            if self._malformed >= MOST_MALFORMED:
                self.let_go("malformed", f"{self._malformed} lines were no JSON-RPC; the last one: {message.reason}")
                return None
        return message

    async def _log(self, params: JsonObject) -> None:
        now = self._clock.monotonic()
        if now - self._logged_since >= LOG_SECONDS:
            self._tell_unlogged()
            self._logged_since, self._logged = now, 0
        self._logged += 1
        if self._logged > LOG_LINES:
            self._unlogged += 1
            return
        said = LogParams.model_validate(params)
        text = printable(said.message[:LONGEST_LOGGED])
        log.log(
            logging.getLevelNamesMapping()[said.level.upper()],
            "an attached program says",
            extra={"program": self.name, "text": text},
        )

    def _tell_unlogged(self) -> None:
        if self._unlogged:
            log.warning("lines of a program's log were dropped", extra={"program": self.name, "count": self._unlogged})
            self._unlogged = 0


def _too_long(frame: Oversized) -> Incoming:
    reason = f"{frame.size:,} bytes are too many for one line"
    request_id = None if frame.id_json is None else json.loads(frame.id_json)
    if frame.is_response:
        return Response(request_id, None, broken_answer(reason))
    return Malformed(INVALID_REQUEST, reason, request_id)


def invalid(error: ValidationError) -> str:
    """The first thing that is wrong with a message, and its place in it."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    said = problem["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said


async def _pong(_: JsonObject) -> Message:
    return Message()


if TYPE_CHECKING:
    _conforms: type[Router] = Endpoint
