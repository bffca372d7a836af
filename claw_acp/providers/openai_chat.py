"""OpenAI's chat completions API, and every service that speaks it."""

from collections.abc import AsyncGenerator, Sequence
from urllib.parse import urlsplit

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.address import secrets_in
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.net.http import Timeouts
from claw_acp.providers.http_provider import HttpProvider
from claw_acp.providers.known import quirks_at
from claw_acp.providers.openai_request import chat_completion
from claw_acp.providers.openai_stream import OpenAIStream
from claw_acp.providers.streaming import stream_answer
from claw_acp.providers.wire import items_at, number_at, object_at, text_at

DEFAULT_BASE_URL = "https://api.openai.com/v1"
CHAT = "/chat/completions"
MODELS = "/models"
WINDOWS = ("context_length", "context_window", "max_model_len", "max_context_length")
"""What services call a model's window: OpenRouter and Together, Groq, vLLM, LM Studio."""


class OpenAIChatProvider(HttpProvider):
    """A service at its base URL (with `/v1`), or at the full address of its chat completions.

    Where it differs from OpenAI's is in the quirks of its setup, and known of its host.
    """

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
            path=self._chat,
            body=self._body(chat_completion(request, quirks=self._setup.quirks, provider=self.name)),
            parser=OpenAIStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
            model=request.model,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists; none where it has no list.

        Raises:
            ProviderError: It cannot be asked.
        """
        return [_model(row) for row in await self._listed(self._models)] if self._models else ()


def _model(row: JsonObject) -> ModelInfo:
    """A row of a list, with what some services say in it besides the name."""
    name = text_at(row, "name")
    able = items_at(row, "supported_parameters")
    seen = items_at(object_at(row, "architecture"), "input_modalities")
    return ModelInfo(
        id=text_at(row, "id"),
        name=name or None,
        context_window=next((size for key in WINDOWS if (size := number_at(row, key)) > 0), 0),
        tools="tools" in able if able else None,
        images="image" in seen if seen else None,
        thinking="reasoning" in able if able else None,
        created=number_at(row, "created"),
    )


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""  # the first request says what is wrong with it
