"""Ollama's own API: models on this machine, in the local network, or in Ollama's cloud."""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial

import anyio

from claw_acp.contracts.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.errors import ModelNotFound, ProviderError, RequestRejected, ToolsUnsupported
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import replace
from claw_acp.providers.ollama.address import USUAL_ADDRESS, ollama_address
from claw_acp.providers.ollama.request import UNKNOWN_MODEL, OllamaModel, chat_body
from claw_acp.providers.ollama.stream import OllamaStream
from claw_acp.providers.transport.http_provider import HttpProvider
from claw_acp.providers.transport.http_service import CONNECT_TIMEOUT, Timeouts
from claw_acp.providers.transport.streaming import stream_answer
from claw_acp.providers.transport.wire import items_at, number_at, object_at, text_at

MODELS_AT_ONCE = 4  # models that are asked about at the same time
MODELS_ASKED = 100  # models that are asked about at all
SHOW_TIMEOUT = 5.0  # seconds to learn about one model; it is done without that knowledge after that

LOADING_TIMEOUT = 600.0  # seconds until an answer begins; a large model is read from disk before that

log = logging.getLogger(__name__)


class OllamaProvider(HttpProvider):
    """A server at its address, by default on this machine. Only the cloud needs a key.

    A model's capabilities are fetched once and cached; those of an unknown model follow from its name.
    """

    def __init__(self, setup: ProviderSetup, *, timeouts: Timeouts | None = None) -> None:
        super().__init__(
            replace(setup, base_url=ollama_address(setup.base_url)),
            base_url=USUAL_ADDRESS,
            authorization=("authorization", "Bearer "),
            timeouts=timeouts or _timeouts(setup),
        )
        self._known: dict[str, OllamaModel] = {}
        self._unthinking: set[str] = set()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece. A model that refuses a request for thinking gets it again without."""
        model = await self._model(request.model)
        if request.tools and model.can("tools") is False:
            raise self._no_tools(request.model)
        thinking = request.model not in self._unthinking
        try:
            async with aclosing(self._asked(request, model=model, thinking=thinking)) as events:
                async for event in events:
                    yield event
        except RequestRejected as error:
            if not thinking or request.options.effort is None or "support thinking" not in error.message:
                raise
        except ModelNotFound as error:
            raise self._not_pulled(request.model, status=error.status) from error
        else:
            return
        self._unthinking.add(request.model)
        async with aclosing(self._asked(request, model=model, thinking=False)) as events:
            async for event in events:
                yield event

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of `model`, from the server, else by name."""
        named = super().capabilities(model)
        known = self._known.get(model, UNKNOWN_MODEL)
        if known.abilities is None:
            return replace(named, context_window=known.window)
        return Capabilities(
            tools=named.tools and "tools" in known.abilities,
            images="vision" in known.abilities,
            thinking="thinking" in known.abilities,
            context_window=known.window,
        )

    async def models(self) -> Sequence[ModelInfo]:
        """The installed models that can chat, newest first, with their capabilities.

        Raises:
            ProviderError: The server cannot be reached.
        """
        listed = await self._service.get_json("/api/tags")
        rows = [row for row in _models_in(listed) if isinstance(row, dict) and _name(row)][:MODELS_ASKED]
        limiter = anyio.CapacityLimiter(MODELS_AT_ONCE)
        async with anyio.create_task_group() as tasks:
            for row in rows:
                tasks.start_soon(partial(self._learn, _name(row), limiter=limiter))
        known = [(row, self._known.get(_name(row), UNKNOWN_MODEL)) for row in rows]
        return [_info(row, model) for row, model in known if model.can("completion") is not False]

    # ------------------------------------------------------------------ models

    async def _learn(self, name: str, *, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            await self._model(name)

    async def _model(self, name: str) -> OllamaModel:
        """The server's description of a model, fetched once; empty if there is no valid answer."""
        known = self._known.get(name)
        if known is None:
            shown: JsonValue = None
            try:
                with anyio.move_on_after(SHOW_TIMEOUT):
                    shown = await self._service.post_json("/api/show", body={"model": name})
            except ModelNotFound:
                return UNKNOWN_MODEL  # it may be pulled any moment
            except ProviderError as error:
                log.info("model not described", extra={"provider": self.name, "error": type(error).__name__})
                if error.retryable:
                    return UNKNOWN_MODEL
            known = self._known[name] = _read_model(name, shown)
        return known

    # ------------------------------------------------------------------ requests

    def _asked(self, request: ChatRequest, *, model: OllamaModel, thinking: bool) -> AsyncGenerator[StreamEvent, None]:
        body = chat_body(request, model=model, thinking=thinking, provider=self.name)
        configured = self._body({})
        options = {**object_at(body, "options"), **object_at(configured, "options")}
        return stream_answer(
            self._service,
            request,
            path="/api/chat",
            body={**body, **configured, "options": options},
            parser=OllamaStream(provider=self.name, model=request.model, clock=self._clock, secrets=self._secrets),
        )

    def _not_pulled(self, model: str, *, status: int | None) -> ModelNotFound:
        return ModelNotFound(
            f"{self.name} has no model {model}. Get it with `ollama pull {model}`, or choose another model.",
            provider=self.name,
            status=status,
        )

    def _no_tools(self, model: str) -> ToolsUnsupported:
        return ToolsUnsupported(
            f"{self.name}: {model} does not support tools. Choose a model that does, for example one of "
            "https://ollama.com/search?c=tools.",
            provider=self.name,
        )


def _timeouts(setup: ProviderSetup) -> Timeouts | None:
    """Timeouts long enough to load a model, unless one is configured."""
    if setup.timeout is not None:
        return None
    return Timeouts(connect=setup.connection.connect_timeout or CONNECT_TIMEOUT, first_byte=LOADING_TIMEOUT)


def _models_in(listed: JsonValue) -> Sequence[JsonValue]:
    return items_at(listed, "models") if isinstance(listed, Mapping) else ()


def _name(row: JsonObject) -> str:
    return text_at(row, "model") or text_at(row, "name")


def _info(row: JsonObject, model: OllamaModel) -> ModelInfo:
    details = object_at(row, "details")
    about = " ".join(text for key in ("parameter_size", "quantization_level") if (text := text_at(details, key)))
    return ModelInfo(
        id=_name(row),
        description=about or None,
        context_window=model.window,
        tools=model.can("tools"),
        images=model.can("vision"),
        thinking=model.can("thinking"),
    )


def _read_model(name: str, shown: JsonValue) -> OllamaModel:
    """A model from `POST /api/show`: https://docs.ollama.com/api-reference/show-model-details."""
    if not isinstance(shown, Mapping):
        return OllamaModel(remote=_remote(name))
    facts = object_at(shown, "model_info")
    window = number_at(facts, f"{text_at(facts, 'general.architecture')}.context_length")
    abilities = shown.get("capabilities")
    thinks = object_at(shown, "thinking").get("values")
    return OllamaModel(
        context_window=window,
        num_ctx=_parameter(text_at(shown, "parameters"), "num_ctx"),
        remote=_remote(name) or bool(text_at(shown, "remote_model")),
        abilities=frozenset(map(str, abilities)) if isinstance(abilities, list) else None,
        thinks=tuple(value for value in thinks if isinstance(value, bool | str)) if isinstance(thinks, list) else None,
    )


def _remote(name: str) -> bool:
    return name.endswith(("-cloud", ":cloud"))


def _parameter(lines: str, name: str) -> int:
    """A whole number among the parameters of a model, one a line; 0 if it is missing."""
    for line in lines.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == name and words[1].isdecimal():
            return int(words[1])
    return 0
