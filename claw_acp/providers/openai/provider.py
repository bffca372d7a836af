"""OpenAI's chat completions API, and every compatible service."""

from collections.abc import AsyncGenerator, Sequence
from urllib.parse import urlsplit

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.address import secrets_in
from claw_acp.core.value import replace
from claw_acp.providers.openai.request import chat_completion
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.registry.services import quirks_at
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Timeouts
from claw_acp.providers.transport.model_rows import answers, model_in
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.whole_answers import chat_chunks

DEFAULT_BASE_URL = "https://api.openai.com/v1"
CHAT = "/chat/completions"
MODELS = "/models"


class OpenAIChatProvider(HttpProvider):
    """A service at its base URL (with `/v1`), or at the full address of its chat completions.

    Its differences from OpenAI's are in the quirks of its setup and of its host.
    """

    hears = True

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        address = setup.base_url or DEFAULT_BASE_URL
        base, mark, query = address.partition("?")
        whole = base.rstrip("/").endswith(CHAT)
        base = base.rstrip("/").removesuffix(CHAT)
        quirks = setup.quirks.over(quirks_at(_host(address)))
        self._chat = (CHAT if whole or not quirks.path else _rooted(quirks.path)) + mark + query
        models = MODELS if quirks.models_path is None else quirks.models_path
        self._models = _rooted(models) + mark + query if models else ""
        super().__init__(
            replace(setup, base_url=base, quirks=quirks),
            base_url=DEFAULT_BASE_URL,
            authorization=("authorization", "Bearer "),
            secrets=tuple(secrets_in(address)),
            timeouts=timeouts,
        )

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        return stream_answer(
            self._service,
            request,
            path=self._chat,
            body=self._body(chat_completion(request, quirks=self._setup.quirks, provider=self.name)),
            parser=OpenAIStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
            unfold=chat_chunks,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists; none if it has no list.

        Raises:
            ProviderError: It cannot be reached.
        """
        return [model_in(row) for row in await self._listed(self._models) if answers(row)] if self._models else ()


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""  # the first request says what is wrong with it
