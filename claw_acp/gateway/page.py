"""The page at `/`: what is attached and running, live. It has nothing in it; its script asks with the user's token."""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from claw_acp.gateway.access.client import Client
from claw_acp.gateway.app import Route
from claw_acp.gateway.http.exchange import Exchange

_FILE: Final = Path(__file__).with_name("page.html")


def page_route() -> Route:
    """The route; anybody may load the page."""
    return Route(scope=None, methods={"GET": _show, "HEAD": _show})


async def _show(exchange: Exchange, _client: Client) -> None:
    body, headers = _page()
    await exchange.answer(200, body, headers)


@cache
def _page() -> tuple[bytes, Mapping[str, str]]:
    """The page and its headers: only its own script and style count, and it talks to this server alone."""
    text = _FILE.read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src {_hash_of('script', text)}; style-src {_hash_of('style', text)}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text.encode(), {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
    }


def _hash_of(element: str, text: str) -> str:
    """The source expression for the one inline element of this kind."""
    (content,) = re.findall(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"
