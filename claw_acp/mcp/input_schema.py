"""Schemas of strangers made into what every model vendor takes.

One tool that a vendor refuses spoils every request of a session. So a schema leaves here as a plain object: no
references, no unions at the top, no property names with letters that vendors refuse, bounded in size. It only helps the
model to write arguments; the server checks them itself.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import cast

from claw_acp.core.json_value import JsonObject, JsonValue

MOST_NODES = 1500  # schemas inside one schema, after references were followed
DEEPEST = 12  # schemas below one another; vendors stop between 5 (strict modes) and 15
LARGEST = 48 * 1024  # characters of the result as JSON; tools beyond that crowd out the conversation

_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_MAPS = ("properties", "patternProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "contains", "propertyNames")
_DROPPED = frozenset({
    "$schema", "$id", "id", "$anchor", "$comment", "$defs", "definitions", "$ref", "$dynamicRef", "$dynamicAnchor",
    "$vocabulary", "title", "examples", "if", "then", "else", "dependentSchemas", "dependentRequired", "dependencies",
    "unevaluatedProperties", "unevaluatedItems", "contentSchema", "x-mcp-header",
})  # fmt: skip
_NOT_AT_THE_TOP = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "patternProperties", "propertyNames"})


def usable_schema(schema: JsonObject) -> JsonObject | None:
    """The schema as models are told it; None when a required argument has a name that no vendor takes."""
    cleaner = _Cleaner(schema)
    top = cleaner.clean(schema, depth=0, above=())
    variants = [branch for key in ("allOf", "anyOf", "oneOf") for branch in _objects(top.get(key))]
    properties = {name: node for part in (*variants, top) for name, node in _mapping(part.get("properties")).items()}
    named = [*_texts(top.get("required"))]
    named += [name for branch in _objects(top.get("allOf")) for name in _texts(branch.get("required"))]
    if cleaner.nameless & set(_texts(_resolved_required(schema))):
        return None
    rest = {key: value for key, value in top.items() if key not in _NOT_AT_THE_TOP}
    required = [name for name in dict.fromkeys(named) if name in properties]
    result = {**rest, "type": "object", "properties": properties, "required": required}
    if not required:
        del result["required"]
    if len(json.dumps(result)) > LARGEST:
        return {"type": "object", "properties": {name: _outline(node) for name, node in properties.items()}} | (
            {"required": required} if required else {}
        )
    return result


class _Cleaner:
    """Goes through one schema; `nameless` are properties left out for their names."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._nodes = 0
        self.nameless: set[str] = set()

    def clean(self, node: JsonValue, *, depth: int, above: tuple[str, ...]) -> dict[str, JsonValue]:
        """One schema; `above` are the references it was reached by, since some go round in circles."""
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
            if key not in _DROPPED and (kept := self._member(key, value, depth=depth, above=above)) is not None:
                result[key] = kept
        return _without_null(result)

    def _member(self, key: str, value: JsonValue, *, depth: int, above: tuple[str, ...]) -> JsonValue:
        if key in _MAPS:
            named = _mapping(value)
            if key == "properties":
                self.nameless |= {name for name in named if not _PROPERTY.fullmatch(name)}
                named = {name: inner for name, inner in named.items() if _PROPERTY.fullmatch(name)}
            return {name: self.clean(inner, depth=depth + 1, above=above) for name, inner in named.items()}
        if key in _LISTS:
            branches = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
            return [self.clean(branch, depth=depth + 1, above=above) for branch in branches] or None
        if key in _SINGLE:
            if isinstance(value, bool) and key == "additionalProperties":
                return value
            if isinstance(value, Sequence) and not isinstance(value, str):  # an old form of `prefixItems`
                return self.clean(value[0] if value else {}, depth=depth + 1, above=above)
            return self.clean(value, depth=depth + 1, above=above)
        return _finite(value)


def _without_null(node: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """`X or null`, as optional fields are often described, is X that may be left out."""
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
    """What a reference inside the document names; others are not followed."""
    found: JsonValue = root
    if not reference.startswith("#"):
        return None
    for step in reference.removeprefix("#").split("/")[1:]:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step.replace("~1", "/").replace("~0", "~"))
    return found if isinstance(found, Mapping) else None


def _resolved_required(schema: JsonObject) -> JsonValue:
    reference = schema.get("$ref")
    target = _target(schema, reference) if isinstance(reference, str) else None
    return schema.get("required") or (target or {}).get("required")


def _outline(node: JsonValue) -> JsonObject:
    """A property of which only the kind and the beginning of the description are told."""
    known = _mapping(node)
    outline: dict[str, JsonValue] = {key: known[key] for key in ("type",) if key in known}
    description = known.get("description")
    return outline | ({"description": description[:200]} if isinstance(description, str) else {})


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
