"""Chat requests and frames as types."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.mode import Mode

_LONGEST_NAME = 4096
_TOLD = 300  # characters


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ChatPrompt(_Wire):
    """A prompt: in a session of before, or in a new one, to which `cwd`, `model` and `mode` apply.

    Its `_meta` may have the fields of a trace; a prompt by HTTP has them in its headers.
    """

    type: Literal["message"] = "message"
    message: str = Field(min_length=1)
    session: str | None = Field(default=None, max_length=_LONGEST_NAME)
    cwd: str | None = Field(default=None, max_length=_LONGEST_NAME)
    model: str | None = Field(default=None, max_length=_LONGEST_NAME)
    mode: Mode | None = None
    meta: dict[str, JsonValue] | None = Field(default=None, alias="_meta")


class CancelFrame(_Wire):
    """Cancels the running prompt of this WebSocket."""

    type: Literal["cancel"]


class PermissionFrame(_Wire):
    """Answers a `permission` frame with the id of one of its options."""

    type: Literal["permission"]
    id: str
    option: str


Frame = Annotated[ChatPrompt | CancelFrame | PermissionFrame, Field(discriminator="type")]
_FRAMES: TypeAdapter[ChatPrompt | CancelFrame | PermissionFrame] = TypeAdapter(Frame)


def prompt_in(content: object) -> ChatPrompt:
    """The prompt in a request body.

    Raises:
        InvalidRequest: There is none.
    """
    try:
        return ChatPrompt.model_validate(content)
    except ValidationError as error:
        raise InvalidRequest(_complaint(error)) from error


def frame_in(data: bytes) -> ChatPrompt | CancelFrame | PermissionFrame:
    """The frame in a message.

    Raises:
        InvalidRequest: There is none.
    """
    try:
        return _FRAMES.validate_json(data)
    except ValidationError as error:
        raise InvalidRequest(_complaint(error)) from error


def _complaint(error: ValidationError) -> str:
    """The faults in few words; those of the client are part of it."""
    faults = error.errors(include_url=False, include_input=False)[:3]
    told = (f"`{'.'.join(map(str, fault['loc'])) or 'message'}`: {fault['msg']}" for fault in faults)
    return "; ".join(each if len(each) <= _TOLD else f"{each[:_TOLD]}…" for each in told)
