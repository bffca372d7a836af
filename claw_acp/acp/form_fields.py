"""Forms as JSON Schema of the protocol, and validation of the answers. Shared by both protocol versions."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Final, TypeAlias, assert_never, cast
from urllib.parse import urlsplit

from claw_acp.contracts.questions import ChoiceField, FieldValue, Form, FormField, NumberField, TextField, YesNoField
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject, JsonValue

_INT64: Final = range(-(2**63), 2**63)  # what the protocol's integers can be
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)?", re.ASCII)

_Filled: TypeAlias = "FieldValue | None"


class Unfitting(ClawError):
    """A form was filled in wrongly; the text names the field and the valid values."""


def requested_schema(form: Form) -> JsonObject:
    """The form as `requestedSchema`."""
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {field.key: _property(field) for field in form.inputs},
        "required": [field.key for field in form.inputs if field.required],
    }
    return schema | ({"title": form.title} if form.title else {})


def filled_in(form: Form, content: JsonObject) -> Mapping[str, FieldValue]:
    """The values of the form's fields, by key; empty fields are missing, unknown keys are dropped.

    Raises:
        Unfitting: A value does not fit its field, or a required one is missing.
    """
    problems: list[str] = []
    values: dict[str, FieldValue] = {}
    for field in form.inputs:
        try:
            value = _value(field, content.get(field.key))
        except Unfitting as problem:
            problems.append(f"“{field.title}” {problem.message}")
            continue
        if value is not None:
            values[field.key] = value
        elif field.required:
            problems.append(f"“{field.title}” must be filled in")
    if problems:
        raise Unfitting("; ".join(problems))
    return values


# ------------------------------------------------------------------ fields, as JSON Schema


def _property(field: FormField) -> JsonObject:
    match field:
        case TextField():
            limits: JsonObject = {"pattern": field.pattern, "format": field.format, "default": field.default}
            kind: JsonObject = {"type": "string", "minLength": 1 if field.required else None, **limits}
        case NumberField(whole=True):
            least = None if field.minimum is None else math.ceil(field.minimum)
            most = None if field.maximum is None else math.floor(field.maximum)
            kind = {"type": "integer", "minimum": least, "maximum": most}
        case NumberField():
            kind = {"type": "number", "minimum": field.minimum, "maximum": field.maximum}
        case YesNoField():
            kind = {"type": "boolean", "default": field.default}
        case ChoiceField(many=True):
            default = None if field.default is None else [field.default]
            fewest = 1 if field.required else None
            kind = {"type": "array", "items": {"anyOf": _options(field)}, "minItems": fewest, "default": default}
        case ChoiceField():
            kind = {"type": "string", "oneOf": _options(field), "default": field.default}
        case _:
            assert_never(field)
    return _given({"title": field.title, "description": field.description, **kind})


def _options(field: ChoiceField) -> list[JsonObject]:
    return [
        _given({"const": option.value, "title": option.label, "description": option.description})
        for option in field.options
    ]


def _given(members: JsonObject) -> JsonObject:
    return {name: value for name, value in members.items() if value is not None}


# ------------------------------------------------------------------ values


def _value(field: FormField, value: JsonValue) -> _Filled:
    """The value of a field; None when it was left empty."""
    if value is None:
        return None
    match field:
        case TextField():
            return _text(field, value)
        case NumberField():
            return _number(field, value)
        case YesNoField():
            if not isinstance(value, bool):
                raise Unfitting("must be yes or no")
            return value
        case ChoiceField(many=True):
            return _several(field, value)
        case ChoiceField():
            return _one(field, value)
        case _:
            assert_never(field)


def _text(field: TextField, value: JsonValue) -> _Filled:
    if not isinstance(value, str) or not _is_unicode(value):
        raise Unfitting("must be text")
    if not value.strip():
        return None  # what a form sends for a line that nobody touched
    if field.format is not None and not _FORMATS[field.format](value):
        raise Unfitting(f"must be {_FORMAT_NAMES[field.format]}")
    if field.pattern is not None and not _matches(field.pattern, value):
        raise Unfitting(f"must match {field.pattern}")
    return value


def _number(field: NumberField, value: JsonValue) -> _Filled:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise Unfitting("must be a number")
    if field.whole:
        if value != int(value) or int(value) not in _INT64:
            raise Unfitting("must be a whole number")
        value = int(value)
    if field.minimum is not None and value < field.minimum:
        raise Unfitting(f"must be at least {_plain(field.minimum)}")
    if field.maximum is not None and value > field.maximum:
        raise Unfitting(f"must be at most {_plain(field.maximum)}")
    return value


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer that no vendor and no language but Python takes for a number
        return False


def _plain(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else str(limit)


def _one(field: ChoiceField, value: JsonValue) -> _Filled:
    if isinstance(value, str) and any(value == option.value for option in field.options):
        return value
    if value == "":
        return None
    raise Unfitting(f"must be one of {_names(field)}")


def _several(field: ChoiceField, value: JsonValue) -> _Filled:
    chosen = cast("Sequence[JsonValue]", value) if isinstance(value, list | tuple) else [value]
    known = [option.value for option in field.options]
    if any(choice not in known for choice in chosen) or not isinstance(value, list | tuple):
        raise Unfitting(f"must be some of {_names(field)}")
    return tuple(option for option in known if option in chosen) or None


def _names(field: ChoiceField) -> str:
    return ", ".join(option.label for option in field.options)


# ------------------------------------------------------------------ texts


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _matches(pattern: str, text: str) -> bool:
    """Return whether a pattern occurs in the text; one that only JavaScript understands is left to the client."""
    try:
        return re.search(pattern, text) is not None
    except (re.error, RecursionError):
        return True


def _is_email(text: str) -> bool:
    name, _, host = text.rpartition("@")
    return bool(name and host) and not any(character.isspace() for character in text)


def _is_uri(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not any(character.isspace() for character in text)


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _is_read_by(date.fromisoformat, text)


def _is_date_time(text: str) -> bool:
    return _DATE_TIME.fullmatch(text) is not None and _is_read_by(datetime.fromisoformat, text.upper())


def _is_read_by(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


_FORMATS: Final = {"email": _is_email, "uri": _is_uri, "date": _is_date, "date-time": _is_date_time}
_FORMAT_NAMES: Final = {
    "email": "an e-mail address",
    "uri": "a web address or another URI",
    "date": "a date such as 2026-01-31",
    "date-time": "a date and time such as 2026-01-31T14:30:00Z",
}
