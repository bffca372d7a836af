"""The provider protocol as types: what claw-acp and a provider program say to each other.

The published JSON Schemas and the OpenRPC document are generated from here. Reading is lenient, as the protocol asks:
unknown members are ignored.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

PROTOCOL_VERSION = 1

RequestId: TypeAlias = int | str
Json: TypeAlias = Any
"""Anything JSON can hold."""


TRACE = "`traceparent` and `tracestate` (W3C Trace Context) of the request, if it is traced."


class Wire(BaseModel):
    """The base of every message: unknown members are ignored, absent ones left out when writing."""

    model_config = ConfigDict(extra="ignore", frozen=True, protected_namespaces=())


# ------------------------------------------------------------------ a conversation


class TextPart(Wire):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str


class Base64Source(Wire):
    """An image in the message itself."""

    kind: Literal["base64"] = "base64"
    data: str = Field(description="Base64, without a `data:` prefix.")


class PathSource(Wire):
    """An image in a file."""

    kind: Literal["file_path"] = "file_path"
    path: str


class UrlSource(Wire):
    """An image at an address."""

    kind: Literal["url"] = "url"
    url: str


ImageSource: TypeAlias = Annotated[Base64Source | PathSource | UrlSource, Field(discriminator="kind")]


class ImagePart(Wire):
    """An image. claw-acp itself only sends the `base64` kind."""

    type: Literal["image"] = "image"
    source: ImageSource
    media_type: str = Field(description="As in `image/png`.")


ContentPart: TypeAlias = Annotated[TextPart | ImagePart, Field(discriminator="type")]


class CalledTool(Wire):
    """A tool call that an earlier answer asked for."""

    id: str
    name: str
    arguments: str = Field(description="JSON text, exactly as the model wrote it.")


class ChatMessage(Wire):
    """One message of the conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = Field(description="All text of the message; it may be empty.")
    content_parts: tuple[ContentPart, ...] = Field(
        default=(), description="The same message in parts, when it holds more than text; else empty."
    )
    tool_calls: tuple[CalledTool, ...] | None = Field(default=None, description="Of an assistant message; else absent.")
    tool_call_id: str | None = Field(default=None, description="Of a tool message: the call it answers; else absent.")


class ToolDefinition(Wire):
    """A tool the model may ask for."""

    name: str
    description: str
    parameters: dict[str, Json] = Field(description="A JSON Schema of type object.")


class ChatOptions(Wire):
    """Sampling; a member that is absent leaves the choice to the program."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None


class ChatParams(Wire):
    """The parameters of `chat`."""

    messages: tuple[ChatMessage, ...] = Field(min_length=1)
    tools: tuple[ToolDefinition, ...] = ()
    model: str | None = Field(default=None, description="A model of the program; null: its own choice.")
    options: ChatOptions = ChatOptions()
    meta: dict[str, Json] | None = Field(
        default=None, validation_alias="_meta", serialization_alias="_meta", description=TRACE
    )

    @property
    def last(self) -> ChatMessage:
        """The newest message."""
        return self.messages[-1]


# ------------------------------------------------------------------ an answer


class ToolRequest(Wire):
    """A tool that the model wants to be run."""

    id: str | None = Field(default=None, description="Unique in the answer; claw-acp makes one up where it is absent.")
    name: str
    arguments: dict[str, Json] | str = Field(default="{}", description="An object, or its JSON text.")


class TokenUsage(Wire):
    """Tokens of one request; `input_tokens` counts everything sent."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


StopReason: TypeAlias = Literal["end", "tool_calls", "max_tokens", "refusal"]


class ChatResult(Wire):
    """The whole answer. The deltas before it, if any, concatenate to it."""

    content: str = Field(description="The visible text; empty when there are only tool calls. Never null.")
    tool_calls: tuple[ToolRequest, ...] | None = None
    usage: TokenUsage | None = None
    reasoning: str | None = Field(default=None, description="The thinking, whole. Session mode.")
    stopReason: StopReason | None = Field(default=None, description="Session mode. Absent: told by the rest.")  # noqa: N815 - the wire


class ChatDelta(Wire):
    """A piece of an answer that is being made. Sent only by programs with the capability `streaming`."""

    requestId: RequestId = Field(description="The id of the `chat` request.")  # noqa: N815 - the wire
    type: Literal["text", "thought", "tool_call"]
    text: str | None = Field(default=None, description="The next piece, of text and thought.")
    index: int | None = Field(default=None, ge=0, description="Which tool call, from 0.")
    id: str | None = Field(default=None, description="Of a tool call, with its first piece.")
    name: str | None = Field(default=None, description="Of a tool call, with its first piece.")
    arguments: str | None = Field(default=None, description="The next piece of a tool call's JSON text.")


# ------------------------------------------------------------------ a session


class Party(Wire):
    """The name and version of one side."""

    name: str
    version: str = ""


class InitializeParams(Wire):
    """The first request of a session."""

    protocolVersion: int = Field(description="The newest version the host speaks: 1.")  # noqa: N815 - the wire
    hostInfo: Party  # noqa: N815 - the wire


class PluginCapabilities(Wire):
    """The capabilities of the program; an absent one is not supported."""

    streaming: bool = Field(default=False, description="It sends `chat/delta`.")
    tools: bool = Field(default=False, description="Its models can be given tools.")
    vision: bool = Field(default=False, description="Its models can see images.")
    thinking: bool = Field(default=False, description="It tells what its models think.")


class ModelRow(Wire):
    """A model of the program."""

    id: str
    name: str | None = None
    contextWindow: int | None = Field(default=None, ge=0, description="In tokens.")  # noqa: N815 - the wire


class InitializeResult(Wire):
    """The name and capabilities of the program. An integer `protocolVersion` marks a program that speaks sessions."""

    protocolVersion: int  # noqa: N815 - the wire
    pluginInfo: Party  # noqa: N815 - the wire
    capabilities: PluginCapabilities = PluginCapabilities()
    models: tuple[ModelRow, ...] = ()


class ModelsResult(Wire):
    """The models on offer now."""

    models: tuple[ModelRow, ...]


class CancelParams(Wire):
    """The request that is no longer wanted; it is answered with error -32800, or with its result if that was faster."""

    requestId: RequestId  # noqa: N815 - the wire


class ErrorData(Wire):
    """More about an error."""

    retryAfter: float | None = Field(default=None, ge=0, description="Seconds to wait before trying again.")  # noqa: N815 - the wire
