"""JSON-RPC 2.0 messages: one line of bytes in, one typed message out, and back. Standard library only (boot path).

Nothing that arrives can raise: what is not a message becomes a `Malformed` that says which error to answer.
Nothing that leaves can be invalid: NaN, infinities, endless integers and lone surrogates are replaced, never written.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias, cast

from claw_acp.core.json_value import JsonObject, JsonValue

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800

RequestId: TypeAlias = str | int | float | None
"""Echoed as the exact JSON value that came; ACP 1 allows null and fractions."""


class Request(NamedTuple):
    """A call that must be answered once."""

    id: RequestId
    method: str
    params: JsonValue


class Notification(NamedTuple):
    """A call that must not be answered."""

    method: str
    params: JsonValue


class Response(NamedTuple):
    """The answer to a call of ours: `error` is set exactly when it failed, or when the answer itself is broken."""

    id: RequestId
    result: JsonValue
    error: JsonObject | None


class Malformed(NamedTuple):
    """Anything that is no message; answered with `code`, `reason` and `id` (null where none could be read)."""

    code: int
    reason: str
    id: RequestId = None


Incoming: TypeAlias = Request | Notification | Response | Malformed


_LONGEST_INTEGER = 14_284  # bits: 4300 digits, which is where Python refuses to read and write them


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def decode(line: bytes) -> Incoming:
    """Read one line. Invalid UTF-8 is read with replacement characters; a byte order mark is skipped."""
    try:
        value: JsonValue = _DECODER.decode(line.decode("utf-8", "replace").lstrip("\ufeff"))
    except RecursionError:
        return Malformed(PARSE_ERROR, "Parse error: nested too deeply")
    except ValueError as error:
        return Malformed(PARSE_ERROR, f"Parse error: {error}")
    if not isinstance(value, dict):
        what = "batches are not part of ACP" if isinstance(value, list) else "a message is a JSON object"
        return Malformed(INVALID_REQUEST, f"Invalid request: {what}")
    return _classify(value)


def _classify(value: dict[str, JsonValue]) -> Incoming:
    raw_id = value.get("id")
    request_id = cast("RequestId", raw_id) if _is_id(raw_id) else None
    if "method" not in value and ("result" in value or "error" in value):
        return _response(request_id, value)
    if not _is_id(raw_id):
        return Malformed(INVALID_REQUEST, "Invalid request: `id` must be a string, a number or null")
    if value.get("jsonrpc") != "2.0":
        return Malformed(INVALID_REQUEST, 'Invalid request: `jsonrpc` must be "2.0"', request_id)
    method = value.get("method")
    if isinstance(method, str):
        params = value.get("params")
        return Request(request_id, method, params) if "id" in value else Notification(method, params)
    what = "be a string" if "method" in value else "be there"
    return Malformed(INVALID_REQUEST, f"Invalid request: `method` must {what}", request_id)


def _response(request_id: RequestId, value: dict[str, JsonValue]) -> Response:
    """The response; it is never answered, however broken: its waiter gets the error."""
    error = value.get("error")
    if value.get("jsonrpc") != "2.0":
        return Response(request_id, None, broken_answer('`jsonrpc` must be "2.0"'))
    if isinstance(error, dict):
        return Response(request_id, None, error)
    if error is not None or "result" not in value:
        return Response(request_id, None, broken_answer("`error` must be an object"))
    return Response(request_id, value["result"], None)


def broken_answer(reason: str) -> JsonObject:
    """The `error` that replaces an unusable answer."""
    return {"code": INVALID_REQUEST, "message": f"Invalid response: {reason}"}


def _is_id(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def is_plain(request_id: RequestId) -> bool:
    """Return whether an id is a string or an integer, as protocol 2 requires."""
    return isinstance(request_id, str | int)


def encode(message: JsonObject) -> bytes:
    """One line of UTF-8 with its newline. Line separators that some clients split at are written as escapes."""
    try:
        text = _ENCODER.encode(message)
        line = text.encode("utf-8")
    except ValueError:  # NaN, infinity, an endless integer, or (as UnicodeEncodeError) a lone surrogate
        text = _ENCODER.encode(_writable(message))
        line = text.encode("utf-8")
    if not text.isascii() and ("\u2028" in text or "\u2029" in text or "\x85" in text):
        text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")
        line = text.encode("utf-8")
    return line + b"\n"


def _writable(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if value.bit_length() <= _LONGEST_INTEGER else None
    if isinstance(value, Mapping):
        return {cast("str", _writable(key)): _writable(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_writable(item) for item in value]
    return value


def request_line(request_id: int, method: str, params: JsonObject) -> bytes:
    """A request."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_line(method: str, params: JsonObject) -> bytes:
    """A notification."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})


def result_line(request_id: RequestId, result: JsonValue) -> bytes:
    """A successful response."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_line(request_id: RequestId, code: int, message: str, data: JsonValue = None) -> bytes:
    """An error response; `data` is left out when None."""
    error: dict[str, JsonValue] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})
