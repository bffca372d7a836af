"""Input schemas of tools that are not ours, reduced to a form that every model vendor accepts.

One refused tool spoils every request of a session. So the result is a plain object: only known keywords with values of
the right kind, no references, no union at the top, no property names that vendors refuse, and of bounded size. It only
helps the model to write arguments; the server checks them itself.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from claw_acp.core.json_value import JsonObject, JsonValue

MOST_NODES = 1500  # schemas inside one schema, after references were followed
DEEPEST = 12  # schemas below one another
LARGEST = 48 * 1024  # characters of the result as JSON; tools beyond that crowd out the conversation

_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_NOT_AT_THE_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const"})


def usable_schema(schema: JsonObject) -> JsonObject | None:
    """The schema for models; None when a required argument has a name that no vendor accepts."""
    cleaner = _Cleaner(schema)
    top = cleaner.clean(schema, depth=0, above=())
    variants = [branch for key in ("allOf", "anyOf", "oneOf") for branch in _objects(top.get(key))]
    properties = {name: node for part in (*variants, top) for name, node in _mapping(part.get("properties")).items()}
    named = _texts(top.get("required"))
    named += [name for branch in _objects(top.get("allOf")) for name in _texts(branch.get("required"))]
    if cleaner.nameless & set(named):
        return None
    required = [name for name in dict.fromkeys(named) if name in properties]
    rest = {key: value for key, value in top.items() if key not in _NOT_AT_THE_TOP | {"required"}}
    whole = {**rest, "type": "object", "properties": properties} | ({"required": required} if required else {})
    for described in (200, 60, 0):
        if len(json.dumps(whole)) <= LARGEST:
            break
        whole |= {"properties": {name: _outline(node, described=described) for name, node in properties.items()}}
    return whole


class _Cleaner:
    """Cleans one schema; `nameless` are the properties removed for their names."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0
        self.nameless: set[str] = set()

    def clean(self, node: JsonValue, *, depth: int, above: tuple[str, ...]) -> dict[str, JsonValue]:
        """A cleaned schema; `above` are the references that led to it, since some are circular."""
        self._nodes += 1
        if not isinstance(node, Mapping) or depth > DEEPEST or self._nodes > MOST_NODES:
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            beside = {key: value for key, value in node.items() if key != "$ref"}
            target = None if reference in above else _target(self._root, reference)
            return self.clean({**target, **beside} if target else beside, depth=depth, above=(*above, reference))
        result: dict[str, JsonValue] = {}
        for key, value in node.items():
            fits = _SIMPLE.get(key)
            if fits is not None:
                if fits(value):
                    result[key] = _finite(value)
            elif (inner := self._inner(key, value, depth=depth + 1, above=above)) is not None:
                result[key] = inner
        if depth and "required" in result:
            known = _mapping(result.get("properties"))
            result["required"] = [name for name in _texts(result["required"]) if name in known]
        return _without_null(result)

    def _inner(self, key: str, value: JsonValue, *, depth: int, above: tuple[str, ...]) -> JsonValue:
        match key:
            case "properties":
                named = _mapping(value)
                self.nameless |= {name for name in named if not _PROPERTY.fullmatch(name)}
                kept = {name: inner for name, inner in named.items() if _PROPERTY.fullmatch(name)}
                return {name: self.clean(inner, depth=depth, above=above) for name, inner in kept.items()}
            case "anyOf" | "oneOf" | "allOf":
                return [self.clean(branch, depth=depth, above=above) for branch in _objects(value)] or None
            case "items" if _objects(value):  # an old way to describe the elements one by one
                return self.clean(_objects(value)[0], depth=depth, above=above)
            case "additionalProperties" if isinstance(value, bool):
                return value
            case "items" | "not" | "additionalProperties":
                return self.clean(value, depth=depth, above=above)
            case _:
                return None


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_count(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_flag(value: JsonValue) -> bool:
    return isinstance(value, bool)


def _is_type(value: JsonValue) -> bool:
    return value in _TYPES if isinstance(value, str) else bool(_texts(value)) and set(_texts(value)) <= _TYPES


def _is_choice(value: JsonValue) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and bool(value)


def _is_anything(value: JsonValue) -> bool:  # noqa: ARG001 - that is what it says
    return True


_SIMPLE: Final[Mapping[str, Callable[[JsonValue], bool]]] = {
    "type": _is_type,
    "enum": _is_choice,
    "required": _is_choice,
    "const": _is_anything,
    "default": _is_anything,
    "uniqueItems": _is_flag,
    **dict.fromkeys(("description", "format", "pattern"), _is_text),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
}
"""Keywords without a nested schema, and their valid values. Other keywords without a schema are dropped."""


def _without_null(node: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema without null: `X or null`, as optional fields are often described, is an X that may be absent."""
    for key in ("anyOf", "oneOf"):
        branches = _objects(node.get(key))
        present = [branch for branch in branches if branch.get("type") != "null"]
        if len(branches) > len(present) == 1:
            rest = {name: value for name, value in node.items() if name != key}
            return _without_null({**present[0], **rest})
    if node.get("default", ...) is None:
        del node["default"]
    return node


def _target(root: JsonObject, reference: str) -> JsonObject | None:
    """The object of a reference inside the document; others are not followed."""
    if not reference.startswith("#"):
        return None
    found: JsonValue = root
    for step in reference.removeprefix("#").split("/")[1:]:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found if isinstance(found, Mapping) else None


def _outline(node: JsonValue, *, described: int) -> JsonObject:
    """A property reduced to its type and the beginning of its description."""
    known = _mapping(node)
    outline: dict[str, JsonValue] = {key: known[key] for key in ("type",) if key in known}
    description = known.get("description")
    return outline | ({"description": description[:described]} if described and isinstance(description, str) else {})


def _finite(value: JsonValue) -> JsonValue:
    """A value that can be written as JSON."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(inner) for inner in value]
    return value


def _mapping(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _objects(value: JsonValue) -> list[JsonObject]:
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [cast("JsonObject", item) for item in found if isinstance(item, Mapping)]


def _texts(value: JsonValue) -> list[str]:
    found = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    return [item for item in found if isinstance(item, str)]
