"""A connection over streamable HTTP: messages come one by one in POST requests and leave on streams."""

import anyio

from claw_acp.gateway.ending import IDLE, STALLED, Ending
from claw_acp.gateway.inbox import Inbox
from claw_acp.gateway.limits import Limits
from claw_acp.gateway.mailbox import Mailbox
from claw_acp.gateway.routing import ENDERS, REOPENERS, Asked, Route, Routes, session_in
from claw_acp.gateway.unread import Unread
from claw_acp.gateway.usage import Usage
from claw_acp.rpc.message import Malformed, Request, Response, decode


class HttpTransport:
    """Frames of one connection. See `Transport`; the rest is for the requests that carry them."""

    def __init__(self, limits: Limits) -> None:
        self.usage = Usage()
        self.over = anyio.Event()
        self._limits = limits
        self._inbox = Inbox()
        self._unread = Unread(stall=limits.stall, on_stall=lambda: self.end(STALLED))
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
        """See `Transport.drained`. A client that reads nothing for too long loses the connection."""
        await self._unread.drained()

    def end(self, ending: Ending) -> None:  # noqa: ARG002 - streams end without a reason
        """See `RemoteTransport.end`."""
        if not self.over.is_set():
            self.over.set()
            self._inbox.end()
            self._unread.end()
            self._answered.set()
            for mailbox in (self._common, *self._sessions.values()):
                mailbox.finish()

    async def end_when_unused(self) -> None:
        """End it when no stream was open for too long; runs as long as the connection."""
        while True:
            await self.usage.none()
            with anyio.move_on_after(self._limits.idle):
                await self.usage.some()
                continue
            self.end(IDLE)
            return

    # ------------------------------------------------------------------ the client's side

    async def initialize(self, frame: bytes) -> bytes:
        """Hand in the first message; returns its answer, empty when there is none because the connection ended.

        Raises:
            TimeoutError: There is none in time.
        """
        await self._inbox.put(frame)
        with anyio.fail_after(self._limits.answer):
            await self._answered.wait()
        return self._first_answer or b""

    async def take_request(self, request: Request, frame: bytes, *, session: Route) -> None:
        """Hand in a request. Its answer goes the session's way, if one was named.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        stream = self._sessions.get(session or "")
        await self._put(frame)  # the agent has not seen it before this returns and the next line is done
        self._routes.asked(request, session=session, streamed=stream is not None and stream.open)

    async def take(self, frame: bytes) -> None:
        """Hand in a notification.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        await self._put(frame)

    def expects(self, response: Response) -> Route:
        """In which session an answer of the client's belongs; None where that does not matter."""
        return self._routes.expected_from(response)

    async def take_answer(self, response: Response, frame: bytes) -> None:
        """Hand in the answer to a request of the agent's.

        Raises:
            TimeoutError: There is no room for it in time.
        """
        await self._put(frame)
        self._routes.settle(response)

    def stream(self, session: Route) -> Mailbox | None:
        """What the stream of a session, or of the connection, has to carry; None when there are too many streams."""
        if session is None:
            return self._common
        if session not in self._sessions:
            if len(self._sessions) >= self._limits.streams and not self._make_room():
                return None
            self._sessions[session] = Mailbox(self._unread)
        return self._sessions[session]

    def left(self, session: Route, mailbox: Mailbox) -> None:
        """Nobody reads the stream of a session any more; one that carries nothing is forgotten."""
        if session is not None and self._sessions.get(session) is mailbox and mailbox.forgettable:
            del self._sessions[session]

    # ------------------------------------------------------------------ routes

    async def _put(self, frame: bytes) -> None:
        with anyio.fail_after(self._limits.answer):
            await self._inbox.put(frame)

    def _mailbox(self, route: Route) -> Mailbox:
        return self._sessions.get(route or "", self._common)

    def _make_room(self) -> bool:
        """End the oldest stream of a session that is not open."""
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
        """What a success means for the streams: messages of an open session wait for its own, those of others don't.

        The stream of a session that was closed is not ended: clients take that for a failure of whatever they ask next.
        """
        if asked.method in ENDERS and asked.session is not None:
            if mailbox := self._sessions.get(asked.session):
                mailbox.kept = False
            return
        session = asked.session if asked.method in REOPENERS else opened
        mailbox = None if session is None else self.stream(session)
        if mailbox is not None:
            mailbox.kept = True
