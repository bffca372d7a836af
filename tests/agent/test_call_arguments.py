"""Arguments as models write them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.agent.call_arguments import DEEPEST, parse_arguments
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ToolCall

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=4)


def _parse(arguments: str) -> JsonObject:
    return parse_arguments(ToolCall(id="c1", name="look", arguments=arguments))


def _nested(levels: int) -> str:
    """An object with lists in it, `levels` containers deep in all."""
    return '{"path":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


@given(st.dictionaries(st.text(), VALUES, max_size=3))
def test_an_object_is_read_as_it_was_written(value: dict[str, object]) -> None:
    assert _parse(json.dumps(value)) == value


def _understood(text: str) -> bool:
    try:
        return isinstance(_parse(text), dict)
    except InvalidArguments:
        return False


@given(st.text() | VALUES.map(json.dumps))
def test_anything_else_is_refused(text: str) -> None:
    try:
        fits = isinstance(json.loads(text or "{}"), dict)
    except ValueError:
        fits = False
    assert _understood(text) is fits


@pytest.mark.parametrize("text", ["[]", "null", "1", '"{}"', "{", "{'a': 1}", "{} {}", " ", "\0"])
def test_what_is_no_object_is_a_sentence_for_the_model_and_never_an_empty_object(text: str) -> None:
    with pytest.raises(InvalidArguments, match="arguments of look"):
        _parse(text)


def test_no_arguments_at_all_are_an_empty_object() -> None:
    assert _parse("") == {}


@pytest.mark.parametrize("levels", [DEEPEST + 1, 900, 100_000])
def test_arguments_nested_too_deeply_are_refused(levels: int) -> None:
    with pytest.raises(InvalidArguments):
        _parse(_nested(levels))


def test_arguments_may_be_nested_as_deeply_as_is_sensible() -> None:
    assert "path" in _parse(_nested(DEEPEST))


def test_arguments_that_cannot_be_read_go_back_with_what_the_tool_takes() -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer", "minimum": 1}},
        "required": ["path"],
    }
    wanted = "look takes an object with `path` (text), `line` (a whole number >= 1, optional)."
    for call in (
        ToolCall(id="c1", name="look", arguments='{"path": '),
        ToolCall(id="c1", name="look", arguments="[]"),
        ToolCall(id="c1", name="look", arguments="{}", problem="This call has no end."),
    ):
        with pytest.raises(InvalidArguments) as refused:
            parse_arguments(call, schema=schema)
        assert refused.value.message.endswith(wanted)
