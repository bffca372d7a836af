"""The program that drives the browser: it has the library for that, and asks its parent for everything of the network.

The browser itself reaches nobody: what its pages want is intercepted, and the parent fetches it by the rules. It ends
with its input.
"""

import base64
import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

import anyio
from playwright.async_api import BrowserContext, ElementHandle, Error, Page, Route, WebSocketRoute, async_playwright

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.process.pipes import PipeReader, PipeWriter
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler
from claw_acp.rpc.streams import stream_transport

LOADING: Final = 25_000.0  # milliseconds for a page
SETTLING: Final = 3_000.0  # milliseconds in which its scripts may go on loading
ACTING: Final = 5_000.0  # milliseconds for a click or a text
LOOKS: Final = 3
MOST_ELEMENTS: Final = 150
MOST_TEXT: Final = 200_000  # characters of a page that are passed on
FAILED: Final = -31000

_ELEMENTS: Final = "a[href], button, input:not([type=hidden]), textarea, select, [role=button], [role=link], summary"
_DESCRIBE: Final = """element => {
  const name = element.getAttribute('aria-label') || element.innerText || element.getAttribute('placeholder') ||
    element.getAttribute('name') || element.getAttribute('title') || element.value || '';
  const kind = element.tagName.toLowerCase();
  const type = kind === 'input' ? element.type : '';
  const value = type === 'password' ? '' : (kind === 'a' ? element.href : String(element.value || ''));
  return {kind, type, name: String(name).trim().slice(0, 100), value: value.slice(0, 200)};
}"""
_FLAGS: Final = (
    "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",  # what is not intercepted ends there
    "--host-resolver-rules=MAP * ~NOTFOUND",  # names of TURN servers would be looked up all the same
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its name in chrome-headless-shell
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-pings", "--dns-prefetch-disable", "--disable-quic",
)  # fmt: skip

_Act: TypeAlias = Callable[[JsonObject], Awaitable[JsonValue]]


