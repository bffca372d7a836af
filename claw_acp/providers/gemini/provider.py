"""Google's Gemini API."""

from collections.abc import AsyncGenerator, Sequence
from urllib.parse import quote

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.providers.gemini.request import generate_content
from claw_acp.providers.gemini.stream import GeminiStream
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Timeouts
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.whole_answers import content_pieces
from claw_acp.providers.transport.wire import items_at, number_at, text_at

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com"
VERSION = "/v1beta"
METHOD = "generateContent"

_COLLECTION = "models/"


class GeminiProvider(HttpProvider):
    """A service at its base URL (without `/v1beta`), authorized by an API key, which is never part of an address."""

    hears = True

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        address = setup.base_url.rstrip("/").removesuffix(VERSION)  # people write it both ways
        super().__init__(
            replace(setup, base_url=address),
            base_url=DEFAULT_BASE_URL,
            authorization=("x-goog-api-key", ""),
            timeouts=timeouts,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        model = request.model if "/" in request.model else _COLLECTION + request.model
        return stream_answer(
            self._service,
            request,
            path=f"{VERSION}/{quote(model)}:streamGenerateContent?alt=sse",
            body=self._body(generate_content(request, provider=self.name)),
            parser=GeminiStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
            unfold=content_pieces,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models of the service that can answer.

        Raises:
            ProviderError: It cannot be reached.
        """
        listed = await self._service.get_json(f"{VERSION}/models?pageSize=1000")
        rows = items_at(listed, "models") if isinstance(listed, dict) else ()
        return [
            _model(row)
            for row in rows
            if isinstance(row, dict) and text_at(row, "name") and METHOD in items_at(row, "supportedGenerationMethods")
        ]


def _model(row: JsonObject) -> ModelInfo:
    thinking = row.get("thinking")
    return ModelInfo(
        id=text_at(row, "name").removeprefix(_COLLECTION),
        name=text_at(row, "displayName") or None,
        description=text_at(row, "description") or None,
        context_window=number_at(row, "inputTokenLimit"),
        thinking=thinking if isinstance(thinking, bool) else None,
    )
