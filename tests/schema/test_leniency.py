"""Malformed optional values fall back, bad elements are dropped, and everything else is refused: as the schema says."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from claw_acp.schema.content import ImageContent, TextContent
from claw_acp.schema.initialize import InitializeRequest, InitializeResponse
from claw_acp.schema.sessions import NewSessionRequest
from claw_acp.schema.tool_call import ToolCall
from claw_acp.schema.updates import Plan, SessionInfoUpdate, SessionNotification
from claw_acp.schema.validation import ValidationError, validate
from tests.schema.examples import EXAMPLES
from tests.schema.official import harvest, our_model
from tests.support.judges.official_definitions import OfficialSchema, Schema, is_valid

ON_ERROR = "x-deserialize-default-on-error"
ON_NULL = "x-deserialize-default-on-null"
SKIP = "x-deserialize-skip-invalid-items"

WITH_MAPS = {"Error", "CreateElicitationRequest", "CreateElicitationResponse", "SetProviderRequest"}
"""These hold objects whose keys are free."""

MALFORMED: tuple[Any, ...] = ({"?": []}, [{"?": 1}], 0.5, "?", True, -1)


NAMES = sorted(name for name in harvest() if our_model(name))

Case = tuple[str, str, Any, Schema, Schema]
"""A field: its model's name, its key, an example that has it, its rules as published, its resolved schema."""


def _cases() -> Iterator[Case]:
    schema = OfficialSchema.load(unstable=True)
    fields = ((name, *field) for name in NAMES for field in schema.source[name].get("properties", {}).items())
    for name, key, rules in fields:
        example = next((value for value in harvest()[name] if value.get(key) is not None), None)
        if example is not None:
            yield name, key, example, rules, schema.definitions[name]["properties"][key]


def _accepts(name: str, value: object) -> bool:
    model = our_model(name)
    assert model is not None
    try:
        validate(model, value)
    except ValidationError:
        return False
    return True


def test_a_malformed_value_falls_back_exactly_where_the_schema_says_so() -> None:
    for name, key, example, rules, schema in _cases():
        unfit = next((value for value in MALFORMED if not is_valid(schema, value)), None)
        if unfit is not None:
            assert _accepts(name, {**example, key: unfit}) == bool(rules.get(ON_ERROR)), (name, key, unfit)


def test_null_is_taken_exactly_where_the_schema_says_so() -> None:
    for name, key, example, rules, schema in _cases():
        expected = bool(rules.get(ON_ERROR) or rules.get(ON_NULL) or is_valid(schema, None))
        assert _accepts(name, {**example, key: None}) == expected, (name, key)


def test_a_bad_element_is_dropped_exactly_where_the_schema_says_so() -> None:
    for name, key, example, rules, _schema in _cases():
        if "items" not in rules:
            continue
        spoiled = {**example, key: [0.5, *example[key], None]}
        assert _accepts(name, spoiled) == bool(rules.get(SKIP)), (name, key)
        model = our_model(name)
        if model and SKIP in rules:
            sent: Any = validate(model, spoiled).to_wire()
            assert sent[key] == example[key], (name, key)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - WITH_MAPS))
def test_unknown_keys_are_ignored_at_every_depth(name: str) -> None:
    model = our_model(name)
    assert model is not None
    for example in EXAMPLES[name]:
        assert validate(model, _with_strangers(example)).to_wire() == example


def _with_strangers(value: Any, key: str = "") -> Any:
    if key in {"_meta", "rawInput", "rawOutput", "env", "params", "result", "data"} and not isinstance(value, list):
        return value
    if isinstance(value, dict):
        inner = {name: _with_strangers(part, name) for name, part in cast("dict[str, Any]", value).items()}
        return {**inner, "stranger": {"x": [1]}}
    if isinstance(value, list) and key not in {"rawInput", "rawOutput"}:
        elements: list[Any] = [_with_strangers(part) for part in cast("list[Any]", value)]
        return elements
    return cast("Any", value)


@pytest.mark.parametrize("capabilities", ["yes", 7, [], None, {"fs": 7, "terminal": "yes", "session": [], "auth": 1}])
def test_malformed_capabilities_are_off_and_initialize_succeeds(capabilities: object) -> None:
    request = validate(InitializeRequest, {"protocolVersion": 1, "clientCapabilities": capabilities})
    assert request.client_capabilities.fs.read_text_file is False
    assert request.client_capabilities.terminal is False
    assert request.client_capabilities.session is None


@pytest.mark.parametrize("flag", [1, "true", "yes", {}, None])
def test_only_true_turns_a_flag_on(flag: object) -> None:
    request = validate(InitializeRequest, {"protocolVersion": 1, "clientCapabilities": {"terminal": flag}})
    assert request.client_capabilities.terminal is False


def test_an_unknown_kind_of_login_counts_as_one_of_the_agent() -> None:
    answer = {"protocolVersion": 1, "authMethods": [{"type": "env_var", "id": "k", "name": "K"}, {"type": "terminal"}]}
    methods = validate(InitializeResponse, answer).auth_methods
    assert [type(method).__name__ for method in methods] == ["AuthMethodAgent"]


def test_a_server_that_says_it_is_stdio_is_one() -> None:
    server: dict[str, Any] = {"type": "stdio", "name": "n", "command": "c", "args": None, "env": []}
    request = validate(NewSessionRequest, {"cwd": "/a", "mcpServers": [server]})
    assert [(type(server).__name__, server.name) for server in request.mcp_servers] == [("McpServerStdio", "n")]


@pytest.mark.parametrize("meta", [None, "x", 7, []])
def test_meta_that_is_no_object_counts_as_absent(meta: object) -> None:
    assert validate(TextContent, {"type": "text", "text": "x", "_meta": meta}).meta is None


def test_null_inside_free_form_values_is_kept() -> None:
    call = ToolCall(tool_call_id="c", title="t", raw_input={"a": None}, meta={"b": None})
    assert call.to_wire() == {
        "_meta": {"b": None},
        "toolCallId": "c",
        "title": "t",
        "sessionUpdate": "tool_call",
        "rawInput": {"a": None},
    }


def test_a_lone_surrogate_in_a_free_form_key_does_not_stop_a_message() -> None:
    call = ToolCall(tool_call_id="c", title="t", raw_input={"\ud800": ["\udfff"]}, locations=())
    assert call.to_wire()["rawInput"] == {"\ud800": ["\udfff"]}
    assert call.to_wire()["locations"] == []


def test_null_that_clears_is_told_from_nothing() -> None:
    assert SessionInfoUpdate(title=None).to_wire() == {"sessionUpdate": "session_info_update", "title": None}
    assert SessionInfoUpdate(updated_at="t").to_wire() == {"sessionUpdate": "session_info_update", "updatedAt": "t"}


def test_models_made_in_code_find_their_variant_in_a_union() -> None:
    sent = SessionNotification(session_id="s", update=Plan(entries=())).to_wire()
    assert sent == {"sessionId": "s", "update": {"sessionUpdate": "plan", "entries": []}}


def test_a_value_cannot_be_changed() -> None:
    image = ImageContent(data="", mime_type="image/png")
    with pytest.raises(AttributeError, match="immutable"):
        image.data = "x"  # pyright: ignore[reportAttributeAccessIssue]
