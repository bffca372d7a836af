"""OpenAI's chat completions API, and every service that speaks it."""

from collections.abc import AsyncGenerator, Sequence
from urllib.parse import urlsplit

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.net.http import Timeouts
from claw_acp.providers.http_provider import HttpProvider
from claw_acp.providers.openai_request import chat_completion, dialect_of
from claw_acp.providers.openai_stream import OpenAIStream
from claw_acp.providers.streaming import stream_answer
from claw_acp.providers.wire import text_at

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIChatProvider(HttpProvider):
    """A service at its base URL (with `/v1`). Where it differs is known by its host name."""

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        super().__init__(
            setup, base_url=DEFAULT_BASE_URL, authorization=("authorization", "Bearer "), timeouts=timeouts
        )
        self._dialect = dialect_of(_host(setup.base_url or DEFAULT_BASE_URL))

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        return stream_answer(
            self._service,
            path="/chat/completions",
            body=self._body(chat_completion(request, dialect=self._dialect, provider=self.name)),
            parser=OpenAIStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists.

        Raises:
            ProviderError: It cannot be asked.
        """
        return [ModelInfo(id=text_at(row, "id")) for row in await self._listed("/models")]


def _host(base_url: str) -> str:
    try:
        return urlsplit(base_url).hostname or ""
    except ValueError:
        return ""  # the first request says what is wrong with it
