"""The message types that every provider, the loop and the journal share."""

from typing import Literal, TypeAlias

from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value

Role = Literal["system", "user", "assistant", "tool"]
ModelStop = Literal["end", "tool_calls", "max_tokens", "refusal"]
"""The reason a model stopped: it finished, wants tools, ran out of tokens, or declined."""


class TextPart(Value):
    """Plain text."""

    text: str


class FactsPart(TextPart):
    """Facts that the program adds to a user's message; no part of what the person wrote."""


class ImagePart(Value):
    """An image as base64, with the media type of the bytes."""

    data: str
    mime_type: str
    uri: str | None = None


class AudioPart(Value):
    """Sound as base64, with the media type of the bytes."""

    data: str
    mime_type: str


class ResourcePart(Value):
    """A document embedded in the prompt: either `text` or `blob` (base64) is set."""

    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None


class LinkPart(Value):
    """A reference to something the agent may fetch with its own tools."""

    uri: str
    name: str
    mime_type: str | None = None
    title: str | None = None
    description: str | None = None
    size: int | None = None


ContentPart: TypeAlias = TextPart | ImagePart | AudioPart | ResourcePart | LinkPart


class Reasoning(Value):
    """One block of a model's thinking.

    `signature` and `redacted` are opaque vendor data that must be sent back unchanged with the message they came with
    (Anthropic: `thinking.signature`, `redacted_thinking.data`). `origin` names the only wire family that may send them.
    Empty: Anthropic's, from before there were others, or none.
    """

    text: str
    signature: str | None = None
    redacted: str | None = None
    origin: str = ""


class ToolCall(Value):
    """A model's request to run a tool; `arguments` is JSON text exactly as the model wrote it.

    `extra` holds what a vendor wants back unchanged with the call, under a key that no other wire family uses
    (`extra_content`: Google's through its OpenAI-compatible service). `problem` is the reason why a call that a model
    wrote as text cannot be run, in words for the model; it is not kept.
    """

    id: str
    name: str
    arguments: str
    extra: JsonObject | None = None
    problem: str = ""


class Usage(Value):
    """Tokens of one model request. `input_tokens` counts everything sent, cached or not."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_read_tokens: int = 0
    cached_write_tokens: int = 0
    thought_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_read_tokens=self.cached_read_tokens + other.cached_read_tokens,
            cached_write_tokens=self.cached_write_tokens + other.cached_write_tokens,
            thought_tokens=self.thought_tokens + other.thought_tokens,
        )


class Message(Value):
    """One entry of a conversation as models see it.

    `tool_calls` and `reasoning` belong to assistant messages; `tool_call_id`, `tool_name`, `failed` to tool messages.
    """

    role: Role
    parts: tuple[ContentPart, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    failed: bool = False

    @property
    def text(self) -> str:
        """All plain text of the message, joined, without the facts that the program added."""
        return "".join(
            part.text for part in self.parts if isinstance(part, TextPart) and not isinstance(part, FactsPart)
        )

    @classmethod
    def system(cls, text: str) -> "Message":
        """Instructions that stand above the conversation."""
        return cls(role="system", parts=(TextPart(text=text),))

    @classmethod
    def user(cls, *parts: ContentPart | str) -> "Message":
        """The message of a person; a bare string is a text part."""
        return cls(role="user", parts=tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts))

    @classmethod
    def assistant(
        cls, text: str = "", *, tool_calls: tuple[ToolCall, ...] = (), reasoning: tuple[Reasoning, ...] = ()
    ) -> "Message":
        """The message of a model: its text and the calls it asked for."""
        parts = (TextPart(text=text),) if text else ()
        return cls(role="assistant", parts=parts, tool_calls=tool_calls, reasoning=reasoning)

    @classmethod
    def tool(cls, call: ToolCall, *parts: ContentPart | str, failed: bool = False) -> "Message":
        """The message with the result of a tool call."""
        content = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
        return cls(role="tool", parts=content, tool_call_id=call.id, tool_name=call.name, failed=failed)
