import copy
import pickle
import types
from typing import Any, ClassVar

import pytest

from claw_acp.core.value import REQUIRED, Value, as_dict, field_default, field_names, made_by, replace


class Point(Value):
    x: int
    y: int = 0


class Named(Point):
    name: str
    tags: list[str] = made_by(default_factory=list[str])


class Keyed(Value):
    name: str
    key: str
    hidden = ("key",)


class Checked(Value):
    text: str

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("empty")


def test_fields_are_given_by_keyword_and_defaults_fill_the_rest() -> None:
    point = Point(x=1)
    assert (point.x, point.y) == (1, 0)
    named = Named(x=1, y=2, name="a")
    assert (named.x, named.y, named.name, named.tags) == (1, 2, "a", [])


@pytest.mark.parametrize("given", [{}, {"x": 1, "z": 2}, {"y": 1}])
def test_missing_and_unknown_fields_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(TypeError):
        Point(**given)


def test_positions_are_refused() -> None:
    with pytest.raises(TypeError):
        Point(1, 2)  # type: ignore[misc]


def test_a_value_cannot_be_changed_or_extended() -> None:
    point = Point(x=1)
    with pytest.raises(AttributeError, match="x cannot be set"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        point.colour = "red"  # type: ignore[attr-defined]


def test_values_are_equal_and_hashed_by_class_and_fields() -> None:
    assert Point(x=1) == Point(x=1, y=0)
    assert hash(Point(x=1)) == hash(Point(x=1))
    assert Point(x=1) != Point(x=2)
    assert Point(x=1) != (1, 0)


def test_a_default_made_anew_is_not_shared() -> None:
    assert Named(x=1, name="a").tags is not Named(x=1, name="a").tags


def test_replace_keeps_the_other_fields_and_refuses_unknown_ones() -> None:
    named = Named(x=1, name="a", tags=["t"])
    assert replace(named, x=5) == Named(x=5, name="a", tags=["t"])
    with pytest.raises(TypeError, match="no field colour"):
        replace(named, colour="red")


def test_what_is_hidden_is_not_shown() -> None:
    assert repr(Keyed(name="n", key="secret")) == "Keyed(name='n')"
    assert repr(Named(x=1, name="a")) == "Named(x=1, y=0, name='a', tags=[])"


def test_a_value_is_matched_copied_and_pickled() -> None:
    match Point(x=3, y=4):
        case Point(x=x, y=4):
            assert x == 3
        case _:
            pytest.fail("not matched")
    point = Point(x=3)
    assert copy.copy(point) is point
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point


def test_fields_can_be_listed_with_their_defaults() -> None:
    assert field_names(Named) == ("x", "y", "name", "tags")
    assert (field_default(Named, "x"), field_default(Named, "y")) == (REQUIRED, 0)
    assert as_dict(Named(x=1, name="a")) == {"x": 1, "y": 0, "name": "a", "tags": []}


def test_a_check_after_making_may_refuse() -> None:
    with pytest.raises(ValueError, match="empty"):
        Checked(text="")


def test_a_class_body_that_evaluates_its_annotations_when_asked_has_the_same_fields() -> None:
    def annotate(form: int) -> dict[str, object]:
        return {"x": int, "shared": ClassVar[int], "later": "Unknown"}

    body = {"__annotate_func__": annotate, "later": 1, "shared": 2}  # PEP 649
    kind: Any = types.new_class("Deferred", (Value,), exec_body=lambda names: names.update(body))
    assert field_names(kind) == ("x", "later")
    assert as_dict(kind(x=1)) == {"x": 1, "later": 1}
