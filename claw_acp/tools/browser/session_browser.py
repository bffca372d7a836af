"""The browser of one session: started with the first page, ended with the session or when it is not used any more."""

import logging
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Final

import anyio

from claw_acp.contracts.tool import ToolContext, ToolState
from claw_acp.contracts.web import Browsing
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.outer_path import outer_program
from claw_acp.process.output_tail import OutputTail
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler
from claw_acp.rpc.streams import stream_transport
from claw_acp.tools.browser.page_requests import REFUSED, PageRequests

log = logging.getLogger(__name__)

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WITHIN: Final = 60.0
"""Seconds for one call."""
IDLE_SECONDS: Final = 600.0
"""Seconds after its last use that a browser is ended."""
MOST_REQUESTS: Final = 1_000
"""Requests of pages in one call."""
LEAVING: Final = 2.0  # seconds for it to close itself
CLOSING: Final = 4.0  # seconds until it is gone

_KEY: Final = "browser"
_STDERR: Final = 2000  # bytes of its error output that are kept


class SessionBrowser:
    """The browser of one session. Kept on its state, which closes it.

    Attributes:
        url: The address of the page; empty: none is open.
        elements: What can be clicked or filled there, as the model saw it last.
    """

    def __init__(self) -> None:
        self.url = ""
        self.elements: Sequence[JsonValue] = ()
        self._hosts: set[str] = set()
        self._allowed_hosts: tuple[str, ...] = ()
        self._requests: PageRequests | None = None
        self._peer: Dispatcher | None = None
        self._ready = anyio.Event()
        self._stopping = anyio.Event()
        self._over = anyio.Event()
        self._over.set()
        self._errors = OutputTail(limit=_STDERR)
        self._used = 0.0
        self._left = 0  # requests that its pages may make: none while nobody uses it
        self._lock = anyio.Lock()

    @classmethod
    def on(cls, state: ToolState) -> "SessionBrowser":
        """The browser of the session with this state."""
        browser = state.get(_KEY, cls)
        assert isinstance(browser, cls)
        return browser

    async def open(self, url: str, *, host: str, context: ToolContext) -> JsonObject:
        """Show an address that may be opened.

        Raises:
            ToolError: There is no browser, or no such page.
        """
        if self._over.is_set():
            self._start(context)
        self._hosts.add(host)
        return await self.call("open", {"url": url}, context=context)

    async def call(self, method: str, params: JsonObject, *, context: ToolContext) -> JsonObject:
        """The answer of the browser.

        Raises:
            ToolError: It failed, or no page is open.
        """
        async with self._lock:
            await self._ready.wait()
            peer = self._peer
            if peer is None or self._over.is_set():
                raise ToolError(f"The browser has ended{self._last_words()}. Use browser_open to start again.")
            self._allowed_hosts = tuple(context.allowed_hosts)
            self._used, self._left = anyio.current_time(), MOST_REQUESTS
            try:
                answer = await peer.request(method, params, within=WITHIN)
            except RpcError as error:
                raise ToolError(f"The browser says: {error.message}.") from error
            except TimeoutError as error:
                raise ToolError(f"The browser did not answer within {WITHIN:g} s.") from error
            except ConnectionClosed as error:
                await self._over.wait()
                raise ToolError(f"The browser has ended{self._last_words()}.") from error
            finally:
                self._left = 0
            nothing: JsonObject = {}
            found = answer if isinstance(answer, Mapping) else nothing
            self._note(found)
            return found

    async def aclose(self) -> None:
        """End it."""
        self._stopping.set()
        with anyio.move_on_after(CLOSING, shield=True):
            await self._over.wait()

    # ------------------------------------------------------------------ its life

    def _start(self, context: ToolContext) -> None:
        browsing = context.port(Browsing)
        program = next(filter(None, (outer_program(name, roots=context.workspace.roots) for name in PROGRAMS)), None)
        if browsing is None or find_spec("playwright") is None:
            raise ToolError(
                "There is no browser here: it needs the extra `browser` of this program (pip install "
                "'claw-acp[browser]'). Tell the user, and use fetch."
            )
        if program is None:
            raise ToolError(f"There is no browser here: none of {', '.join(PROGRAMS)} is on the PATH. Use fetch.")
        self._requests = PageRequests(
            self._hosts, may_reach=browsing.may_reach, allowed_hosts=lambda: self._allowed_hosts
        )
        self._ready, self._stopping, self._over = anyio.Event(), anyio.Event(), anyio.Event()
        self._errors = OutputTail(limit=_STDERR)

        async def run() -> None:
            await self._run(program)

        browsing.start(run)

    async def _run(self, program: str) -> None:
        try:
            await self._live(program)
        except Exception:  # the tool wall: whatever the browser brings about ends no more than itself
            log.exception("browser broke")
        finally:
            self._peer, self.url = None, ""
            self._over.set()
            self._ready.set()

    async def _live(self, program: str) -> None:
        argv = [sys.executable, "-P", "-m", "claw_acp.tools.browser.host", program]
        child = await start_child(argv, env=without_keys(current_environment()), stdin="pipe")
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            async with stream_transport(child.stdout, child.stdin) as transport, anyio.create_task_group() as tasks:
                self._peer = Dispatcher(transport, self)
                tasks.start_soon(child.drain_stderr, self._errors.add)
                tasks.start_soon(self._listen, self._peer)
                self._used = anyio.current_time()
                self._ready.set()
                await self._until_unused()
                tasks.cancel_scope.cancel()
        finally:
            await self._end(child)

    async def _listen(self, peer: Dispatcher) -> None:
        await peer.run()
        self._stopping.set()

    async def _until_unused(self) -> None:
        while not self._stopping.is_set() and (left := self._used + IDLE_SECONDS - anyio.current_time()) > 0:
            with anyio.move_on_after(left):
                await self._stopping.wait()

    async def _end(self, child: ChildProcess) -> None:
        with anyio.CancelScope(shield=True):
            await child.end(leave=LEAVING, terminate=1.0)

    def _last_words(self) -> str:
        lines = [line.strip() for line in self._errors.text(ended=True).splitlines() if line.strip()]
        return f": {lines[-1][:200]}" if lines else ""

    def _note(self, found: JsonObject) -> None:
        url, elements = found.get("url"), found.get("elements")
        if isinstance(url, str):
            self.url = url
        if isinstance(elements, Sequence) and not isinstance(elements, str):
            self.elements = elements

    # ------------------------------------------------------------------ what its pages want

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`."""
        requests = self._requests
        if method != "fetch" or requests is None:
            return None

        async def fetch(_call: IncomingCall, params: JsonObject) -> JsonValue:
            if not self._left:
                raise RpcError(REFUSED, "the page waits until the browser is used again")
            self._left -= 1
            return await requests.answer(params)

        return fetch

    def notification_handler(self, method: str) -> NotificationHandler | None:  # noqa: ARG002 - there is none
        """See `Router`."""
        return None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        if isinstance(error, RpcError):
            return error
        log.warning("request of a page failed", exc_info=error, extra={"method": method})
        return RpcError(-32603, "internal error")
