"""What we accept of protocol 2 has the fields and the leniency of the official schema."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from claw_acp.acp.handshake import AGENT_CAPABILITIES
from claw_acp.acp.v2.handshake import initialize
from claw_acp.acp.v2.methods import NOTIFICATIONS, REQUESTS
from claw_acp.schema.validation import ValidationError, validate, wire_fields
from tests.schema.test_leniency import MALFORMED, ON_ERROR, ON_NULL, SKIP
from tests.schema.v2.accepted import harvest, our_model, schema
from tests.schema.v2.examples import EXAMPLES, LOOSE, Object
from tests.support.judges.official_definitions import Schema, is_valid

NOT_SERVED = {"proxy/initialize", "proxy/successor"}
"""Methods for proxies, which we are not."""
BY_HAND = {"InitializeRequest", "MessageMcpNotification", "CreateElicitationResponse", "MessageMcpResponse"}
"""Read as plain dictionaries: before anything is loaded, or passed on as they are."""

CASES = [(name, example) for name, examples in EXAMPLES.items() for example in examples]


def test_every_method_of_an_agent_is_served_or_left_out_on_purpose() -> None:
    requests = {method for side, method in schema().requests if side in {"agent", "proxy"}}
    assert {*REQUESTS, "initialize"} == requests - NOT_SERVED
    assert set(NOTIFICATIONS) == {method for side, method in schema().notifications if side == "agent"}


def test_all_that_is_accepted_has_a_model_and_examples() -> None:
    official = schema()
    params = {*official.requests.items(), *official.notifications.items()}
    named = {name for (side, _), name in params if side == "agent"}
    named |= {name for (side, _), name in official.results.items() if side == "client"}
    assert named - BY_HAND == set(EXAMPLES)


@pytest.mark.parametrize(("name", "example"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_an_example_fits_the_official_schema_and_comes_back_unchanged(name: str, example: Object) -> None:
    model = our_model(name)
    assert model is not None
    assert schema().problems(name, example) == []
    assert validate(model, example).to_wire() == example


def test_each_model_has_exactly_the_official_fields() -> None:
    wrong: dict[str, set[str]] = {}
    for name in harvest():
        definition, model = schema().source[name], our_model(name)
        if model is None or "properties" not in definition:
            continue
        fields = wire_fields(model)
        ours = {field.key for field in fields}
        official = {*definition["properties"], *_variant_keys(definition)}
        required = {*definition.get("required", ()), *_variant_keys(definition)}
        needed = {field.key for field in fields if field.required}
        differing = (ours ^ official) - {"type", "outcome"} | (needed ^ required) - {"type", "outcome"}
        if differing:
            wrong[name] = differing
    assert wrong == {}


def _variant_keys(definition: Schema) -> set[str]:
    """Fields that every variant of an object has and requires."""
    variants = [set(part.get("required", ())) for part in definition.get("anyOf", ())]
    return set[str].intersection(*variants) if variants else set()


def _fields() -> Iterator[tuple[str, str, Any, Schema, Schema]]:
    for name, values in harvest().items():
        if our_model(name) is None:
            continue
        for key, rules in schema().source[name].get("properties", {}).items():
            example = next((value for value in values if value.get(key) is not None), None)
            if example is not None:
                yield name, key, example, rules, schema().definitions[name]["properties"][key]


def _accepts(name: str, value: object) -> bool:
    model = our_model(name)
    assert model is not None
    try:
        validate(model, value)
    except ValidationError:
        return False
    return True


def test_a_malformed_value_falls_back_exactly_where_the_schema_says_so() -> None:
    checked = 0
    for name, key, example, rules, official in _fields():
        unfit = next((value for value in MALFORMED if not is_valid(official, value)), None)
        if unfit is not None:
            assert _accepts(name, {**example, key: unfit}) == bool(rules.get(ON_ERROR)), (name, key, unfit)
            checked += 1
    assert checked > 50


def test_null_is_taken_exactly_where_the_schema_says_so() -> None:
    for name, key, example, rules, official in _fields():
        expected = bool(rules.get(ON_ERROR) or rules.get(ON_NULL) or is_valid(official, None))
        assert _accepts(name, {**example, key: None}) == expected, (name, key)


def test_a_bad_element_is_dropped_exactly_where_the_schema_says_so() -> None:
    for name, key, example, rules, _official in _fields():
        if "items" in rules:
            spoiled = {**example, key: [0.5, *example[key], None]}
            assert _accepts(name, spoiled) == bool(rules.get(SKIP)), (name, key)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - LOOSE))
def test_unknown_keys_are_ignored_at_every_depth(name: str) -> None:
    model = our_model(name)
    assert model is not None
    for example in EXAMPLES[name]:
        assert validate(model, _with_strangers(example)).to_wire() == example


def _with_strangers(value: Any, key: str = "") -> Any:
    if isinstance(value, dict) and key != "_meta":
        inner = {name: _with_strangers(part, name) for name, part in cast("dict[str, Any]", value).items()}
        return {**inner, "stranger": {"x": [1]}}
    if isinstance(value, list):
        return [_with_strangers(part) for part in cast("list[Any]", value)]
    return cast("Any", value)


def test_each_capability_that_is_advertised_has_its_methods() -> None:
    answer: Any = initialize({"info": {"name": "me", "version": "1"}}).result
    capabilities: Any = answer["capabilities"]
    methods = {
        "delete": {"session/delete"},
        "fork": {"session/fork"},
        "archive": {"session/archive", "session/unarchive"},
        "status": {"session/status"},
        "title": {"session/set_title"},
    }
    for name, needed in methods.items():
        assert name not in capabilities["session"] or needed <= set(REQUESTS)
    assert "status" not in capabilities["auth"] or "auth/status" in REQUESTS
    assert "providers" not in capabilities or {"providers/list", "providers/set", "providers/disable"} <= set(REQUESTS)
    assert "acp" not in capabilities["session"]["mcp"] or "mcp/message" in NOTIFICATIONS


def test_what_protocol_1_offers_is_offered_in_protocol_2_too() -> None:
    answer: Any = initialize({"info": {"name": "me", "version": "1"}}).result
    session: Any = answer["capabilities"]["session"]
    old: Any = AGENT_CAPABILITIES
    baseline = {"list", "resume", "close"}
    assert set(old["sessionCapabilities"]) - baseline == set(session) - {"prompt", "mcp"}
    assert {name for name, on in old["promptCapabilities"].items() if on} == set(session["prompt"])
    assert {name for name, on in old["mcpCapabilities"].items() if on} - {"sse"} == set(session["mcp"]) - {"stdio"}
    assert schema().problems("InitializeResponse", {**answer, "authMethods": list(answer["authMethods"])}) == []
