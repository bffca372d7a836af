"""Schemas of strangers, made into what every vendor takes."""

import json
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.input_schema import LARGEST, usable_schema

QUOTING = {"enum", "const", "default", "required"}
KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "title", "a", "b c"]
) | st.text(max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_whatever_comes_leaves_as_a_plain_object_that_can_be_written(schema: dict[str, Any]) -> None:
    usable = usable_schema(schema)
    if usable is not None:
        text = json.dumps(usable, allow_nan=False)
        assert usable["type"] == "object"
        assert isinstance(usable["properties"], dict)
        assert "$ref" not in _keys(json.loads(text))


def _keys(node: object) -> set[str]:
    """The keys in use at any depth, but for values that are only quoted."""
    if isinstance(node, dict):
        known = {key: inner for key, inner in cast("dict[str, object]", node).items() if key not in QUOTING}
        return set(known).union(*map(_keys, known.values()))
    return set[str]().union(*map(_keys, cast("list[object]", node))) if isinstance(node, list) else set()


def test_an_ordinary_schema_stays() -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where"},
            "mode": {"enum": ["a", "b"], "default": "a"},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 1}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert usable_schema(schema) == schema


def test_references_are_replaced_by_what_they_name() -> None:
    schema = {
        "$defs": {"Point": {"type": "object", "title": "Point", "properties": {"x": {"type": "number"}}}},
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/Point", "description": "Where"}},
    }
    assert usable_schema(schema) == {
        "type": "object",
        "properties": {
            "at": {"type": "object", "properties": {"x": {"type": "number"}}, "description": "Where"},
        },
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "label": {"type": "string"}}}
    usable = usable_schema({"$defs": {"Node": node}, "$ref": "#/$defs/Node"})
    assert usable is not None
    assert usable["properties"] == {"next": {}, "label": {"type": "string"}}


def test_references_to_elsewhere_are_not_followed() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "https://example.org/schema.json"}}}
    assert usable_schema(schema) == {"type": "object", "properties": {"a": {}}}


def test_what_may_be_null_is_what_may_be_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}}}
    assert usable_schema(schema) == {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_union_at_the_top_becomes_one_object() -> None:
    schema = {
        "oneOf": [
            {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        ]
    }
    assert usable_schema(schema) == {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
    }


def test_parts_that_all_hold_are_put_together_with_what_they_require() -> None:
    part = {"properties": {"id": {"type": "integer"}}, "required": ["id"]}
    usable = usable_schema({"allOf": [part], "properties": {"b": {}}, "required": ["b"]})
    assert usable == {"type": "object", "properties": {"id": {"type": "integer"}, "b": {}}, "required": ["b", "id"]}


def test_a_property_whose_name_no_vendor_takes_is_left_out_and_one_that_is_required_spoils_the_tool() -> None:
    assert usable_schema({"properties": {"a b": {}, "c": {}}}) == {"type": "object", "properties": {"c": {}}}
    assert usable_schema({"properties": {"a b": {}}, "required": ["a b"]}) is None


def test_keywords_that_make_no_sense_are_left_out() -> None:
    nonsense: dict[str, Any] = {
        "type": "colour",
        "minimum": "1",
        "enum": [],
        "description": 7,
        "x-order": 1,
        "minLength": -1,
    }
    assert usable_schema({"properties": {"a": nonsense}}) == {"type": "object", "properties": {"a": {}}}


def test_something_required_that_does_not_exist_is_not_required() -> None:
    assert usable_schema({"type": "object", "required": ["ghost", 7]}) == {"type": "object", "properties": {}}


def test_a_huge_schema_becomes_an_outline() -> None:
    properties = {f"p{number}": {"type": "string", "description": "d" * 1000} for number in range(200)}
    usable = usable_schema({"type": "object", "properties": properties, "required": ["p1"]})
    assert usable is not None
    assert len(json.dumps(usable)) < LARGEST
    assert usable["required"] == ["p1"]
    assert usable["properties"]["p7"] == {"type": "string", "description": "d" * 60}  # type: ignore[index]


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "id": {"type": "string"}}}
    assert usable_schema(schema) == schema
