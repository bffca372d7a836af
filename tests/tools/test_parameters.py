from collections.abc import Mapping
from typing import Protocol, cast

import pytest
from jsonschema import Draft202012Validator

from claw_acp.contracts.tool import Tool
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.tools.files.edit_file import EditFile
from claw_acp.tools.files.read_file import ReadFile
from claw_acp.tools.files.write_file import WriteFile
from claw_acp.tools.parameters import Parameters, argument, json_schema
from claw_acp.tools.plan import Plan
from claw_acp.tools.search.glob import Glob
from claw_acp.tools.search.grep import Grep
from claw_acp.tools.search.list_files import ListFiles
from claw_acp.tools.think import Think
from tests.support.tool_bench import Bench

TOOLS: list[Tool] = [ReadFile(), WriteFile(), EditFile(), ListFiles(), Glob(), Grep(), Plan(), Think()]

EXAMPLES: dict[str, JsonObject] = {
    "read_file": {"path": "a", "line": 2, "limit": 5},
    "write_file": {"path": "a", "content": ""},
    "edit_file": {"path": "a", "edits": [{"old_text": "x", "new_text": "", "all": True}]},
    "list_files": {"path": "a", "depth": 1},
    "glob": {"pattern": "**/*.py"},
    "grep": {"pattern": "x", "glob": "*.py", "case": "insensitive", "context": 2, "max": 5},
    "plan": {"entries": [{"content": "do it", "priority": "high", "status": "pending"}]},
    "think": {"thought": "hm"},
}


class SchemaCheck(Protocol):
    """The one method of the validator that is used; its own annotation is incomplete."""

    def is_valid(self, instance: JsonValue) -> bool: ...


def nodes(schema: JsonValue) -> list[JsonObject]:
    """Every object within a schema, itself included."""
    if isinstance(schema, Mapping):
        return [schema, *(inner for value in schema.values() for inner in nodes(value))]
    if isinstance(schema, list):
        return [inner for value in schema for inner in nodes(value)]
    return []


def valid(tool: Tool, arguments: JsonObject) -> bool:
    validator = cast("SchemaCheck", Draft202012Validator(tool.spec.parameters))
    return validator.is_valid(arguments)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.spec.name)
class TestEveryTool:
    def test_has_a_valid_closed_schema_without_references_or_noise(self, tool: Tool) -> None:
        schema = tool.spec.parameters
        Draft202012Validator.check_schema(schema)
        for node in nodes(schema):
            assert not {"$ref", "$defs", "anyOf"} & node.keys()
            assert not isinstance(node.get("title"), str)
            assert node.get("type") != "object" or node["additionalProperties"] is False

    def test_describes_every_argument(self, tool: Tool) -> None:
        for node in nodes(tool.spec.parameters):
            if node.get("type") == "object":
                properties = cast("Mapping[str, JsonObject]", node["properties"])
                assert all(str(argument.get("description", "")).endswith(".") for argument in properties.values())

    def test_takes_what_its_schema_allows(self, tool: Tool, bench: Bench) -> None:
        example = EXAMPLES[tool.spec.name]
        assert valid(tool, example)
        view = bench.prepare(tool, **example).view
        assert view.title
        assert "\n" not in view.title

    def test_refuses_what_its_schema_refuses(self, tool: Tool, bench: Bench) -> None:
        wrong = {**EXAMPLES[tool.spec.name], "surprise": 1}
        assert not valid(tool, wrong)
        with pytest.raises(InvalidArguments, match=f"{tool.spec.name} .*`surprise` is not an argument"):
            bench.prepare(tool, **wrong)

    def test_runs_in_parallel_only_when_it_writes_nothing(self, tool: Tool) -> None:
        assert tool.parallel == (tool.spec.name not in {"write_file", "edit_file", "plan"})


class Inner(Parameters):
    """Not shown to models."""

    name: str = argument(min_length=1, description="A name.")


class Example(Parameters):
    """Not shown to models."""

    title: str = argument(max_length=5, description="A property that is called title.")
    inner: Inner | None = argument(default=None, description="Nested.")
    level: int | None = argument(default=None, ge=1, le=9, description="Level.")


def test_a_nested_class_is_written_out_with_the_description_of_its_field() -> None:
    properties = cast("Mapping[str, JsonObject]", json_schema(Example)["properties"])
    assert properties["inner"] == {
        "type": "object",
        "description": "Nested.",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {"name": {"type": "string", "minLength": 1, "description": "A name."}},
    }
    assert properties["level"] == {"type": "integer", "minimum": 1, "maximum": 9, "description": "Level."}
    assert "title" in properties


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "`path` is missing, it must be text of at least 1 character"),
        ({"path": "a", "line": "x"}, '`line` must be a whole number >= 1, got "x"'),
        ({"path": "a", "line": 0}, "`line` must be a whole number >= 1, got 0"),
        ({"path": ["a"]}, '`path` must be text of at least 1 character, got ["a"]'),
        ({"file_path": "a"}, "`file_path` is not an argument, did you mean `path`?"),
        ({"path": "a", "zzz": 1}, "`zzz` is not an argument, valid ones are `path`, `line`, `limit`"),
        ({"path": "\ud800"}, "`path` contains half a surrogate pair"),
    ],
)
def test_a_wrong_argument_is_named_with_what_it_must_be(bench: Bench, arguments: JsonObject, sentence: str) -> None:
    with pytest.raises(InvalidArguments) as caught:
        bench.prepare(ReadFile(), **arguments)
    assert sentence in caught.value.message


def test_a_wrong_argument_within_a_list_is_named_by_its_place(bench: Bench) -> None:
    edits: JsonValue = [{"old_text": "a", "new_text": "b"}, {"old_text": "", "newText": "b"}]
    with pytest.raises(InvalidArguments) as caught:
        bench.prepare(EditFile(), path="a", edits=edits)
    assert '`edits[1].old_text` must be text of at least 1 character, got ""' in caught.value.message
    assert "`edits[1].newText` is not an argument, did you mean `new_text`?" in caught.value.message


def test_a_choice_is_named_with_all_that_is_allowed(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match='must be one of "pending", "in_progress", "completed", got "done"'):
        bench.prepare(Plan(), entries=[{"content": "x", "status": "done"}])


def test_only_the_beginning_of_a_long_wrong_value_is_repeated(bench: Bench) -> None:
    with pytest.raises(InvalidArguments) as caught:
        bench.prepare(ReadFile(), path="a", line="y" * 10_000)
    assert len(caught.value.message) < 300


def test_many_problems_are_counted_instead_of_listed(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match="and 15 more problems"):
        bench.prepare(Plan(), entries=[{"content": ""}] * 20)


def test_null_for_an_optional_argument_means_its_default(bench: Bench) -> None:
    assert bench.prepare(ReadFile(), path="a", line=None, limit=None).view.title == "Read a"


def test_null_for_a_required_argument_is_refused(bench: Bench) -> None:
    with pytest.raises(InvalidArguments, match="`path` must be text of at least 1 character, got null"):
        bench.prepare(ReadFile(), path=None)