class BrowserHost:
    """One page. `pages` are the methods that the parent calls."""

    def __init__(self) -> None:
        self.peer: Dispatcher | None = None
        self._page: Page | None = None
        self._elements: Sequence[ElementHandle] = ()
        self._refused: list[str] = []
        self._methods: Mapping[str, _Act] = {
            "open": self._open, "look": self._look, "click": self._click, "fill": self._fill,
            "screenshot": self._screenshot,
        }  # fmt: skip

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`."""
        act = self._methods.get(method)
        if act is None:
            return None

        async def handled(_call: IncomingCall, params: JsonObject) -> JsonValue:
            self._refused.clear()
            try:
                return await act(params)
            except Error as error:
                raise RpcError(FAILED, error.message.partition("\n")[0][:300]) from error

        return handled

    def notification_handler(self, method: str) -> NotificationHandler | None:  # noqa: ARG002 - there is none
        """See `Router`."""
        return None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        if isinstance(error, RpcError):
            return error
        return RpcError(FAILED, f"{method} failed: {type(error).__name__}")

    async def begin(self, context: BrowserContext) -> None:
        """Make the page, of which every request is intercepted."""
        await context.route("**/*", self._serve)
        await context.route_web_socket("**/*", self._refuse_socket)
        self._page = await context.new_page()
        context.on("page", self._close_other)

    # ------------------------------------------------------------------ what the parent wants

    async def _open(self, params: JsonObject) -> JsonValue:
        page = self._the_page()
        try:
            await page.goto(str(params["url"]), timeout=LOADING)
        except Error:
            if not self._refused:
                raise
        return await self._settled()

    async def _look(self, _params: JsonObject) -> JsonValue:
        return await self._seen()

    async def _click(self, params: JsonObject) -> JsonValue:
        await self._element(params).click(timeout=ACTING)
        return await self._settled()

    async def _fill(self, params: JsonObject) -> JsonValue:
        element, text = self._element(params), str(params["text"])
        if await element.evaluate("element => element.tagName") == "SELECT":
            await element.select_option(text, timeout=ACTING)
        else:
            await element.fill(text, timeout=ACTING)
        if params.get("submit"):
            await element.press("Enter", timeout=ACTING)
        return await self._settled()

    async def _screenshot(self, _params: JsonObject) -> JsonValue:
        picture = await self._the_page().screenshot(timeout=ACTING)
        return {"picture": base64.b64encode(picture).decode()}

    async def _settled(self) -> JsonValue:
        with suppress(Error):  # a page may load for ever
            await self._the_page().wait_for_load_state("networkidle", timeout=SETTLING)
        return await self._seen()

    async def _seen(self) -> JsonValue:
        for _ in range(LOOKS - 1):
            with suppress(Error):  # it went on to another page meanwhile
                return await self._described()
            with suppress(Error):
                await self._the_page().wait_for_load_state("load", timeout=SETTLING)
        return await self._described()

    async def _described(self) -> JsonValue:
        page = self._the_page()
        found = await page.query_selector_all(_ELEMENTS)
        shown = [element for element in found if await element.is_visible()]
        self._elements = shown[:MOST_ELEMENTS]
        described: list[JsonValue] = [await element.evaluate(_DESCRIBE) for element in self._elements]
        text = await page.inner_text("body", timeout=ACTING) if await page.query_selector("body") else ""
        return {
            "url": page.url, "title": await page.title(), "text": text[:MOST_TEXT], "elements": described,
            "more": len(shown) - len(described), "refused": list(dict.fromkeys(self._refused)),
        }  # fmt: skip

    def _the_page(self) -> Page:
        assert self._page is not None
        return self._page

    def _element(self, params: JsonObject) -> ElementHandle:
        if params.get("url") != self._the_page().url:
            raise RpcError(FAILED, "the page is another one by now; use browser_read first")
        number = params.get("element")
        if not isinstance(number, int) or not 0 < number <= len(self._elements):
            raise RpcError(FAILED, f"there is no element {number}; look at the page for their numbers")
        return self._elements[number - 1]

    # ------------------------------------------------------------------ what the page wants

    async def _serve(self, route: Route) -> None:
        request = route.request
        body = request.post_data_buffer
        asked: JsonObject = {
            "url": request.url, "method": request.method, "headers": await request.all_headers(),
            "body": None if body is None else base64.b64encode(body).decode(),
            "kind": request.resource_type, "document": request.is_navigation_request(),
            "navigates": request.is_navigation_request() and request.frame == self._the_page().main_frame,
        }  # fmt: skip
        try:
            assert self.peer is not None
            answer = await self.peer.request("fetch", asked)
        except (RpcError, ConnectionClosed) as error:
            if request.is_navigation_request():
                self._refused.append(str(error.message if isinstance(error, RpcError) else error))
            with suppress(Error):
                await route.abort("aborted")  # the page that is there stays
            return
        assert isinstance(answer, Mapping)
        headers = answer["headers"]
        assert isinstance(headers, Mapping)
        status = answer["status"]
        with suppress(Error):  # the page has gone on
            await route.fulfill(
                status=status if isinstance(status, int) else 502,
                headers={name: str(value) for name, value in headers.items()},
                body=base64.b64decode(str(answer["body"])),
            )

    async def _refuse_socket(self, socket: WebSocketRoute) -> None:
        await socket.close(code=1008, reason="not allowed")

    async def _close_other(self, page: Page) -> None:
        self._refused.append("the page wanted to open another window")
        with suppress(Error):
            await page.close()


async def serve(program: str) -> None:
    """Serve the parent until it closes our input."""
    reader, writer = PipeReader(os.dup(0)), PipeWriter(os.dup(1))
    os.dup2(2, 1)  # what anything prints is no message
    host = BrowserHost()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, args=_FLAGS, chromium_sandbox=os.geteuid() != 0, timeout=LOADING
        )
        context = await browser.new_context(accept_downloads=False, service_workers="block")
        await host.begin(context)
        async with stream_transport(reader, writer) as transport:
            host.peer = Dispatcher(transport, host)
            await host.peer.run()
        await browser.close()


if __name__ == "__main__":
    anyio.run(serve, sys.argv[1])
