"""The golden examples fit the official schema, and pass through our models unchanged."""

import pytest

from claw_acp.schema import methods
from claw_acp.schema.validation import validate
from tests.schema.examples import EXAMPLES, Object
from tests.schema.official import harvest, our_model, tags
from tests.schema.test_official_fields import TAGS_LEFT_OUT
from tests.support.judges.official_definitions import OfficialSchema

MODAL = {"SetSessionConfigOptionRequest", "CreateElicitationRequest", "CreateElicitationResponse", "MessageMcpResponse"}
"""What these require depends on a mode; the examples hold each mode."""

CASES = [(name, example) for name, examples in EXAMPLES.items() for example in examples]


@pytest.mark.parametrize(("name", "example"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_an_example_fits_the_official_schema_and_comes_back_unchanged(name: str, example: Object) -> None:
    model = our_model(name)
    assert model is not None
    assert OfficialSchema.load(unstable=True).problems(name, example) == []
    assert validate(model, example).to_wire() == example


def test_every_object_inside_the_examples_comes_back_unchanged() -> None:
    checked = 0
    for name, values in harvest().items():
        for value in values:
            tagged = name == "ToolCallUpdate" and "sessionUpdate" in value
            model = our_model("ToolCallUpdated" if tagged else name)
            if model is not None:
                sent = validate(model, value).to_wire()
                assert {key: sent[key] for key in value} == value, name
                checked += 1
    assert checked > 200


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - MODAL))
def test_an_object_with_nothing_but_what_is_required_is_sent_as_the_schema_wants(name: str) -> None:
    schema = OfficialSchema.load(unstable=True)
    required = schema.source[name].get("required", [])
    model = our_model(name)
    assert model is not None
    sparse = {key: EXAMPLES[name][0][key] for key in required}
    assert schema.problems(name, validate(model, sparse).to_wire()) == []


def test_every_method_has_examples_of_its_parameters_and_result() -> None:
    tables = (methods.AGENT_METHODS, methods.CLIENT_METHODS, methods.SHARED_METHODS)
    named = {
        reference.partition(":")[2]
        for table in tables
        for method in table.values()
        for reference in (method.params, method.result)
        if reference
    }
    assert named <= set(EXAMPLES)


def test_every_variant_of_every_union_occurs_in_the_examples() -> None:
    found = harvest()
    for name, definition in OfficialSchema.load(unstable=True).definitions.items():
        for tag, member in tags(definition).items():
            key = next(iter(member["properties"]))
            seen = {value.get(key) for value in found.get(name, ())}
            assert tag in seen or tag in TAGS_LEFT_OUT.get(name, ()), f"{name} {key}={tag}"
