"""OpenAI's Responses API, and compatible services."""

import logging
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from claw_acp.contracts.provider import ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import RequestRejected
from claw_acp.providers.responses.request import responses_request
from claw_acp.providers.responses.stream import ResponsesStream
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import Timeouts
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.whole_answers import response_events
from claw_acp.providers.transport.wire import text_at

DEFAULT_BASE_URL = "https://api.openai.com/v1"
PATH = "/responses"
MODELS = "/models"

_NO_SUMMARIES = re.compile(r"reasoning[. _]summar", re.IGNORECASE)

log = logging.getLogger(__name__)


class ResponsesProvider(HttpProvider):
    """A service at its base URL (with `/v1`), authorized by an API key.

    Summaries of the model's thinking are requested until the service refuses them, as OpenAI does to unverified
    organizations; then the same request is sent without.
    """

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        super().__init__(
            setup, base_url=DEFAULT_BASE_URL, authorization=("authorization", "Bearer "), timeouts=timeouts
        )
        self._summaries = True
        self._path = _rooted(setup.quirks.path or PATH)
        self._models = MODELS if setup.quirks.models_path is None else setup.quirks.models_path

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece."""
        visible = False
        try:
            async with aclosing(self._answer(request)) as events:
                async for event in events:
                    visible = True
                    yield event
        except RequestRejected as error:
            if visible or not self._summaries or not _NO_SUMMARIES.search(error.message):
                raise
        else:
            return
        log.info("no summaries of thinking", extra={"provider": self.name})
        self._summaries = False
        async with aclosing(self._answer(request)) as events:
            async for event in events:
                yield event

    def _answer(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        return stream_answer(
            self._service,
            request,
            path=self._path,
            body=self._body(responses_request(request, provider=self.name, summaries=self._summaries)),
            parser=ResponsesStream(provider=self.name, model=request.model, secrets=self._secrets),
            unfold=response_events,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The models the service lists; none if it has no list.

        Raises:
            ProviderError: It cannot be reached.
        """
        if not self._models:
            return ()
        return [ModelInfo(id=text_at(row, "id")) for row in await self._listed(_rooted(self._models))]


def _rooted(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
