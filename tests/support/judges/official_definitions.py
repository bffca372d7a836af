"""The official JSON Schema of the protocol, made quick to check against and strict about keys.

It is read from the npm package in `tests/foreign`, never kept in this repository. Two things are done to it: references
are replaced by their targets, and unions whose members carry a constant (`type`, `sessionUpdate`, ...) are decided by
that constant, which is both faster and gives errors about the right member.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias, cast

from jsonschema import Draft202012Validator, ValidationError, validators

from tests.support.foreign.node import foreign_modules

Schema: TypeAlias = dict[str, Any]

BY_TAG = "x-by-tag"  # our keyword: {"key": name, "members": {constant: schema}, "others": [schema]}
UNIONS = ("oneOf", "anyOf")
FREE = "_meta"  # the one key that any object may carry
_OUR_IDS = re.compile(r"(?<=[a-z]_)[0-9a-hjkmnp-tv-z]{26}(?=\")")
SHOWN = 300  # characters of a value in a message


class OfficialSchema:
    """All definitions of one schema file.

    Attributes:
        version: The protocol's version.
        source: The definitions as published, by name.
        definitions: The same with references resolved and unions sorted by their tags.
        requests: (side that serves it, method) -> name of the parameters' definition.
        notifications: Likewise for notifications; the side may also be "protocol", for both.
        results: (side that serves it, method) -> name of the result's definition.
    """

    def __init__(self, document: Schema, *, version: int, closed: bool = False) -> None:
        self.version = version
        self._closed = closed
        self.source: Mapping[str, Schema] = document["$defs"]
        self.definitions: dict[str, Schema] = {}
        for name in self.source:
            self._define(name)
        self.requests = self._methods("Request")
        self.notifications = self._methods("Notification")
        self.results = self._methods("Response")
        self._validators: dict[str, Any] = {}
        self._right: set[tuple[str, str]] = set()

    @classmethod
    def load(cls, version: int = 1, *, unstable: bool = False, closed: bool = False) -> "OfficialSchema":
        """Return the schema of a protocol version; the test is skipped if there is no Node.js to fetch it with.

        Args:
            version: Of the protocol.
            unstable: With unstable parts.
            closed: Without the open ends of enumerations and unions, which are for values of later versions.
        """
        return _load(version, unstable=unstable, closed=closed)

    def problems(self, definition: str, value: object) -> list[str]:
        """The faults of a value for this definition, each with its path.

        Most messages of an agent have occurred in an earlier test, apart from their ids, which may be any text.
        """
        seen = definition, _OUR_IDS.sub("", json.dumps(value, default=repr))
        if seen in self._right:
            return []
        validator = self._validators.get(definition)
        if validator is None:
            validator = self._validators[definition] = _Validator(self.definitions[definition])
        found = [_readable(error) for error in validator.iter_errors(value)] or [
            f"{path} is no key of {definition}" for path in stray_keys(self.definitions[definition], value, "$")
        ]
        if not found:
            self._right.add(seen)
        return found

    def _methods(self, ending: str) -> dict[tuple[str, str], str]:
        return {
            (schema["x-side"], schema["x-method"]): name
            for name, schema in self.source.items()
            if "x-method" in schema and name.endswith(ending)
        }

    def _define(self, name: str) -> Schema:
        if name not in self.definitions:
            self.definitions[name] = {}  # first, so that a definition may refer to itself
            self.definitions[name].update(self._resolved(self.source[name]))
        return self.definitions[name]

    def _resolved(self, node: Schema) -> Schema:
        if "$ref" in node:
            return self._define(node["$ref"].removeprefix("#/$defs/"))
        done: Schema = {}
        for key, value in node.items():
            if key == "properties":
                done[key] = {name: self._resolved(schema) for name, schema in value.items()}
            elif key in {*UNIONS, "allOf"}:
                done[key] = [self._resolved(schema) for schema in value]
            elif key in {"items", "additionalProperties", "not"} and isinstance(value, dict):
                done[key] = self._resolved(cast("Schema", value))
            else:
                done[key] = value
        for union in UNIONS:
            if union in done:
                done[union] = _without_open_ends(done[union]) if self._closed else done[union]
                _sort_by_tag(done, union)
        return done


@functools.cache
def _load(version: int, *, unstable: bool, closed: bool) -> OfficialSchema:
    name = "schema.unstable.json" if unstable else "schema.json"
    path = foreign_modules() / "@agentclientprotocol" / "sdk" / "schema" / f"v{version}" / name
    return OfficialSchema(json.loads(path.read_text(encoding="utf-8")), version=version, closed=closed)


def _without_open_ends(members: list[Schema]) -> list[Schema]:
    """A union without the member for unknown tags, which excludes the known ones, or for unknown strings."""
    known = [member for member in members if "not" not in member]
    if any(isinstance(member.get("const"), str) for member in known):
        known = [member for member in known if "const" in member or member.get("type") != "string"]
    return known


def tag_of(member: Schema) -> tuple[str, str] | None:
    """The key and the constant that identify a member of a union, if any."""
    for key, schema in member.get("properties", {}).items():
        if "const" in schema and key in member.get("required", ()):
            return key, schema["const"]
    return None


def _sort_by_tag(schema: Schema, union: str) -> None:
    members: list[Schema] = schema[union]
    if all("const" in member for member in members):
        del schema[union]
        schema["enum"] = [member["const"] for member in members]
        return
    tags = [tag_of(member) for member in members]
    keys = {tag[0] for tag in tags if tag}
    if len(keys) != 1:
        return
    del schema[union]
    schema[BY_TAG] = {
        "key": keys.pop(),
        "members": {tag[1]: member for tag, member in zip(tags, members, strict=True) if tag},
        "others": [member for tag, member in zip(tags, members, strict=True) if not tag],
    }


# ------------------------------------------------------------------ checking values


def _by_tag(validator: Any, union: Schema, value: Any, schema: Schema) -> Iterator[ValidationError]:
    tag = cast("Schema", value).get(union["key"]) if isinstance(value, dict) else None
    if isinstance(tag, str) and tag in union["members"]:
        yield from validator.descend(value, union["members"][tag])
    elif union["others"]:
        yield from Draft202012Validator.VALIDATORS["anyOf"](validator, union["others"], value, schema)
    else:
        yield ValidationError(f"{union['key']} {tag!r} is not one of {', '.join(union['members'])}")


_extend: Any = cast("Any", validators).extend  # published without types
_Validator: Any = _extend(Draft202012Validator, {BY_TAG: _by_tag})


def is_valid(schema: Schema, value: object) -> bool:
    """Return whether a value fits a resolved schema, apart from keys that it does not mention."""
    return _Validator(schema).is_valid(value)


def _readable(error: ValidationError) -> str:
    deepest = error
    while deepest.context:  # of a union's members, the one that got furthest is the one that was meant
        deepest = max(deepest.context, key=lambda inner: len(inner.absolute_path))
    message = deepest.message if len(deepest.message) <= SHOWN else deepest.message[:SHOWN] + "…"
    return f"{deepest.json_path}: {message}"


def stray_keys(schema: Schema, value: object, path: str) -> Iterator[str]:
    """Paths of the keys that the schema does not mention, though it does not forbid them either."""
    if isinstance(value, list):
        elements = cast("list[object]", value)
        items = _items(schema, elements)
        for index, element in enumerate(elements):
            for item in items:
                yield from stray_keys(item, element, f"{path}[{index}]")
    elif isinstance(value, dict):
        members = cast("dict[str, object]", value)
        known = _Keys()
        known.collect(schema, members)
        if not known.described:
            return
        for key, inner in members.items():
            if key == FREE:
                continue
            if key in known.properties:
                yield from stray_keys(known.properties[key], inner, f"{path}.{key}")
            elif known.others is None:
                yield f"{path}.{key}"
            else:
                yield from stray_keys(known.others, inner, f"{path}.{key}")


def applying(schema: Schema, value: object) -> Iterator[Schema]:
    """The subschemas that apply to this value at the same place."""
    yield from schema.get("allOf", ())
    for union in UNIONS:
        yield from (member for member in schema.get(union, ()) if is_valid(member, value))
    if BY_TAG in schema:
        sorted_union = schema[BY_TAG]
        tag: object = cast("Schema", value).get(sorted_union["key"]) if isinstance(value, dict) else None
        if isinstance(tag, str) and tag in sorted_union["members"]:
            yield sorted_union["members"][tag]
        else:
            yield from (member for member in sorted_union["others"] if is_valid(member, cast("object", value)))


def _items(schema: Schema, value: object) -> list[Schema]:
    found = [schema["items"]] if "items" in schema else []
    for part in applying(schema, value):
        found += _items(part, value)
    return found[:1]  # the same array described twice (flat or grouped options, both empty) is described once


class _Keys:
    """The rules of a schema for the keys of one object."""

    def __init__(self) -> None:
        self.described = False
        self.properties: dict[str, Schema] = {}
        self.others: Schema | None = None

    def collect(self, schema: Schema, value: object) -> None:
        if schema.get("type") == "object" or schema.get("properties") or schema.get("type") == ["object", "null"]:
            self.described = True
        self.properties.update(schema.get("properties", {}))
        others = schema.get("additionalProperties")
        if others is not None and others is not False:
            self.others = {} if others is True else others
        for part in applying(schema, value):
            self.collect(part, value)
