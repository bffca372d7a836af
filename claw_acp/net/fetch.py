"""Requests for models and jobs, above all GET of a public page.

They are limited in time, size and redirects, and to addresses that the guard allows.

The connection goes straight to the address that was checked (TLS still verifies the host name), so a DNS answer that
changes in between has no effect. For the same reason no proxy is used.
"""

import zlib
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final

import anyio
import httpx
from anyio import to_thread

from claw_acp.core.errors import ToolError
from claw_acp.core.version import VERSION
from claw_acp.net.address_guard import AddressGuard
from claw_acp.net.closing import closing
from claw_acp.net.page import TOTAL_SECONDS, GetPage, Page, SendRequest
from claw_acp.net.trust import trusted

MAX_BODY: Final = 5 * 1024 * 1024
"""Bytes of a page that are read, after decompression; the rest is left."""

MAX_REDIRECTS: Final = 5

_HEADERS: Final = {
    "User-Agent": f"claw-acp/{VERSION}",
    "Accept": "text/html, text/*;q=0.9, application/json;q=0.9, application/xml;q=0.8, */*;q=0.1",
    "Accept-Encoding": "gzip",
}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


async def get(url: str, *, guard: AddressGuard, within: float = TOTAL_SECONDS) -> Page:
    """Fetch a page. Redirects are followed within the host (with or without `www.`); each address is checked again.

    A redirect to another host is not followed, because permission to fetch is given per host. `within` bounds the whole
    call, in seconds.

    Raises:
        ToolError: No http(s) URL, a refused address, another host, too many redirects, no connection, too slow, or a
            coding that was not asked for.
    """
    target = _parse(url)
    try:
        with anyio.fail_after(within):
            return await _follow(target, guard=guard)
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ToolError(f"{url} was not there after {within:g} s; try again later or another source.") from error
    except httpx.HTTPError as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise ToolError(f"{url} could not be fetched: {reason}.") from error


async def send(
    url: str,
    *,
    guard: AddressGuard,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    within: float = TOTAL_SECONDS,
) -> Page:
    """Send a request and read its answer. Redirects are not followed: they are answers, too.

    Raises:
        ToolError: No http(s) URL, a refused address, no connection, too slow, a coding that was not asked for, or a
            header that cannot be sent.
    """
    target = _parse(url)
    host = target.host  # what else is in the address may be secret
    try:
        with anyio.fail_after(within):
            async with await _client() as client:
                response = await _send(client, target, guard=guard, method=method, body=body, headers=headers)
                try:
                    return await _page(response, target)
                finally:
                    await response.aclose()
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ToolError(f"{host} did not answer within {within:g} s.") from error
    except httpx.HTTPError as error:
        raise ToolError(f"{host} could not be reached: {str(error).rstrip('.') or type(error).__name__}.") from error


async def post(url: str, *, body: bytes, guard: AddressGuard, within: float) -> int:
    """Send JSON to a URL; returns the status of the answer, whose body is not read. Redirects are not followed.

    Raises:
        ToolError: No http(s) URL, a refused address, no connection, or too slow.
    """
    target = _parse(url)
    host = target.host  # what else is in such an address may be secret
    try:
        with anyio.fail_after(within):
            async with await _client() as client:
                response = await _send(client, target, guard=guard, method="POST", body=body)
                await response.aclose()
                return response.status_code
    except (TimeoutError, httpx.TimeoutException) as error:
        raise ToolError(f"{host} did not answer within {within:g} s") from error
    except httpx.HTTPError as error:
        raise ToolError(f"{host} could not be reached: {str(error).rstrip('.') or type(error).__name__}") from error


