"""The attach protocol as types: what the hub and a program that attaches to it say to each other.

The published JSON Schemas and the OpenRPC document are generated from here, the hub reads its programs with it, and
the kit writes with it. Reading is lenient: unknown members are ignored.
"""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from claw_acp.contracts.endpoint import CALL_SECONDS, MOST_TOOLS, Role

RequestId: TypeAlias = int | str
Json: TypeAlias = Any
"""Anything JSON can hold."""

Label: TypeAlias = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._ -]*$")]
Folder: TypeAlias = Annotated[str, Field(pattern=r"^/", max_length=4096)]
ToolName: TypeAlias = Annotated[str, Field(min_length=1, max_length=55, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]


TRACE = "`traceparent` and `tracestate` (W3C Trace Context) of the call, if it is traced."


class Message(BaseModel):
    """The base of every message: unknown members are ignored, absent ones left out when writing."""

    model_config = ConfigDict(extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True)

    def plain(self) -> dict[str, Json]:
        """The message as it is sent."""
        return self.model_dump(by_alias=True, exclude_none=True)


class Nothing(Message):
    """An object without required members."""


# ------------------------------------------------------------------ every role


class HostInfo(Message):
    """The hub."""

    name: str
    version: str = ""


class InitializeParams(Message):
    """The first message on every connection, from the hub. Members that a role does not need are to be ignored."""

    protocol_version: int = Field(description="The newest version the hub speaks: 1.")
    host_info: HostInfo
    process: dict[str, Json] | None = Field(
        default=None, description="For editors: the hub's process, with which theirs must be alike."
    )


class EndpointInfo(Message):
    """The program."""

    name: Label
    version: str = ""
    instance: str | None = Field(
        default=None,
        max_length=128,
        description="Tells several running copies of one program apart. A program that attaches again with the same "
        "name and instance replaces its older connection.",
    )


class InitializeResult(Message):
    """The answer: who attached, and as what."""

    protocol_version: int
    role: Role
    endpoint_info: EndpointInfo
    capabilities: dict[str, Json] = Field(default={}, description="Reserved; an empty object in version 1.")


class Closing(Message):
    """The last message of the hub: why it ends the connection."""

    reason: Literal["refused", "replaced", "unresponsive", "malformed", "shutdown"]
    message: str = Field(description="For people.")


class LogParams(Message):
    """A line for the hub's log. At most 100 in 10 s are kept; of the others there is a count."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    message: str


class CancelParams(Message):
    """The request that is no longer wanted; it is answered with error -32800, or with its result if that was faster."""

    request_id: RequestId


# ------------------------------------------------------------------ tools


class ToolOffer(Message):
    """A tool that the program lends. Models see it as `remote__NAME`."""

    name: ToolName
    title: str | None = Field(default=None, max_length=120, description="For people.")
    description: str = Field(min_length=1, max_length=1024, description="For models: what it does, and when to use it.")
    input_schema: dict[str, Json] = Field(
        description='A JSON Schema of `"type": "object"`. Arguments that do not fit it are never sent.'
    )
    read_only: bool = Field(default=False, description="It changes nothing. A hint: people are asked all the same.")
    destructive: bool = Field(default=False, description="It may destroy something, which people should know.")
    timeout: float = Field(default=CALL_SECONDS, gt=0, le=3600, description="Seconds for one call.")


class Scope(Message):
    """The sessions that see the tools: one, those below a folder, or all where both are absent."""

    session: str | None = Field(default=None, description="The id of a session.")
    folder: str | None = Field(default=None, description="An absolute path; sessions that work in it or below it.")

    @model_validator(mode="after")
    def _only_one(self) -> Self:
        if self.session is not None and self.folder is not None:
            raise ValueError("name a session or a folder, not both")
        if self.folder is not None and not self.folder.startswith("/"):
            raise ValueError("a folder is an absolute path")
        return self


class RegisterParams(Message):
    """Tools to lend from now on. A name that the program has lent already gets the new description and scope."""

    tools: tuple[ToolOffer, ...] = Field(min_length=1, max_length=MOST_TOOLS)
    scope: Scope = Scope()


class Registered(Message):
    """A tool that is lent now."""

    name: str
    known_as: str = Field(description="Its name for models, and in permission rules.")


class Refused(Message):
    """A tool that is not lent."""

    name: str
    reason: str


class RegisterResult(Message):
    """What became of each tool."""

    registered: tuple[Registered, ...] = ()
    refused: tuple[Refused, ...] = ()


class UnregisterParams(Message):
    """Tools to lend no longer. Names that are not lent are ignored."""

    names: tuple[str, ...]


class CallParams(Message):
    """A call by a model, which a person or a rule has agreed to."""

    name: str
    arguments: dict[str, Json]
    call_id: str
    session_id: str
    folder: str = Field(description="The folder that the session works in.")
    meta: dict[str, Json] | None = Field(
        default=None, validation_alias="_meta", serialization_alias="_meta", description=TRACE
    )


class TextContent(Message):
    """A piece of text."""

    type: Literal["text"] = "text"
    text: str


class CallResult(Message):
    """The result, for the model. With `isError` the call failed, and the text says why and what to do instead."""

    content: tuple[TextContent, ...] = Field(default=(), max_length=1000)
    is_error: bool = False


# ------------------------------------------------------------------ schedulers


class FireParams(Message):
    """A prompt whose time has come."""

    fire_id: str = Field(min_length=1, max_length=128, description="The program's own; the same one never runs twice.")
    prompt: str = Field(min_length=1, max_length=100_000)
    job: Label | None = Field(default=None, description="Names the runs, for people; absent: the program's name.")
    folder: Folder | None = Field(
        default=None, description="The folder of a session of its own; absent: the home directory."
    )
    session: str | None = Field(
        default=None,
        max_length=128,
        description="The id of an existing session, whose mode and model count, instead of one of its own.",
    )
    mode: Literal["plan", "ask", "edit", "auto"] | None = Field(
        default=None, description="Nobody is asked: what the mode would ask about is refused, and told."
    )
    model: str | None = Field(default=None, max_length=256)
    tools: tuple[Annotated[str, Field(max_length=128)], ...] | None = Field(
        default=None, max_length=1000, description="The only tools it may use."
    )
    budget: float | None = Field(default=None, gt=0, allow_inf_nan=False, description="US dollars it may cost.")
    timeout: int | None = Field(default=None, gt=0, le=604_800, description="Seconds it may take; absent: an hour.")


class FireResult(Message):
    """The fire is stored: it will run, even if the hub ends now. Its end is told by `schedule/finished`."""

    known: bool = Field(
        description="It was fired before, and nothing else runs. If it has ended, `schedule/finished` comes again."
    )


class FinishedParams(Message):
    """The end of a run. It comes again until it was answered, so the same one may come twice."""

    fire_id: str
    status: Literal["succeeded", "failed", "cancelled", "interrupted", "skipped"] = Field(
        description="interrupted: the hub ended during the run, which is not repeated."
    )
    text: str = Field(default="", description="The answer; the session has all of a long one.")
    detail: str = Field(default="", description="Why it failed; what was refused, as nobody could be asked.")
    session_id: str | None = None
    cost: float | None = Field(default=None, description="In US dollars, where prices are known.")


# ------------------------------------------------------------------ channels (specified, not served yet)


class ChatAddress(Message):
    """A place where people write, as the channel names it."""

    chat: str = Field(min_length=1)
    thread: str | None = None


class IncomingMessage(ChatAddress):
    """A message of a person."""

    id: str = Field(min_length=1, description="The same one is never answered twice.")
    sender: str = Field(min_length=1, description="Who wrote it, by a name that cannot be taken by others.")
    text: str


class SendParams(ChatAddress):
    """A message to send, or a draft of one that `channel/edit` goes on with."""

    text: str
    draft: bool = False


class SendResult(Message):
    """The message that was sent."""

    message_id: str


class EditParams(ChatAddress):
    """A message with another text."""

    message_id: str
    text: str
    draft: bool = False


class AskParams(ChatAddress):
    """A question with a few answers, as buttons or by a reply."""

    question: str
    options: tuple[str, ...] = Field(min_length=1, max_length=12)


class AskResult(Message):
    """The answer; null when nobody gave one in time."""

    option: int | None = Field(default=None, ge=0)
    sender: str | None = None


# ------------------------------------------------------------------ peripherals (specified, not served yet)


class Board(Message):
    """A board and what it has."""

    name: str
    channels: tuple[str, ...] = Field(default=(), description="Pins, sensors and the like, by name.")


class ReadParams(Message):
    """A channel of the board to read."""

    channel: str


class ReadResult(Message):
    """A value."""

    value: Json


class WriteParams(Message):
    """A channel of the board to set."""

    channel: str
    value: Json


class PeripheralEvent(Message):
    """A value that changed by itself."""

    channel: str
    value: Json
