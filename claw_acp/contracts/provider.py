"""The contract of a model provider. One method must be written: `chat`."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from typing import Literal, TypeAlias

from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import Message, ModelStop, Reasoning, ToolCall, Usage
from claw_acp.core.value import Value, made_by

Effort = Literal["off", "low", "medium", "high"]
ToolChoice = Literal["auto", "none", "required"]

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The media types of images that every vendor takes."""


class ToolSpec(Value):
    """A tool as a model sees it: `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


class ChatOptions(Value):
    """Sampling and limits; None leaves the vendor's default."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    effort: Effort | None = None
    tool_choice: ToolChoice = "auto"


class ChatRequest(Value):
    """One request to a model: the model's own name (without the provider), the conversation, the tools it may call."""

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    options: ChatOptions = made_by(default_factory=ChatOptions)


class ChatResponse(Value):
    """A model's whole answer."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    usage: Usage | None = None
    stop: ModelStop = "end"


class TextChunk(Value):
    """The next piece of visible text."""

    text: str


class ThoughtChunk(Value):
    """The next piece of thinking. A piece with `signature` or `redacted` (see `Reasoning`) closes its block."""

    text: str
    signature: str | None = None
    redacted: str | None = None


class Retrying(Value):
    """The request failed before anything was visible and is tried again after `delay` seconds."""

    reason: str
    delay: float


class Finished(Value):
    """The end of a stream. The response is whole: the chunks before it concatenate to its text and reasoning."""

    response: ChatResponse


StreamEvent: TypeAlias = TextChunk | ThoughtChunk | Retrying | Finished


class Capabilities(Value):
    """What a model can do. `context_window` is in tokens, 0 when unknown."""

    tools: bool = True
    images: bool = False
    audio: bool = False
    thinking: bool = False
    context_window: int = 0


class ModelInfo(Value):
    """A model a provider offers."""

    id: str
    name: str | None = None
    description: str | None = None


class Provider(ABC):
    """A source of answers. Subclasses write `chat`; streaming ones write `stream` and collect it in `chat`.

    Every failure leaves as a `claw_acp.core.errors.ProviderError` that names the provider, what the vendor said and
    what to do; cancellation leaves as it came.
    """

    name: str = "provider"

    @abstractmethod
    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer a request in one piece."""

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent]:
        """Answer piece by piece, ending with exactly one `Finished`. The default sends one chunk from `chat`."""
        response = await self.chat(request)
        for block in response.reasoning:
            yield ThoughtChunk(text=block.text, signature=block.signature, redacted=block.redacted)
        if response.text:
            yield TextChunk(text=response.text)
        yield Finished(response=response)

    def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 - most providers answer by model
        """What `model` can do."""
        return Capabilities()

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer, best first; empty when the provider cannot say."""
        return ()

    async def aclose(self) -> None:
        """Release connections and processes."""
        return

    async def simple_chat(self, model: str, text: str) -> str:
        """Ask one thing, get text."""
        return await self.chat_with_history(model, [Message.user(text)])

    async def chat_with_system(self, model: str, system: str, text: str) -> str:
        """Ask one thing under instructions, get text."""
        return await self.chat_with_history(model, [Message.system(system), Message.user(text)])

    async def chat_with_history(self, model: str, messages: Sequence[Message]) -> str:
        """Continue a conversation, get text."""
        return (await self.chat(ChatRequest(model=model, messages=messages))).text
