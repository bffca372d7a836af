"""Small requests that test one provider: whether it answers, how fast, and whether it calls tools."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio

from claw_acp.config.secret_cache import SecretCache
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import (
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    TextChunk,
    ThoughtChunk,
    ToolSpec,
)
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import MalformedReply, ProviderTimeout
from claw_acp.core.messages import Message, Usage
from claw_acp.core.value import Value
from claw_acp.net.closing import closing
from claw_acp.providers.assembly import plain
from claw_acp.providers.fallback.succession import About
from claw_acp.providers.models.chat_models import for_chat
from claw_acp.providers.registry.keys import require_key
from claw_acp.providers.registry.profiles import ProviderProfile
from claw_acp.providers.selection.setups import setup_of
from claw_acp.providers.text_tools.provider import ToolModes

PROBE_TIMEOUT = 60.0  # seconds for one question; local servers load their model first
CLOSE_TIMEOUT = 1.0  # seconds to let go of the connections
ANSWER_LENGTH = 1024  # tokens; models that think need some before they say anything

QUESTION = "Reply with the single word: pong"
TOOL_QUESTION = 'Call the tool "note" once, with the text "pong". Say nothing else.'
NOTE = ToolSpec(
    name="note",
    description="Writes a note.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


class ProbeAnswer(Value):
    """The answer to the question, and its timing.

    Attributes:
        text: The model's answer.
        pieces: The number of pieces; one means that it was not streamed.
        first_piece: Seconds until the first of them, thinking included.
        seconds: Seconds until the end.
        usage: Tokens, if the provider reported them.
        thought: Whether there was visible thinking.
    """

    text: str
    pieces: int
    first_piece: float
    seconds: float
    usage: Usage | None
    thought: bool


async def ask(provider: Provider, model: str, *, clock: Clock = SYSTEM_CLOCK) -> ProbeAnswer:
    """Ask for one word.

    Raises:
        ProviderError: It could not be reached, or did not answer within `PROBE_TIMEOUT`.
    """
    started = clock.monotonic()
    moments: list[float] = []
    thought = False
    final: ChatResponse | None = None
    request = ChatRequest(model=model, messages=[Message.user(QUESTION)], options=_limited())
    async with _in_time(provider.name), closing(provider.stream(request)) as events:
        async for event in events:
            match event:
                case TextChunk() | ThoughtChunk():
                    moments.append(clock.monotonic() - started)
                    thought = thought or isinstance(event, ThoughtChunk)
                case Finished(response=response):
                    final = response
                case _:
                    pass
    if final is None:
        raise MalformedReply(f"{provider.name} ended its answer without an end.", provider=provider.name)
    seconds = clock.monotonic() - started
    return ProbeAnswer(
        text=final.text,
        pieces=len(moments),
        first_piece=moments[0] if moments else seconds,
        seconds=seconds,
        usage=final.usage,
        thought=thought,
    )


async def asked_for_tool(provider: Provider, model: str) -> bool:
    """True if the model calls a tool when instructed to.

    Raises:
        ProviderError: It could not be reached.
    """
    request = ChatRequest(model=model, messages=[Message.user(TOOL_QUESTION)], tools=[NOTE], options=_limited())
    async with _in_time(provider.name):
        response = await provider.chat(request)
    return any(call.name == NOTE.name for call in response.tool_calls)


async def listed_models(profile: ProviderProfile, *, settings: Settings, secrets: SecretCache) -> Sequence[ModelInfo]:
    """The chat models that a provider lists now, newest first; empty if it has no list.

    Raises:
        ProviderError: It cannot be reached.
        AuthRequired: There is no key for it.
        ConfigError: It is not configured completely.
    """
    profile.check()
    key = require_key(profile, settings=settings)
    secret = key.secret if key else None
    if key is not None and secret is None and key.slow is not None:
        secret = secrets.fetch(key.slow, settings.environ)
    async with made(setup_of(profile, key=secret, settings=settings)) as provider:
        return for_chat(await provider.models())


@asynccontextmanager
async def made(
    setup: ProviderSetup, *, tool_modes: ToolModes | None = None, about: About | None = None
) -> AsyncGenerator[Provider]:
    """A provider without retries, closed at the end.

    Raises:
        ConfigError: It cannot be made.
    """
    provider = plain(setup, tool_modes=tool_modes, about=about)
    try:
        yield provider
    finally:
        with anyio.move_on_after(CLOSE_TIMEOUT, shield=True):
            await provider.aclose()


def _limited() -> ChatOptions:
    return ChatOptions(max_tokens=ANSWER_LENGTH)


@asynccontextmanager
async def _in_time(name: str) -> AsyncGenerator[None]:
    try:
        with anyio.fail_after(PROBE_TIMEOUT):
            yield
    except TimeoutError as error:
        text = f"{name} did not finish a small answer within {PROBE_TIMEOUT:g} s. Try again in a moment."
        raise ProviderTimeout(text, provider=name) from error
