"""Requests of the pages in a browser: judged by the rules, and fetched from checked addresses."""

import base64
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from json import dumps
from typing import Final
from urllib.parse import urljoin

from anyio import to_thread

from claw_acp.contracts.tool import FetchesUrl
from claw_acp.core.errors import ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.net.address_guard import AddressGuard
from claw_acp.net.page import Page, SendRequest
from claw_acp.registry.reference import Ref
from claw_acp.rpc.errors import RpcError
from claw_acp.security.rules import host_of
from claw_acp.tools.browser.cross_origin import (
    ALLOWS_ORIGIN,
    NOBODY,
    is_unreadable,
    may_read,
    origin_of,
    permits,
    question_before,
)

MOST_REDIRECTS: Final = 5
REFUSED: Final = -31001

_SEND: Final["Ref[SendRequest]"] = Ref("claw_acp.net.fetch:send")
_NOT_SENT: Final = frozenset({"host", "content-length", "connection", "accept-encoding", "transfer-encoding", "te"})
_FOR_ONE_ORIGIN: Final = frozenset({"cookie", "authorization"})
_NOT_PASSED_ON: Final = frozenset({
    "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "location",
})  # fmt: skip
_NOT_FROM_ANOTHER: Final = _NOT_PASSED_ON | {"set-cookie"}


class PageRequests:
    """Answers the requests of pages.

    Args:
        hosts: The hosts of addresses that were opened with permission.
        may_reach: See `Browsing`.
        allowed_hosts: Returns the private hosts that may be reached.
    """

    def __init__(
        self,
        hosts: set[str],
        *,
        may_reach: Callable[[Sequence[FetchesUrl]], bool | None],
        allowed_hosts: Callable[[], tuple[str, ...]],
    ) -> None:
        self._hosts = hosts
        self._may_reach = may_reach
        self._allowed_hosts = allowed_hosts

    async def answer(self, asked: JsonObject) -> JsonValue:
        """The answer for the browser.

        Raises:
            RpcError: It is refused, or there is none; the text says why.
        """
        try:
            return await self._answer(asked)
        except ToolError as error:
            raise RpcError(REFUSED, error.message) from error

    async def _answer(self, asked: JsonObject) -> JsonValue:
        first = url = str(asked.get("url"))
        method, body, kind = str(asked.get("method")), asked.get("body"), str(asked.get("kind"))
        sent = base64.b64decode(body) if isinstance(body, str) else None
        headers = _headers(asked.get("headers"))
        reader = headers.get("origin", origin_of(first))
        for _ in range(MOST_REDIRECTS + 1):
            self._judge(url, method=method, navigates=asked.get("navigates") is True)
            await self._ask_before(url, method=method, headers=headers)
            page = await self._sent(url, method=method, headers=headers, body=sent)
            location = page.headers.get("location")
            if not location or not HTTPStatus.MULTIPLE_CHOICES <= page.status < HTTPStatus.BAD_REQUEST:
                is_other = origin_of(url) != origin_of(first)
                if is_other and not is_unreadable(kind) and not may_read(page.headers, reader):
                    raise ToolError(f"{first} leads to {url}, which does not let pages of {reader} read it.")
                return _passed_on(page, but=_NOT_FROM_ANOTHER if is_other else _NOT_PASSED_ON)
            before, url = url, _redirected(url, location)
            if asked.get("document") is True:
                return _leading_to(url, page)
            if origin_of(url) != origin_of(before):
                headers = _for_another_origin(headers, reader=reader)
            if page.status not in {HTTPStatus.TEMPORARY_REDIRECT, HTTPStatus.PERMANENT_REDIRECT}:
                method, sent = ("HEAD" if method == "HEAD" else "GET"), None
        raise ToolError(f"{url} is the end of more than {MOST_REDIRECTS} redirects.")

    async def _ask_before(self, url: str, *, method: str, headers: Mapping[str, str]) -> None:
        """Ask the server whether it wants an unusual request of another origin.

        Raises:
            ToolError: It does not.
        """
        question = question_before(url, method=method, headers=headers)
        if question is None:
            return
        answer = await self._sent(url, method="OPTIONS", headers=question, body=None)
        well = HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES
        if not well or not permits(answer.headers, question, with_cookies="cookie" in headers):
            raise ToolError(f"{url} does not let pages of {question['origin']} send such a request.")

    def _judge(self, url: str, *, method: str, navigates: bool) -> None:
        """Refuse what the rules refuse, and what was not opened with permission; parts of pages may be anywhere.

        Raises:
            ToolError: It is refused.
        """
        host = host_of(url)
        access = FetchesUrl(url=url, method=method)
        verdict = self._may_reach([access])
        is_part = not navigates and access.only_fetches
        if verdict is False or (verdict is None and host not in self._hosts and not is_part):
            what = f"The page leads to {url}" if navigates else f"The page sends a {method} request to {url}"
            raise ToolError(f"{what}, which is not allowed without a question; to go there, use browser_open.")

    async def _sent(self, url: str, *, method: str, headers: Mapping[str, str], body: bytes | None) -> Page:
        send = await to_thread.run_sync(_SEND.load)
        guard = AddressGuard(allow_hosts=self._allowed_hosts())
        page = await send(url, guard=guard, method=method, headers=headers, body=body)
        if page.truncated:
            raise ToolError(f"{url} is longer than 5 MiB.")
        return page


def _headers(given: JsonValue) -> Mapping[str, str]:
    """The headers of a request that are sent, by their names in lower case."""
    nothing: JsonObject = {}
    found: JsonObject = given if isinstance(given, Mapping) else nothing
    lowered = {name.lower(): str(value) for name, value in found.items()}
    return {name: value for name, value in lowered.items() if name not in _NOT_SENT and not name.startswith(":")}


def _redirected(url: str, location: str) -> str:
    """The address that a redirect leads to.

    Raises:
        ToolError: It is none of the web.
    """
    try:
        target = urljoin(url, location)
    except ValueError:
        target = ""
    if host_of(target) is None:
        raise ToolError(f"The page redirects to {location[:200]!r}, which is no address of the web.")
    return target


def _for_another_origin(headers: Mapping[str, str], *, reader: str) -> Mapping[str, str]:
    kept = {name: value for name, value in headers.items() if name not in _FOR_ONE_ORIGIN}
    return {**kept, "origin": reader}


def _passed_on(page: Page, *, but: frozenset[str]) -> JsonObject:
    """An answer for the browser, which says to whom it is open: else the library there would say, to everybody."""
    kept: dict[str, JsonValue] = {name: value for name, value in page.headers.items() if name not in but}
    headers: JsonObject = {ALLOWS_ORIGIN: NOBODY, **kept}
    return {"status": page.status, "headers": headers, "body": base64.b64encode(page.body).decode()}


def _leading_to(url: str, page: Page) -> JsonObject:
    """A page that goes on to another: a redirect that the browser followed by itself would not be asked about."""
    target = dumps(url).replace("<", "\\u003c")
    script = f"<script>location.replace({target})</script>"
    headers: dict[str, JsonValue] = {"content-type": "text/html"}
    if "set-cookie" in page.headers:
        headers["set-cookie"] = page.headers["set-cookie"]
    return {"status": 200, "headers": headers, "body": base64.b64encode(script.encode()).decode()}
