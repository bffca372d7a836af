"""Request bodies that are JSON."""

import json
from typing import Final

from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.gateway.http.exchange import Exchange
from claw_acp.gateway.http.http_error import HttpError
from claw_acp.gateway.http.limits import Limits
from claw_acp.gateway.http.receive_budget import ReceiveBudget

JSON: Final = "application/json"


class JsonBodies:
    """Receives bodies up to `longest` bytes."""

    def __init__(self, limits: Limits, *, longest: int) -> None:
        self._limits = replace(limits, message=min(limits.message, longest))
        self._room = ReceiveBudget(self._limits)

    async def text(self, exchange: Exchange) -> str:
        """The body as text.

        Raises:
            HttpError: 415, it is of another kind (which pages can send without asking); 400, 408, 413 or 503.
        """
        if exchange.head.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
            raise HttpError(415, f"the body must be {JSON}")
        body = await exchange.body(limits=self._limits, room=self._room)
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            raise HttpError(400, "the body is not UTF-8") from None

    async def content(self, exchange: Exchange) -> JsonObject:
        """The body, a JSON object.

        Raises:
            HttpError: As for `text`.
        """
        try:
            content = json.loads(await self.text(exchange))
        except (ValueError, RecursionError):
            raise HttpError(400, "the body is not JSON") from None
        if not isinstance(content, dict):
            raise HttpError(400, "the body must be a JSON object")
        return content  # pyright: ignore[reportUnknownVariableType] - JSON


async def answer_json(exchange: Exchange, content: JsonObject) -> None:
    """Send a JSON object.

    Raises:
        ClientGone: The client hung up.
    """
    await exchange.answer(200, json.dumps(content).encode(), {"content-type": JSON, "cache-control": "no-store"})
