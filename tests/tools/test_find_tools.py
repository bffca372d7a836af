"""The search for tools."""

import pytest

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.errors import ToolError
from claw_acp.tools.find_tools import FindTools, matching
from tests.support.tool_bench import Bench

SPECS = [
    ToolSpec(name=name, description=about, parameters={"type": "object"})
    for name, about in (
        ("github__list_issues", "List the issues of a repository."),
        ("github__close", "Close an issue."),
        ("calculator", "Calculate an expression."),
        ("weather", "The weather of a place."),
    )
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("calculator", ["calculator"]),
        ("weather, github__close", ["github__close", "weather"]),
        ("github issues", ["github__list_issues", "github__close"]),
        ("Weather forecast", ["weather"]),
        ("weather and something else", ["weather"]),
        ("compile", []),
        ("  ,;", []),
        ("a", []),
        ("of the", []),
    ],
)
def test_names_come_first_then_words_in_names_then_those_in_descriptions(query: str, names: list[str]) -> None:
    assert [spec.name for spec in matching(query, SPECS)] == names


async def test_where_all_tools_are_listed_there_is_nothing_to_find(bench: Bench) -> None:
    with pytest.raises(ToolError, match="no further tools"):
        await bench.call(FindTools(), query="anything")
