"""OpenAI's chat completions API, and every service that speaks it."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from urllib.parse import urlsplit

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.net.http import DEFAULT_TIMEOUTS, Timeouts
from claw_acp.providers.http_provider import HttpProvider
from claw_acp.providers.openai_request import Dialect, chat_completion, dialect_of
from claw_acp.providers.openai_stream import OpenAIStream
from claw_acp.providers.streaming import stream_answer
from claw_acp.providers.wire import text_at

DEFAULT_BASE_URL = "https://api.openai.com/v1"


class OpenAIChatProvider(HttpProvider):
    """A service at `base_url` (with `/v1`). Without `api_key` no authorization is sent, as local servers like it.

    `dialect` says where the service differs; by default it is known by its host name.
    """

    def __init__(
        self,
        *,
        name: str = "openai",
        api_key: str | None,
        base_url: str = DEFAULT_BASE_URL,
        headers: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
        timeouts: Timeouts = DEFAULT_TIMEOUTS,
        dialect: Dialect | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._dialect = dialect or dialect_of(_host(base_url))
        super().__init__(
            name=name,
            api_key=api_key,
            authorization=("authorization", "Bearer "),
            base_url=base_url,
            headers=headers or {},
            secrets=secrets,
            timeouts=timeouts,
            clock=clock,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        return stream_answer(
            self._service,
            path="/chat/completions",
            body=chat_completion(request, dialect=self._dialect, provider=self.name),
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
