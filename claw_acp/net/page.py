"""A fetched page, and the protocol of `net/fetch.py`, for callers that must not import it before the first fetch."""

from collections.abc import Mapping
from typing import Final, Protocol

from claw_acp.core.value import Value, made_by
from claw_acp.net.address_guard import AddressGuard

TOTAL_SECONDS: Final = 30.0
"""Seconds for everything: names, connections, redirects, the body."""


class Page(Value):
    """A fetched page: `url` is the final URL, `content_type` the header as sent (may be empty).

    `headers` are those of the answer, by their names in lower case; one that was sent several times has a line each.
    """

    url: str
    status: int
    content_type: str
    body: bytes
    truncated: bool
    headers: Mapping[str, str] = made_by(default_factory=dict[str, str])


class GetPage(Protocol):
    """Fetches pages; implemented by `claw_acp.net.fetch.get`."""

    async def __call__(self, url: str, *, guard: AddressGuard) -> Page:
        """Fetch the page at `url`; raises ToolError when that fails."""
        ...


class SendRequest(Protocol):
    """Sends a request; implemented by `claw_acp.net.fetch.send`."""

    async def __call__(
        self,
        url: str,
        *,
        guard: AddressGuard,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        within: float = TOTAL_SECONDS,
    ) -> Page:
        """Send a request, of which no redirect is followed; raises ToolError when there is no answer."""
        ...
