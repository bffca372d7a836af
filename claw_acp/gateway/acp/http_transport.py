"""Transport of an ACP connection over streamable HTTP: messages arrive in POST requests and leave on SSE streams."""

import anyio

from claw_acp.gateway.acp.close_code import IDLE, STALLED, CloseReason
from claw_acp.gateway.acp.inbox import Inbox
from claw_acp.gateway.acp.mailbox import Mailbox
from claw_acp.gateway.acp.routing import ENDERS, REOPENERS, Asked, Route, Routes, session_in
from claw_acp.gateway.acp.send_backlog import SendBacklog
from claw_acp.gateway.http.idle_tracker import IdleTracker
from claw_acp.gateway.http.limits import Limits
from claw_acp.rpc.message import Malformed, Request, Response, decode


class HttpTransport:
    """The frames of one connection. See `Transport`; the other methods serve the HTTP requests that carry them."""

    def __init__(self, limits: Limits) -> None:
        self.usage = IdleTracker()
        self.over = anyio.Event()
        self._limits = limits
        self._inbox = Inbox()
        self._unread = SendBacklog(stall=limits.stall, on_stall=lambda: self.end(STALLED))
        self._routes = Routes()
        self._common = Mailbox(self._unread)
        self._sessions: dict[str, Mailbox] = {}
        self._first_answer: bytes | None = None
        self._answered = anyio.Event()

    # ------------------------------------------------------------------ the agent's side

    async def receive(self) -> bytes | None:
        """See `Transport.receive`."""
        return await self._inbox.take()

    def send(self, line: bytes) -> None:
        """See `Transport.send`."""
        if self.over.is_set():
            return
        if self._first_answer is None:
            self._first_answer = line
            self._answered.set()
            return
        message = decode(line)
        if isinstance(message, Response):
            self._send_answer(message, line)
        elif isinstance(message, Malformed):  # the agent writes none
            self._common.put(line)
        else:
            self._mailbox(self._routes.for_call(message)).put(line)

    @property
    def backlog(self) -> int:
        """See `Transport.backlog`."""
        return self._unread.size

    async def drained(self) -> None:
        """See `Transport.drained`. A client that stops reading for too long is disconnected."""
        await self._unread.drained()

    def end(self, ending: CloseReason) -> None:  # noqa: ARG002 - streams end without a reason
        """See `RemoteTransport.end`."""
        if not self.over.is_set():
            self.over.set()
            self._inbox.end()
            self._unread.end()
            self._answered.set()
            for mailbox in (self._common, *self._sessions.values()):
                mailbox.finish()

    async def end_when_unused(self) -> None:
        """Close the connection when no stream was open for too long; runs as long as the connection."""
        while True:
            await self.usage.none()
            with anyio.move_on_after(self._limits.idle):
                await self.usage.some()
                continue
            self.end(IDLE)
            return

    # ------------------------------------------------------------------ the client's side

    async def initialize(self, frame: bytes) -> bytes:
        """Deliver the first message; returns its response, empty when the connection closed before.

        Raises:
            TimeoutError: No response came in time.
        """
        await self._inbox.put(frame)
        with anyio.fail_after(self._limits.answer):
            await self._answered.wait()
        return self._first_answer or b""

    async def take_request(self, request: Request, frame: bytes, *, session: Route) -> None:
        """Deliver a request. The response is sent on the stream of `session`, if given.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        stream = self._sessions.get(session or "")
        await self._put(frame)  # the agent has not seen it before this returns and the next line is done
        self._routes.asked(request, session=session, streamed=stream is not None and stream.open)

    async def take(self, frame: bytes) -> None:
        """Deliver a notification.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        await self._put(frame)

    def expects(self, response: Response) -> Route:
        """The session that a response of the client belongs to; None when any will do."""
        return self._routes.expected_from(response)

    async def take_answer(self, response: Response, frame: bytes) -> None:
        """Deliver the response to a request of the agent.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        await self._put(frame)
        self._routes.settle(response)

    def stream(self, session: Route) -> Mailbox | None:
        """The queue of a session's stream, or of the connection's; None when there are too many streams."""
        if session is None:
            return self._common
        if session not in self._sessions:
            if len(self._sessions) >= self._limits.streams and not self._make_room():
                return None
            self._sessions[session] = Mailbox(self._unread)
        return self._sessions[session]

    def left(self, session: Route, mailbox: Mailbox) -> None:
        """The reader of a session's stream has left; forget the stream when it has nothing to send."""
        if session is not None and self._sessions.get(session) is mailbox and mailbox.forgettable:
            del self._sessions[session]

    # ------------------------------------------------------------------ routes

    async def _put(self, frame: bytes) -> None:
        with anyio.fail_after(self._limits.answer):
            await self._inbox.put(frame)

    def _mailbox(self, route: Route) -> Mailbox:
        return self._sessions.get(route or "", self._common)

    def _make_room(self) -> bool:
        """Drop the oldest stream whose session is not open; False when there is none."""
        for session, mailbox in self._sessions.items():
            if not mailbox.kept:
                del self._sessions[session]
                mailbox.finish()
                return True
        return False

    def _send_answer(self, response: Response, line: bytes) -> None:
        asked = self._routes.answered(response)
        if asked is None:
            self._common.put(line)
            return
        self._mailbox(None if asked.apart else asked.session).put(line)
        if response.error is None:
            self._follow(asked, opened=session_in(response.result))

    def _follow(self, asked: Asked, *, opened: Route) -> None:
        """Update the streams after a successful request: only messages of open sessions wait for a reader.

        The stream of a closed session is not ended: clients take that for a failure of their next request.
        """
        if asked.method in ENDERS and asked.session is not None:
            if mailbox := self._sessions.get(asked.session):
                mailbox.kept = False
            return
        session = asked.session if asked.method in REOPENERS else opened
        mailbox = None if session is None else self.stream(session)
        if mailbox is not None:
            mailbox.kept = True
