"""The parts of recorded frames that are always left out, because they carry secrets."""

from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.redaction import REDACTED

_HOLDERS: Final = frozenset({"env", "headers"})
"""Environments and headers of MCP servers, terminals and providers: names stay, values are left out."""

_ANSWERS: Final = frozenset({"accept", "decline", "cancel"})
"""The actions of an answer to a form, whose values are left out."""


def masked(frame: JsonValue) -> JsonValue:
    """The frame without values of environments, headers and forms."""
    if isinstance(frame, Mapping) and _is_form_answer(frame.get("result")):
        return {key: _without_content(value) if key == "result" else value for key, value in frame.items()}
    return _masked(frame)


def _masked(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _without_values(item) if key in _HOLDERS else _masked(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_masked(item) for item in value]
    return value


def _without_values(holder: JsonValue) -> JsonValue:
    """`[{name, value}]` or `{name: value}` with empty values."""
    if isinstance(holder, Mapping):
        return {name: REDACTED if isinstance(value, str) else _masked(value) for name, value in holder.items()}
    if isinstance(holder, Sequence) and not isinstance(holder, str):
        return [_without_value(item) for item in holder]
    return holder


def _without_value(entry: JsonValue) -> JsonValue:
    if isinstance(entry, Mapping):
        return {key: REDACTED if key == "value" else item for key, item in entry.items()}
    return REDACTED if isinstance(entry, str) else entry


def _is_form_answer(result: JsonValue) -> bool:
    if not isinstance(result, Mapping) or not isinstance(result.get("content"), Mapping):
        return False
    return result.get("action") in _ANSWERS


def _without_content(result: JsonValue) -> JsonObject:
    assert isinstance(result, Mapping)
    content = result["content"]
    assert isinstance(content, Mapping)
    return {**result, "content": dict.fromkeys(content, REDACTED)}
