"""The interfaces that a JSON-RPC peer provides and needs."""

from collections.abc import Awaitable, Callable
from typing import Literal, Protocol, TypeAlias

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.framing import Frame
from claw_acp.rpc.message import RequestId

Direction = Literal["in", "out"]
OnFrame = Callable[[Direction, bytes], None]


class Transport(Protocol):
    """Carries frames. One task receives; anyone on the event loop sends."""

    async def receive(self) -> Frame | None:
        """The next frame without its line end; None when the other side is gone."""
        ...

    def send(self, line: bytes) -> None:
        """Queue a whole line. Dropped when the other side is gone."""
        ...

    @property
    def backlog(self) -> int:
        """Bytes queued and not yet taken by the other side."""
        ...

    async def drained(self) -> None:
        """Wait until the backlog is small again or the other side is gone."""
        ...


class IncomingCall:
    """A request being handled.

    Args:
        request_id: Its id.
        method: What it calls.
        send: Writes its result.

    Attributes:
        on_gone: What the end of the connection does, where that differs from `on_cancel`; set before that.
    """

    __slots__ = ("_on_cancel", "_over", "_send", "answered", "id", "method", "on_gone")

    def __init__(self, request_id: RequestId, method: str, *, send: Callable[[JsonValue], None] | None = None) -> None:
        self.id = request_id
        self.method = method
        self.answered = False
        self._send = send
        self.on_gone: Callable[[], None] | None = None
        self._on_cancel: Callable[[], None] | None = None
        self._over = False

    def answer(self, result: JsonValue) -> None:
        """Send the answer now and go on working: the handler's later result or error only goes to the log."""
        if not self.answered and self._send is not None:
            self._send(result)
            self.answered = True

    @property
    def on_cancel(self) -> Callable[[], None] | None:
        """The action of `$/cancel_request`; without it the handler is cancelled and -32800 answered.

        Once the request is answered, `$/cancel_request` does nothing: the id may be in use for another one.

        A handler that sets it may run long, and is cancelled at once when the connection ends, even if that happened
        before.
        """
        return self._on_cancel

    @on_cancel.setter
    def on_cancel(self, act: Callable[[], None]) -> None:
        self._on_cancel = act
        if self._over:
            self.connection_over()

    def connection_over(self) -> None:
        """Handle the end of the connection: cancel a handler that may run long, let others finish."""
        self._over = True
        if (act := self.on_gone or self._on_cancel) is not None:
            act()


class Reply:
    """A result with something to do once it has been sent."""

    def __init__(self, result: JsonValue, after: Callable[[], Awaitable[None]]) -> None:
        self.result, self.after = result, after


RequestHandler: TypeAlias = Callable[[IncomingCall, JsonObject], Awaitable["JsonValue | Reply"]]
NotificationHandler: TypeAlias = Callable[[JsonObject], Awaitable[None]]


class Router(Protocol):
    """Finds the handlers of one connection."""

    def request_handler(self, method: str) -> RequestHandler | None:
        """The handler of the request `method`; None: -32601."""
        ...

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """The handler of the notification `method`; None: ignored."""
        ...

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """The one place where an exception becomes a wire error."""
        ...


class Peer(Protocol):
    """The other side, for use by a handler."""

    async def request(self, method: str, params: JsonObject, *, within: float | None = None) -> JsonValue:
        """Send a request and wait for its answer; a cancelled call sends `$/cancel_request`.

        Raises:
            RpcError: The answer was an error.
            ConnectionClosed: There will be no answer.
            TimeoutError: No answer within `within` seconds.
        """
        ...

    async def notify(self, method: str, params: JsonObject) -> None:
        """Send a notification; waits while the other side is slow."""
        ...

    def notify_nowait(self, method: str, params: JsonObject) -> None:
        """Send a notification without waiting, however much is unread; the caller checks `slow` and `overloaded`."""
        ...

    @property
    def slow(self) -> bool:
        """True if so much is unread that senders should pause."""
        ...

    @property
    def overloaded(self) -> bool:
        """True if so much is unread that no more should be queued."""
        ...

    async def drained(self) -> None:
        """Wait until little is unread, or the other side is gone."""
        ...

    @property
    def closed(self) -> bool:
        """True once the other side is gone."""
        ...

    def hang_up(self) -> None:
        """End the connection."""
        ...
