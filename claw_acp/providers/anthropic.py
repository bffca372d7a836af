"""Anthropic's Messages API."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.net.http import DEFAULT_TIMEOUTS, Timeouts
from claw_acp.providers.anthropic_request import messages_request
from claw_acp.providers.anthropic_stream import AnthropicStream
from claw_acp.providers.http_provider import HttpProvider
from claw_acp.providers.streaming import stream_answer
from claw_acp.providers.wire import text_at

DEFAULT_BASE_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"


class AnthropicProvider(HttpProvider):
    """A service at `base_url` (without `/v1`), authorized by API key."""

    def __init__(
        self,
        *,
        name: str = "anthropic",
        api_key: str | None,
        base_url: str = DEFAULT_BASE_URL,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        super().__init__(
            name=name,
            api_key=api_key,
            authorization=("x-api-key", ""),
            base_url=base_url,
            headers={"anthropic-version": API_VERSION, **(headers or {})},
            secrets=secrets,
            timeouts=timeouts,
            clock=clock,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        return stream_answer(
            self._service,
            path="/v1/messages",
            body=messages_request(request, provider=self.name),
            parser=AnthropicStream(provider=self.name, model=request.model, secrets=self._secrets),
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists, newest first.

        Raises:
            ProviderError: It cannot be asked.
        """
        rows = await self._listed("/v1/models?limit=100")
        return [ModelInfo(id=text_at(row, "id"), name=text_at(row, "display_name") or None) for row in rows]
