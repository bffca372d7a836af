"""The arguments of a call in text against the schema of its tool: their types, and whether they fit.

This decides only what is read as a call; a tool checks its arguments itself, whatever comes. So keywords that are not
known here count as fitting, and no pattern of a schema is run over a model's text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, cast

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.text_tools.json_calls import decoded, skip_blank
from claw_acp.providers.text_tools.literal_calls import literal

DEEPEST: Final = 32  # levels of a schema that are looked at; what is below fits
_TYPES: Final[Mapping[str, Callable[[JsonValue], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
}


def typed(text: str, schema: JsonValue, *, root: JsonObject) -> JsonValue:
    """The value that a raw text stands for: text where text may stand, else JSON, else a literal, else the text."""
    types = set(_types(schema, root))
    if "null" in types and text.strip() in {"null", "None"}:
        return None
    if "string" in types:
        return text
    for read in (_json, literal):
        try:
            value = read(text)
        except (ValueError, RecursionError):
            continue
        if types or not isinstance(value, str):
            return value
    return text


def fits(value: JsonValue, schema: JsonValue, *, root: JsonObject, depth: int = 0) -> bool:
    """True if a value fits a schema, as far as its plain keywords say."""
    node = _resolved(schema, root)
    if not node or depth > DEEPEST:
        return schema is not False
    inner = depth + 1
    types = _listed(node.get("type"))
    if types and not any(_TYPES.get(kind, _anything)(value) for kind in types):
        return False
    if "const" in node and node["const"] != value:
        return False
    choices = node.get("enum")
    if isinstance(choices, list) and value not in choices:
        return False
    for key, enough in (("anyOf", any), ("oneOf", any), ("allOf", all)):
        several = node.get(key)
        if isinstance(several, list) and not enough(fits(value, one, root=root, depth=inner) for one in several):
            return False
    return _bounded(value, node) and _inside_fits(value, node, root=root, depth=inner)


def properties(schema: JsonObject) -> Mapping[str, JsonValue]:
    """The arguments that a schema names."""
    known = _resolved(schema, schema).get("properties")
    return cast("Mapping[str, JsonValue]", known) if isinstance(known, Mapping) else {}


def _inside_fits(value: JsonValue, node: JsonObject, *, root: JsonObject, depth: int) -> bool:
    if isinstance(value, list):
        items = node.get("items", True)
        return all(fits(entry, items, root=root, depth=depth) for entry in value)
    if not isinstance(value, Mapping):
        return True
    required, known = node.get("required"), properties(node)
    if isinstance(required, list) and not all(name in value for name in required):
        return False
    rest = node.get("additionalProperties", True)
    return all(fits(entry, known.get(name, rest), root=root, depth=depth) for name, entry in value.items())


def _bounded(value: JsonValue, node: JsonObject) -> bool:
    size: float
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        least, most, size = "minimum", "maximum", value
        if not (_above(size, node.get("exclusiveMinimum")) and _above(node.get("exclusiveMaximum"), size)):
            return False
    elif isinstance(value, str):
        least, most, size = "minLength", "maxLength", len(value)
    elif isinstance(value, Mapping):
        least, most, size = "minProperties", "maxProperties", len(value)
    else:
        least, most, size = "minItems", "maxItems", len(value)
    lower, upper = node.get(least), node.get(most)
    return not (_is_number(lower) and size < lower) and not (_is_number(upper) and size > upper)  # type: ignore[operator]


def _above(high: JsonValue, low: JsonValue) -> bool:
    return not (_is_number(high) and _is_number(low)) or high > low  # type: ignore[operator]


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _types(schema: JsonValue, root: JsonObject, depth: int = 0) -> Iterator[str]:
    node = _resolved(schema, root)
    yield from _listed(node.get("type"))
    for key in ("enum", "const"):
        if key in node and "type" not in node:
            held = node[key] if key == "enum" else [node[key]]
            yield from (kind for kind, is_one in _TYPES.items() for one in _entries(held) if is_one(one))
    if depth < DEEPEST:
        for key in ("anyOf", "oneOf", "allOf"):
            for one in _entries(node.get(key)):
                yield from _types(one, root, depth + 1)


def _resolved(schema: JsonValue, root: JsonObject) -> JsonObject:
    """The schema that a reference within `root` points to; empty where there is none."""
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        found: JsonValue = root
        for step in reference.removeprefix("#").strip("/").split("/"):
            found = found.get(step) if isinstance(found, Mapping) and step else found
        schema = found
    return {}


def _listed(kind: JsonValue) -> Sequence[str]:
    return [kind] if isinstance(kind, str) else [str(one) for one in _entries(kind)]


def _entries(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType]


def _anything(value: JsonValue) -> bool:
    return isinstance(value, object)


def _json(text: str) -> JsonValue:
    value, end = decoded(text, skip_blank(text, 0))
    if skip_blank(text, end) != len(text):
        raise ValueError("text follows")
    return value
