"""A page of the web, and what gets one: all that callers need to know of `net/fetch.py` before the first fetch."""

from typing import Protocol

from claw_acp.core.value import Value
from claw_acp.net.address_guard import AddressGuard


class Page(Value):
    """What came back: `url` is where it was found in the end, `content_type` the header as sent (maybe empty)."""

    url: str
    status: int
    content_type: str
    body: bytes
    truncated: bool


class GetPage(Protocol):
    """How a page is had; `claw_acp.net.fetch.get` is the one way there is."""

    async def __call__(self, url: str, *, guard: AddressGuard) -> Page:
        """The page at `url`; raises ToolError when there is none to be had."""
        ...