def _parse(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ToolError(f"{url!r} is not a URL: {error}.") from error
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ToolError(f"{url!r} is not a URL that can be fetched: only http:// and https:// are.")
    if parsed.port is not None and not 0 < parsed.port < 1 << 16:
        raise ToolError(f"{url!r} is not a URL: there is no port {parsed.port}.")
    if parsed.userinfo:
        raise ToolError("A URL with a user name or password in it is not fetched.")
    return parsed


async def _follow(target: httpx.URL, *, guard: AddressGuard) -> Page:
    async with await _client() as client:
        for _ in range(MAX_REDIRECTS + 1):
            found = await _request(client, target, guard=guard)
            if isinstance(found, Page):
                return found
            target = _next(target, location=found)
    raise ToolError(f"{target} is the end of more than {MAX_REDIRECTS} redirects; it was not followed.")


async def _client() -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=await to_thread.run_sync(_transport, abandon_on_cancel=True),  # slow the first time: certificates
        headers=_HEADERS,
        timeout=TOTAL_SECONDS,
        trust_env=False,
        follow_redirects=False,
    )


def _transport() -> httpx.AsyncHTTPTransport:
    # A connection is to an address, so one that was checked for one name must not be used again for another.
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncHTTPTransport(limits=limits, verify=trusted())


async def _request(client: httpx.AsyncClient, target: httpx.URL, *, guard: AddressGuard) -> Page | str:
    """The page, or the URL that it redirects to."""
    response = await _send(client, target, guard=guard)
    try:
        location = response.headers.get("Location")
        if response.status_code in _REDIRECTS and location:
            return location
        return await _page(response, target)
    finally:
        await response.aclose()


async def _page(response: httpx.Response, target: httpx.URL) -> Page:
    body = await _body(response)
    return Page(
        url=str(target),
        status=response.status_code,
        content_type=response.headers.get("Content-Type", ""),
        body=body[:MAX_BODY],
        truncated=len(body) > MAX_BODY,
        headers={name.lower(): "\n".join(response.headers.get_list(name)) for name in response.headers},
    )


async def _send(
    client: httpx.AsyncClient,
    target: httpx.URL,
    *,
    guard: AddressGuard,
    method: str = "GET",
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Response:
    """The answer to a request, which goes to a checked address; its body is still to be read."""
    name = target.raw_host.decode("ascii")
    address = await guard.address(name, port=target.port or {"http": 80, "https": 443}[target.scheme])
    for header, value in (headers or {}).items():
        if not (value.isascii() and value.isprintable() and value == value.strip()):  # h11's error would tell it
            raise ToolError(f"Nothing was sent to {name}: a header holds what no header can. Correct {header}.")
    kind = {} if body is None or headers is not None else {"Content-Type": "application/json"}
    request = client.build_request(
        method,
        target.copy_with(host=address, fragment=None),
        headers={**kind, **(headers or {}), "Host": target.netloc.decode("ascii")},
        content=body,
        extensions={"sni_hostname": name},
    )
    return await client.send(request, stream=True)


def _next(target: httpx.URL, *, location: str) -> httpx.URL:
    following = _parse(str(target.join(location)))  # httpx has refused what is no URL when it read the header
    if following.host.removeprefix("www.") != target.host.removeprefix("www."):
        raise ToolError(
            f"{target} redirects to another host and was not followed. If you want that page, fetch {following}"
        )
    return following


async def _body(response: httpx.Response) -> bytes:
    """The body, at most one byte more than `MAX_BODY`.

    Decompressed here, not by httpx: that would inflate a chunk to whatever size, and codings within codings.
    """
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {"identity", "", "gzip", "x-gzip"}:
        raise ToolError(f"{response.url.host} answered in the coding {coding!r}, which was not asked for.")
    chunks = response.aiter_raw()
    try:
        return await _collect(_gunzip(chunks) if "gzip" in coding else chunks)
    except zlib.error as error:
        raise ToolError(f"The answer is broken: its compressed data cannot be read ({error}).") from error


async def _gunzip(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    inflate = zlib.decompressobj(wbits=31)  # 31: a gzip header is required
    async with closing(chunks) as packed:
        async for chunk in packed:
            yield inflate.decompress(chunk, MAX_BODY + 1)
            if inflate.unconsumed_tail:  # one chunk was more than the limit already
                return


async def _collect(chunks: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async with closing(chunks) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > MAX_BODY:
                break
    return bytes(body[: MAX_BODY + 1])


if TYPE_CHECKING:
    _get: GetPage = get
    _send_request: SendRequest = send
