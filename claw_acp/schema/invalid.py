"""What to tell a peer whose parameters do not fit: the path to the field and what is wrong, in plain words."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from claw_acp.core.errors import InvalidRequest
from claw_acp.schema.base import EXPLAINED, UNKNOWN_VARIANT, Wire, is_variant_tag

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

W = TypeVar("W", bound=Wire)

SHOWN = 3  # complaints in one sentence; the rest are counted
LONGEST = 40  # characters of a foreign name or value that are repeated back

_PLAIN = {
    "missing": "is missing",
    "string_type": "must be a string",
    "string_unicode": "must be valid Unicode text",
    "bool_type": "must be true or false",
    "int_type": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "tuple_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
_WITH_LIMIT = {
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} character(s)",
}


def parse(model: type[W], params: object, *, method: str) -> W:
    """Make the model of `params`.

    Raises:
        InvalidRequest: The parameters do not fit; the text is that of `describe_invalid`.
    """
    try:
        return model.model_validate(params)
    except ValidationError as error:
        raise InvalidRequest(describe_invalid(error, method)) from error


def describe_invalid(error: ValidationError, method: str) -> str:
    """Say what is wrong with the parameters of `method`, such as "session/new: `cwd` is missing"."""
    details = error.errors(include_url=False)
    complaints = list(dict.fromkeys(_complaint(detail) for detail in details))
    more = f"; and {len(complaints) - SHOWN} more" if len(complaints) > SHOWN else ""
    return f"{method}: {'; '.join(complaints[:SHOWN])}{more}"


def _complaint(detail: "ErrorDetails") -> str:
    path = _path(detail["loc"])
    context: Mapping[str, Any] = detail.get("ctx", {})
    kind = detail["type"]
    if kind == UNKNOWN_VARIANT:
        return _unknown_variant(path, detail["input"], tag=context["tag"], known=context["known"])
    if kind == EXPLAINED:
        return f"{_subject(path)} {detail['msg']}"
    if kind == "literal_error":
        known = str(context["expected"]).replace("'", "").replace(" or ", ", ")
        return f"{_subject(path)} {_quoted(detail['input'])} is not one of {known}"
    if kind in _WITH_LIMIT:
        return f"{_subject(path)} {_WITH_LIMIT[kind].format(**context)}"
    return f"{_subject(path)} {_PLAIN.get(kind, 'is not valid')}"


def _unknown_variant(path: str, value: object, *, tag: str, known: str) -> str:
    if not isinstance(value, Mapping):
        return f"{_subject(path)} must be an object"
    found = cast("Mapping[str, object]", value)
    whole = f"{path}.{tag}" if path else tag
    if tag not in found:
        return f"{_subject(whole)} is missing"
    return f"{_subject(whole)} {_quoted(found[tag])} is not one of {known}"


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        elif not is_variant_tag(part):
            path += f".{_printable(part)}" if path else _printable(part)
    return path


def _subject(path: str) -> str:
    return f"`{path}`" if path else "params"


def _printable(name: str) -> str:
    short = name if len(name) <= LONGEST else name[:LONGEST] + "…"
    return short if short.isprintable() else json.dumps(short)[1:-1]


def _quoted(value: object) -> str:
    """A foreign value, if it is short enough to be of help."""
    if isinstance(value, str):
        return json.dumps(
            value if len(value) <= LONGEST else value[:LONGEST] + "…", ensure_ascii=not value.isprintable()
        )
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**LONGEST else "a huge number"
    return "an array" if isinstance(value, list | tuple) else "an object"
