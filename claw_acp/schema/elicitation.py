"""`elicitation/*`: the agent asks its user a question, by a form or on a web page."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.core.value import made_by
from claw_acp.schema.base import (
    Array,
    Explained,
    Given,
    Int64,
    Known,
    Lenient,
    LenientItems,
    OnError,
    RequestId,
    Uint32,
    Uint64,
    Variants,
    Wire,
)

# ------------------------------------------------------------------ the fields of a form

StringFormat = Literal["email", "uri", "date", "date-time"]


class _Property(Wire):
    title: Lenient[str] = None
    description: Lenient[str] = None


class EnumOption(Wire):
    """A value to choose, and how to show it."""

    const: str
    title: str
    description: Lenient[str] = None


class StringPropertySchema(_Property):
    """A text field, or with `enum` or `one_of` a choice of one."""

    type: Literal["string"] = "string"
    min_length: Uint32 | None = None
    max_length: Uint32 | None = None
    pattern: str | None = None
    format: StringFormat | None = None
    default: Lenient[str] = None
    enum: Array[str] | None = None
    one_of: Array[EnumOption] | None = None


class NumberPropertySchema(_Property):
    """A number."""

    type: Literal["number"] = "number"
    minimum: float | None = None
    maximum: float | None = None
    default: Lenient[float] = None


class IntegerPropertySchema(_Property):
    """A whole number."""

    type: Literal["integer"] = "integer"
    minimum: Int64 | None = None
    maximum: Int64 | None = None
    default: Lenient[Int64] = None


class BooleanPropertySchema(_Property):
    """A switch."""

    type: Literal["boolean"] = "boolean"
    default: Lenient[bool] = None


class StringMultiSelectItems(Wire):
    """Values to choose from."""

    type: Literal["string"] = "string"
    enum: Array[str]


class TitledMultiSelectItems(Wire):
    """Values to choose from, each with a title."""

    any_of: Array[EnumOption]


MultiSelectItems: TypeAlias = Annotated[
    StringMultiSelectItems | TitledMultiSelectItems,
    Variants(tag="type", otherwise=TitledMultiSelectItems),
]


class MultiSelectPropertySchema(_Property):
    """A choice of several."""

    type: Literal["array"] = "array"
    items: MultiSelectItems
    min_items: Uint64 | None = None
    max_items: Uint64 | None = None
    default: LenientItems[str] = None


ElicitationPropertySchema: TypeAlias = Annotated[
    StringPropertySchema
    | NumberPropertySchema
    | IntegerPropertySchema
    | BooleanPropertySchema
    | MultiSelectPropertySchema,
    Variants(tag="type"),
]


class ElicitationSchema(_Property):
    """A form: its fields by name, and which of them are required."""

    type: Annotated[Literal["object"], OnError(default="object")] = "object"
    properties: dict[str, ElicitationPropertySchema] = made_by(default_factory=dict[str, ElicitationPropertySchema])
    required: Array[str] | None = None


# ------------------------------------------------------------------ asking and answering


class CreateElicitationRequest(Given):
    """A question.

    Mode `form` needs `requested_schema`, mode `url` needs `elicitation_id` and `url`. It is asked within a session (and
    perhaps a tool call), or on behalf of a request of the client.
    """

    message: str
    mode: Literal["form", "url"]
    session_id: str | None = None
    tool_call_id: Lenient[str] = None
    request_id: RequestId = None
    requested_schema: ElicitationSchema | None = None
    elicitation_id: str | None = None
    url: str | None = None

    def conflict(self) -> str:
        """The fault of missing fields that the mode needs."""
        if self.mode == "form" and self.requested_schema is None:
            return 'needs `requestedSchema` when `mode` is "form"'
        if self.mode == "url" and (self.elicitation_id is None or self.url is None):
            return 'needs `elicitationId` and `url` when `mode` is "url"'
        if self.session_id is None and "request_id" not in self.given:
            return "needs `sessionId` or `requestId`"
        return ""


ElicitationContentValue: TypeAlias = Annotated[
    str | int | float | bool | Array[str],
    Explained(text="must be a string, a number, true or false, or an array of strings"),
]


class CreateElicitationResponse(Wire):
    """The user's answer. Only `accept` carries content, and an unknown action is no acceptance."""

    action: Annotated[str, Known(values=("accept", "decline", "cancel"))]
    content: dict[str, ElicitationContentValue] | None = None


class CompleteElicitationNotification(Wire):
    """The task of the web page of a `url` question is done."""

    elicitation_id: str
