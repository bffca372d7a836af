"""Anthropic's Messages API."""

from collections.abc import AsyncGenerator, Sequence

from claw_acp.contracts.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.value import replace
from claw_acp.providers.anthropic.request import messages_request
from claw_acp.providers.anthropic.stream import AnthropicStream
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Timeouts
from claw_acp.providers.transport.model_rows import model_in
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.whole_answers import message_events

DEFAULT_BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"


class AnthropicProvider(HttpProvider):
    """A service at its base URL (without `/v1`), authorized by an API key."""

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        address = setup.base_url.removesuffix("/v1")  # people write it both ways
        super().__init__(
            replace(setup, base_url=address),
            base_url=DEFAULT_BASE_URL,
            authorization=("x-api-key", ""),
            headers={"anthropic-version": API_VERSION},
            timeouts=timeouts,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        return stream_answer(
            self._service,
            request,
            path="/v1/messages",
            body=self._body(messages_request(request, provider=self.name, quirks=self._setup.quirks)),
            parser=AnthropicStream(provider=self.name, model=request.model, secrets=self._secrets),
            unfold=message_events,
        )

    def capabilities(self, model: str) -> Capabilities:
        """Capabilities of `model`; prompts are cached up to the marks that requests carry."""
        return replace(super().capabilities(model), cache="explicit")

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists, newest first.

        Raises:
            ProviderError: It cannot be asked.
        """
        rows = await self._listed("/v1/models?limit=100")
        return [model_in(row) for row in rows]
