"""The error object of a response, and the codes to which the protocol gives a meaning."""

from typing import Final, TypeAlias

from claw_acp.schema.base import Int32, JsonValue, Wire

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
AUTHENTICATION_REQUIRED: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002

ErrorCode: TypeAlias = Int32


class Error(Wire):
    """The reason a request failed; `message` is one sentence for people."""

    code: ErrorCode
    message: str
    data: JsonValue = None
