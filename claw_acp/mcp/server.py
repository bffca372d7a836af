"""One server of one session: started, monitored, restarted after a crash, and given up when that does not help."""

import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

import anyio
from anyio import to_thread

from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.clock import Clock
from claw_acp.core.errors import BrokenExtension, NoAnswer, ToolError
from claw_acp.core.events import Event, Notice
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart
from claw_acp.core.printable import printable
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.failure import ServerFailed, SessionForgotten
from claw_acp.mcp.loading import Connect, load_connect
from claw_acp.mcp.server_catalog import NOTHING, OfferedResource, OnProgress, ServerConnection
from claw_acp.mcp.server_config import Plan
from claw_acp.session.session import Session
from claw_acp.telemetry.context import log_context

RESTARTS = 3  # within `RESTART_WINDOW`; one more death and the server is off
RESTART_WINDOW = 60.0  # seconds
BACKOFF = (0.2, 1.0, 3.0)  # seconds before each restart
STOP_TIMEOUT = 2.0  # seconds for a server to end by itself
NEWS_SECONDS = 5.0  # to tell a server something it need not answer

_T = TypeVar("_T")

log = logging.getLogger(__name__)


class Server:
    """A server, served by `run` in a task, which ends when the server is given up, or by `stop`.

    Args:
        plan: The server to run.
        slug: Its part of the names of tools and commands.
        session: Its session.
        clock: Time.
        secrets: Reads keys that take time to get.
        changed: Called when the offer has changed.
        tell: Shows notices to people.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        slug: str,
        session: Session,
        clock: Clock,
        secrets: SecretCache,
        changed: Callable[[], Awaitable[None]],
        tell: Callable[[Event], Awaitable[None]],
    ) -> None:
        self.plan = plan
        self.slug = slug
        self.name = printable(plan.name)[:80] or slug
        self.offer = NOTHING
        self.settled = anyio.Event()
        self.ended = anyio.Event()
        self._session = session
        self._clock = clock
        self._secrets = secrets
        self._changed = changed
        self._tell_people = tell
        self._connection: ServerConnection | None = None
        self._news = anyio.Event()
        self._off: str | None = None
        self._was_up = False
        self._stopped = False
        self._starting = anyio.CancelScope()
        self._serving = anyio.CancelScope()

    @property
    def off(self) -> bool:
        """True if the server was given up."""
        return self._off is not None

    # ------------------------------------------------------------------ its life

    async def run(self) -> None:
        """Run the server until it is given up or stopped."""
        with log_context(session=self._session.id):
            try:
                await self._keep()
            except Exception:
                # The server wall: whatever one server makes go wrong, the others and their session go on.
                log.exception("MCP server given up", extra={"server": self.name})
                await self._give_up(ServerFailed("made something go wrong", advice="The log tells more."))
            finally:
                self._connection = None
                self.offer = NOTHING
                self.settled.set()
                self.ended.set()
                self._tell()

    async def _keep(self) -> None:
        deaths: deque[float] = deque(maxlen=RESTARTS)
        while not self._stopped:
            try:
                await self._once()
            except ServerFailed as failure:
                self._connection = None
                if self._stopped:
                    return
                if not self._worth_a_restart(failure, deaths):
                    await self._give_up(failure)
                    return
                await self._pause(deaths)

    async def _once(self) -> None:
        """Connect and serve, until the server is lost or we stop.

        Raises:
            ServerFailed: It did not start, or was lost.
        """
        evidence: Diagnostics | None = None
        with anyio.CancelScope() as self._starting:
            connect = await self._connect_with()
            self._starting.deadline = anyio.current_time() + self.plan.start
            spec = await to_thread.run_sync(self.plan.resolved, self._secrets, abandon_on_cancel=True)
            evidence = Diagnostics(spec)
            roots = self._session.roots
            async with connect(spec, cwd=roots[0], roots=lambda: self._session.roots, evidence=evidence) as connection:
                with anyio.CancelScope() as self._serving:
                    await connection.open()
                    self._starting.deadline = math.inf
                    await self._serve(connection)
        if self._starting.cancelled_caught and not self._stopped:
            raise ServerFailed(
                f"did not say what it offers within {self.plan.start:g} s." + (evidence.last_words if evidence else ""),
                advice="Check that it speaks MCP, and that its command does not wait for anything.",
            )

    async def _connect_with(self) -> Connect:
        try:
            return await load_connect()
        except BrokenExtension as error:
            reason = f"cannot be used: the library for it cannot be loaded ({error.message})"
            raise ServerFailed(reason, advice="Install claw-acp again.") from error

    async def _serve(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._was_up = True
        self._tell()

        async def take() -> None:
            news, self.offer = connection.offer != self.offer, connection.offer
            if news:
                await self._changed()

        await take()
        self.settled.set()
        await connection.attend(take)

    def _worth_a_restart(self, failure: ServerFailed, deaths: deque[float]) -> bool:
        """Return whether to restart: not a server that never started, nor after `RESTARTS` restarts in the window."""
        now = self._clock.monotonic()
        again = self._was_up and (len(deaths) < RESTARTS or now - deaths[0] > RESTART_WINDOW)
        log.warning("MCP server failed", extra={"server": self.name, "reason": failure.reason, "again": again})
        deaths.append(now)
        return again

    async def _pause(self, deaths: deque[float]) -> None:
        recent = sum(deaths[-1] - death <= RESTART_WINDOW for death in deaths)
        with anyio.CancelScope() as self._starting:
            await anyio.sleep(BACKOFF[recent - 1])

    async def _give_up(self, failure: ServerFailed) -> None:
        self._off = failure.reason
        had, self.offer = self.offer, NOTHING
        self._tell()
        if had != NOTHING:
            await self._changed()
        advice = failure.advice or "Correct its settings, then open the session again."
        await self._tell_people(
            Notice(
                item=new_id("ntc", clock=self._clock),
                severity="warning",
                title=f"The MCP server {self.name} is not available",
                description=f"It {failure.reason.rstrip('.')}. {advice}",
            )
        )

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()

    def stop(self) -> None:
        """Begin to stop it; `ended` is set when that is done."""
        self._stopped = True
        self._tell()
        if self._connection is None:
            self._starting.cancel()
        else:
            self._serving.cancel()  # and then it may say goodbye
            self._starting.deadline = anyio.current_time() + STOP_TIMEOUT

    async def roots_changed(self) -> None:
        """Notify it of other session directories."""
        if self._connection is not None:
            with anyio.move_on_after(NEWS_SECONDS):
                await self._connection.roots_changed()

    # ------------------------------------------------------------------ using it

    async def call(self, tool: str, arguments: JsonObject, *, on_progress: OnProgress) -> ToolResult:
        """Call a tool.

        Raises:
            ToolError: It could not be called, or did not answer.
        """
        within = self.plan.call
        return await self._use(lambda server: server.call(tool, arguments, within=within, on_progress=on_progress))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[ContentPart, ...]:
        """The content of a prompt; raises `ToolError`."""
        return await self._use(lambda server: server.prompt(name, arguments, within=self.plan.call))

    async def resources(self) -> Sequence[OfferedResource]:
        """Its documents and patterns; raises `ToolError`."""
        return await self._use(lambda server: server.resources(within=self.plan.call))

    async def read(self, uri: str) -> tuple[ContentPart, ...]:
        """A document; raises `ToolError`."""
        return await self._use(lambda server: server.read(uri, within=self.plan.call))

    async def _use(self, request: Callable[[ServerConnection], Awaitable[_T]]) -> _T:
        """Send a request; once more if the server had forgotten our session, since then it was not carried out."""
        before: ServerConnection | None = None
        for _ in range(2):
            connection = await self._connected(other_than=before)
            try:
                return await request(connection)
            except SessionForgotten:
                before = connection
            except ServerFailed as failure:
                raise ToolError(
                    f"The MCP server {self.name} {failure.reason} while it was asked. Whether it did anything is not "
                    "known; it is being started again."
                ) from failure
        raise NoAnswer(f"The MCP server {self.name} keeps losing its sessions.")

    async def _connected(self, *, other_than: ServerConnection | None) -> ServerConnection:
        with anyio.move_on_after(self.plan.start):
            while (connection := self._connection) is None or connection is other_than:
                if self._off is not None or self._stopped:
                    raise ToolError(
                        f"The MCP server {self.name} is not available: it {self._off or 'was disconnected'}."
                    )
                await self._news.wait()
            return connection
        raise NoAnswer(f"The MCP server {self.name} is being started again, and is not ready yet. Try again later.")
