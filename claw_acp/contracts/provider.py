"""The contract of a model provider. One method must be written: `chat`."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, Protocol, TypeAlias

from claw_acp.contracts.model_price import Price
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import Message, ModelStop, Reasoning, ToolCall, Usage
from claw_acp.core.value import Value, made_by

Effort = Literal["off", "low", "medium", "high"]
CacheStrategy = Literal["none", "explicit"]
"""How a vendor caches prompts: automatically, or only up to marks in the request."""

UNKNOWN_WINDOW: Final = 64_000
"""Tokens assumed of a context window that nobody states: rather too few than too many."""

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The media types of images that every vendor takes."""

AUDIO_TYPES: Final[Mapping[str, Literal["wav", "mp3"]]] = {
    **dict.fromkeys(("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"), "wav"),
    **dict.fromkeys(("audio/mpeg", "audio/mp3", "audio/x-mp3"), "mp3"),
}
"""The media types of sound, and the names of the formats that every vendor with sound accepts."""


class OneTool(Value):
    """The choice of one tool, by name: the model must call it."""

    name: str


ToolChoice: TypeAlias = Literal["auto", "none", "required"] | OneTool

TOOL_CHOICE: Final[ContextVar[ToolChoice | None]] = ContextVar("TOOL_CHOICE", default=None)
"""The tool choice for the model requests of the current task that may call tools; None: the request's own."""


def _choice_of_task() -> ToolChoice:
    return TOOL_CHOICE.get() or "auto"


@contextmanager
def tool_choice(choice: ToolChoice) -> Generator[None]:
    """Make the model requests of this task, and of tasks it starts, follow `choice` for as long as the block runs.

    All requests of the agent do, except those that may call nothing; of others, those that make no choice themselves.
    """
    token = TOOL_CHOICE.set(choice)
    try:
        yield
    finally:
        TOOL_CHOICE.reset(token)


def _ignored() -> None:
    """Ignore the first byte: the default of a request whose attempts are not counted."""


class ToolSpec(Value):
    """A tool as a model sees it: `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


class ChatOptions(Value):
    """Sampling options and limits; None leaves the vendor's default."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    effort: Effort | None = None
    tool_choice: ToolChoice = made_by(default_factory=_choice_of_task)


class ChatRequest(Value):
    """One request to a model: the model's own name (without the provider), the conversation, the tools it may call.

    `on_first_byte` is called when a service begins to answer: from then on the attempt is billed, whatever becomes of
    it. It is no event: cancelled attempts count, too, and there is nothing to show.
    """

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    options: ChatOptions = made_by(default_factory=ChatOptions)
    on_first_byte: Callable[[], None] = _ignored


class ChatResponse(Value):
    """A model's whole answer.

    `answered_by` is the `provider/model` that answered, if it is another than was asked (a fallback).
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    usage: Usage | None = None
    stop: ModelStop = "end"
    answered_by: str = ""


class TextChunk(Value):
    """The next piece of visible text."""

    text: str


class ThoughtChunk(Value):
    """The next piece of thinking. One with `signature`, `redacted` or `origin` (see `Reasoning`) closes its block."""

    text: str
    signature: str | None = None
    redacted: str | None = None
    origin: str = ""


class CallChunk(Value):
    """The start of a tool call, or a piece of its `arguments`; the calls of an answer are numbered from 0.

    Sent by providers whose vendor streams arguments. `Finished` has every whole call, in the same order.
    """

    index: int
    name: str
    arguments: str = ""


class Retrying(Value):
    """The request failed before anything was visible and is tried again after `delay` seconds."""

    reason: str
    delay: float


class Switched(Value):
    """The request failed before anything was visible and goes to another model (`to`: `provider/model`)."""

    reason: str
    to: str


class Spent(Value):
    """Tokens of `model` (`provider/model`) that an abandoned attempt took; they are billed."""

    model: str
    usage: Usage


class Remark(Value):
    """A notice for people that changes nothing about the answer."""

    text: str


class Finished(Value):
    """The end of a stream. The response is whole: the chunks before it concatenate to its text and reasoning."""

    response: ChatResponse


StreamEvent: TypeAlias = TextChunk | ThoughtChunk | CallChunk | Retrying | Switched | Spent | Remark | Finished


class Capabilities(Value):
    """The capabilities of a model. `tools` means natively; `context_window` is in tokens, 0 when unknown."""

    tools: bool = True
    images: bool = False
    audio: bool = False
    thinking: bool = False
    context_window: int = 0
    cache: CacheStrategy = "none"


class ModelInfo(Value):
    """A model on offer. `context_window` is in tokens; 0 and None mean that the provider does not say.

    `created` is its release date in seconds since the Unix epoch; `deprecated` means that it will be retired;
    `price_at` chooses from `prices`.
    """

    id: str
    name: str | None = None
    description: str | None = None
    context_window: int = 0
    tools: bool | None = None
    images: bool | None = None
    audio: bool | None = None
    thinking: bool | None = None
    created: int = 0
    deprecated: bool | None = None
    prices: tuple[Price, ...] = ()

    def over(self, known: "ModelInfo | None") -> "ModelInfo":
        """This, with missing fields filled in from `known`."""
        if known is None:
            return self
        filled: dict[str, Any] = {}
        for field in ModelInfo.fields:
            said = getattr(self, field)
            filled[field] = said if said or said is False else getattr(known, field)
        return ModelInfo(**filled)


class ModelReference(Protocol):
    """Published facts about models, by base URL of the service."""

    def models(self, base_url: str) -> Sequence[ModelInfo]:
        """The models of a service; empty where it is not known."""
        ...

    def about(self, base_url: str, model: str) -> ModelInfo | None:
        """The facts about a model, by any name that the service accepts for it."""
        ...


class Provider(ABC):
    """A source of answers. Subclasses write `chat`; streaming ones write `stream` and collect it in `chat`.

    Every failure is raised as a `claw_acp.core.errors.ProviderError` that names the provider, the vendor's message and
    a remedy; cancellation passes unchanged.
    """

    name: str = "provider"

    @abstractmethod
    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request in one piece."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
        """Answer piece by piece, ending with exactly one `Finished`. The default sends one chunk from `chat`."""
        response = await self.chat(request)
        for block in response.reasoning:
            yield ThoughtChunk(text=block.text, signature=block.signature, redacted=block.redacted, origin=block.origin)
        if response.text:
            yield TextChunk(text=response.text)
        yield Finished(response=response)

    def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 - most providers answer by model
        """The capabilities of `model`."""
        return Capabilities()

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer, best first; empty when the provider cannot say."""
        return ()

    async def aclose(self) -> None:
        """Release connections and processes."""
        return

    async def simple_chat(self, model: str, text: str, *, temperature: float | None = None) -> str:
        """Send one message, return the answer's text."""
        return await self.chat_with_history(model, [Message.user(text)], temperature=temperature)

    async def chat_with_system(self, model: str, system: str, text: str, *, temperature: float | None = None) -> str:
        """Send one message under instructions, return the answer's text."""
        messages = [Message.system(system), Message.user(text)]
        return await self.chat_with_history(model, messages, temperature=temperature)

    async def chat_with_history(
        self, model: str, messages: Sequence[Message], *, temperature: float | None = None
    ) -> str:
        """Continue a conversation, return the answer's text."""
        options = ChatOptions(temperature=temperature)
        return (await self.chat(ChatRequest(model=model, messages=messages, options=options))).text
