"""What a form asks for and what is taken as its answer are one and the same."""

import re
from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from claw_acp.acp.form_fields import Unfitting, filled_in, requested_schema
from claw_acp.contracts.questions import (
    ChoiceField,
    FieldOption,
    FieldValue,
    Form,
    FormField,
    NumberField,
    TextField,
    YesNoField,
)
from tests.support.judges.official_schema import OfficialSchema

_JUDGE: Any = Draft202012Validator
KEYS = [f"key_{number}" for number in range(4)]
words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
maybe_words = st.none() | words
bounds = st.none() | st.integers(-50, 50).map(float)
PATTERNS = [None, "^[a-z]+$", "a", r"\d{2}"]


@st.composite
def fields(draw: st.DrawFn, key: str) -> FormField:
    known: dict[str, Any] = {
        "key": key,
        "title": draw(words),
        "description": draw(maybe_words),
        "required": draw(st.booleans()),
    }
    match draw(st.sampled_from(["text", "number", "yes_no", "choice"])):
        case "text":
            pattern = draw(st.sampled_from(PATTERNS))
            return TextField(**known, pattern=pattern, default=draw(maybe_words))
        case "number":
            low, high = draw(bounds), draw(bounds)
            if low is not None and high is not None:
                low, high = min(low, high), max(low, high)
            return NumberField(**known, whole=draw(st.booleans()), minimum=low, maximum=high)
        case "yes_no":
            return YesNoField(**known, default=draw(st.none() | st.booleans()))
        case _:
            labels = draw(st.lists(words, min_size=1, max_size=4, unique=True))
            options = tuple(FieldOption(value=label, label=label.upper()) for label in labels)
            return ChoiceField(**known, options=options, many=draw(st.booleans()), default=None)


@st.composite
def forms(draw: st.DrawFn) -> Form:
    keys = KEYS[: draw(st.integers(1, len(KEYS)))]
    inputs = tuple(draw(fields(key)) for key in keys)
    return Form(session="ses_1", message="m", inputs=inputs, title=draw(maybe_words))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def _fitting(field: FormField) -> st.SearchStrategy[Any]:
    match field:
        case TextField(pattern=pattern):
            texts = words if pattern is None else st.from_regex(pattern)
            return texts.filter(lambda text: bool(text.strip()))
        case NumberField(whole=True):
            low, high = field.minimum, field.maximum
            return st.integers(None if low is None else int(low), None if high is None else int(high)).filter(
                lambda number: abs(number) < 2**53
            )
        case NumberField():
            return st.floats(field.minimum, field.maximum, allow_nan=False, allow_infinity=False)
        case YesNoField():
            return st.booleans()
        case ChoiceField(many=True):
            return st.lists(st.sampled_from([option.value for option in field.options]), min_size=1, unique=True)
        case ChoiceField():
            return st.sampled_from([option.value for option in field.options])


def _as_json(values: Mapping[str, FieldValue]) -> dict[str, object]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


@given(forms())
def test_every_form_becomes_a_question_the_protocol_knows(form: Form) -> None:
    question = {
        "mode": "form",
        "message": form.message,
        "sessionId": form.session,
        "requestedSchema": requested_schema(form),
    }
    for version in (1, 2):
        assert OfficialSchema.load(version).problems("CreateElicitationRequest", question) == []
    _JUDGE.check_schema(requested_schema(form))


@given(st.data())
def test_what_fits_is_taken_as_it_is(data: st.DataObject) -> None:
    form = data.draw(forms())
    content = {
        field.key: data.draw(_fitting(field)) for field in form.inputs if field.required or data.draw(st.booleans())
    }
    taken = filled_in(form, {**content, "stranger": {"a": [1]}})
    assert {key: _sorted(value) for key, value in taken.items()} == {
        key: _sorted(value) for key, value in content.items()
    }


def _sorted(value: Any) -> object:
    return sorted(cast("list[str]", value)) if isinstance(value, list | tuple) else value


@given(forms(), st.dictionaries(st.sampled_from(KEYS), json_values))
def test_whatever_is_taken_fits_what_was_asked_for(form: Form, content: dict[str, Any]) -> None:
    try:
        taken = filled_in(form, content)
    except Unfitting:
        return
    assert _JUDGE(requested_schema(form)).is_valid(_as_json(taken))
    assert set(taken) <= {field.key for field in form.inputs}
    assert all(content[key] == value or isinstance(value, tuple) for key, value in taken.items())


def _text(**how: Any) -> Form:
    return Form(session="s", message="m", inputs=(TextField(key="k", title="Name", **how),))


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("email", ["a@b", "x.y+z@example.org"], ["a", "@b", "a@", "a b@c"]),
        (
            "uri",
            ["https://example.org/a?b", "mailto:a@b", "urn:x:y"],
            ["example.org", "http://", "a b:c", "//x", "http://["],
        ),
        ("date", ["2026-01-31", "2024-02-29"], ["2026-02-30", "20260131", "31.1.2026", "2026-1-3"]),
        (
            "date-time",
            ["2026-01-31T14:30:00Z", "2026-01-31T14:30:00.5+01:00"],
            ["2026-01-31", "14:30", "2026-01-31T25:00:00Z"],
        ),
    ],
)
def test_formats_are_checked(kind: Any, right: list[str], wrong: list[str]) -> None:
    form = _text(format=kind)
    assert [filled_in(form, {"k": text})["k"] for text in right] == right
    for text in wrong:
        with pytest.raises(Unfitting, match="“Name” must be a"):
            filled_in(form, {"k": text})


@pytest.mark.parametrize("wrong", [10**400, 1e300, 2**63, 1.5, True, "3", [3]])
def test_a_whole_number_is_one_that_every_program_can_hold(wrong: Any) -> None:
    form = Form(session="s", message="m", inputs=(NumberField(key="k", title="Count", whole=True),))
    assert filled_in(form, {"k": 3.0}) == {"k": 3}
    with pytest.raises(Unfitting, match="“Count” must be a"):
        filled_in(form, {"k": wrong})


def test_bounds_are_told_as_people_write_them() -> None:
    field = NumberField(key="k", title="Count", minimum=1_000_000, maximum=2_000_000.5)
    form = Form(session="s", message="m", inputs=(field,))
    with pytest.raises(Unfitting, match=re.escape("“Count” must be at least 1000000")):
        filled_in(form, {"k": 5})
    with pytest.raises(Unfitting, match=re.escape("“Count” must be at most 2000000.5")):
        filled_in(form, {"k": 5e9})


def test_a_pattern_that_only_javascript_understands_is_left_to_the_client() -> None:
    assert filled_in(_text(pattern=r"\p{L}+"), {"k": "é"}) == {"k": "é"}


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(Unfitting, match="must be text"):
        filled_in(_text(), {"k": "\ud800"})


def test_all_that_is_wrong_is_told_at_once() -> None:
    inputs = (TextField(key="a", title="Name"), YesNoField(key="b", title="Public"))
    with pytest.raises(Unfitting) as caught:
        filled_in(Form(session="s", message="m", inputs=inputs), {"b": "yes"})
    assert caught.value.message == "“Name” must be filled in; “Public” must be yes or no"
