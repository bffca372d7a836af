"""A fetched page, and the protocol of `net/fetch.py`, for callers that must not import it before the first fetch."""

from typing import Protocol

from claw_acp.core.value import Value
from claw_acp.net.address_guard import AddressGuard


class Page(Value):
    """A fetched page: `url` is the final URL, `content_type` the header as sent (may be empty)."""

    url: str
    status: int
    content_type: str
    body: bytes
    truncated: bool


class GetPage(Protocol):
    """Fetches pages; implemented by `claw_acp.net.fetch.get`."""

    async def __call__(self, url: str, *, guard: AddressGuard) -> Page:
        """Fetch the page at `url`; raises ToolError when that fails."""
        ...
