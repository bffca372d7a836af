"""The registry of tools."""

from dataclasses import dataclass, replace

import pytest

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import MOST_TOOLS, Invocation, ToolContext, ToolSource
from claw_acp.contracts.tool_catalog import FIND_TOOLS
from claw_acp.core.json_value import JsonObject


@dataclass(frozen=True)
class _Named:
    spec: ToolSpec
    parallel: bool = False
    source: ToolSource = "builtin"
    on_demand: bool = False
    essential: bool = False

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        raise NotImplementedError


def _tool(name: str, description: str = "", *, source: ToolSource = "builtin", on_demand: bool = False) -> _Named:
    spec = ToolSpec(name=name, description=description, parameters={"type": "object"})
    return _Named(spec, source=source, on_demand=on_demand)


def test_a_tool_is_found_by_its_name() -> None:
    toolbox, tool = Toolbox(), _tool("look")
    assert toolbox.register(tool) is True
    assert toolbox.get_tool("look") is tool
    assert toolbox.get_tool("Look") is None


def test_a_second_tool_of_the_same_name_is_refused_and_changes_nothing() -> None:
    toolbox, first = Toolbox(), _tool("look")
    toolbox.register(first)
    specs = toolbox.tool_specs()
    assert toolbox.register(_tool("look", "another")) is False
    assert toolbox.get_tool("look") is first
    assert toolbox.tool_specs() is specs


def test_a_tool_is_replaced_on_purpose_and_keeps_its_place() -> None:
    toolbox, other = Toolbox(), _tool("look", "another")
    for name in ("look", "write"):
        toolbox.register(_tool(name))
    before = toolbox.register_or_replace(other)
    assert before is not None
    assert (before.tool.spec.description, toolbox.get_tool("look")) == ("", other)
    assert [spec.description for spec in toolbox.tool_specs()] == ["another", ""]
    assert toolbox.register_or_replace(_tool("new")) is None
    assert toolbox.tool_names() == ("look", "write", "new")
    assert [spec.name for spec in toolbox.tool_specs()] == ["look", "write", "new"]


def test_an_unregistered_tool_is_gone_and_can_come_back() -> None:
    toolbox = Toolbox()
    toolbox.register(_tool("look"))
    assert toolbox.unregister("look") is True
    assert (toolbox.get_tool("look"), len(toolbox), toolbox.tool_specs()) == (None, 0, ())
    assert toolbox.unregister("look") is False
    assert toolbox.register(_tool("look")) is True


def test_what_models_are_told_is_the_same_object_until_something_changes() -> None:
    toolbox = Toolbox()
    for name in ("b", "a"):
        toolbox.register(_tool(name))
    before = toolbox.tool_specs()
    assert [spec.name for spec in before] == ["b", "a"]
    assert toolbox.tool_specs() is before
    toolbox.unregister("b")
    assert [spec.name for spec in toolbox.tool_specs()] == ["a"]
    assert [tool.spec.name for tool in toolbox] == ["a"]
    assert len(toolbox) == 1


def test_an_unlisted_tool_can_be_called_and_models_do_not_see_it() -> None:
    own, unlisted = Toolbox(), [_tool("look"), _tool("check")]
    own.register(_tool("look"))
    toolbox = own.with_unlisted(lambda: unlisted)
    assert toolbox.get_tool("check") is unlisted[1]
    assert toolbox.get_tool("look") is own.get_tool("look")
    assert [spec.name for spec in toolbox.tool_specs()] == list(toolbox.tool_names()) == ["look"]


def test_beyond_the_most_those_of_servers_are_found_by_name_and_ours_stay() -> None:
    own, lent = Toolbox(), [_tool(f"t{number}", source="mcp") for number in range(200)]
    found: list[str] = []
    for name in ("look", FIND_TOOLS):
        own.register(_tool(name))
    toolbox = own.with_lent(lambda: lent).with_found(lambda: found, most_listed=64)
    before = toolbox.tool_specs()
    assert [spec.name for spec in before] == ["look", FIND_TOOLS]
    assert before[1].description.endswith(" There are: " + ", ".join(f"t{n}" for n in range(200)) + ".")
    assert toolbox.tool_specs() is before
    assert toolbox.get_tool("t150") is lent[150]
    found += ["t150", "gone", "t3"]
    after = toolbox.tool_specs()
    assert [spec.name for spec in after] == ["look", FIND_TOOLS, "t150", "t3"]
    assert all(new is old for new, old in zip(after, before, strict=False))
    found.extend(f"t{n}" for n in range(10, 140))
    assert (len(toolbox.tool_specs()), toolbox.tool_specs()[-1].name) == (MOST_TOOLS, "t139")


@pytest.mark.parametrize(("count", "listed"), [(63, 64), (64, 2)])
def test_few_tools_are_all_listed_and_nothing_to_find_them_with(count: int, listed: int) -> None:
    own, lent = Toolbox(), [_tool(f"t{number}", source="mcp") for number in range(count)]
    for name in ("look", FIND_TOOLS):
        own.register(_tool(name))
    assert len(own.with_lent(lambda: lent).with_found(tuple, most_listed=65).tool_specs()) == listed


@pytest.mark.parametrize(("window", "listed"), [(0, 3), (19_999, 2), (20_000, 3)])
def test_in_a_narrow_window_only_essential_tools_are_listed_and_the_others_are_found(window: int, listed: int) -> None:
    own, plan = Toolbox(), _tool("plan")
    for tool in (replace(_tool("look"), essential=True), plan, _tool(FIND_TOOLS), _tool("rare", on_demand=True)):
        own.register(tool)
    toolbox = own.with_found(lambda: (), window=lambda: window)
    assert len(toolbox.tool_specs()) == listed
    assert toolbox.get_tool("plan") is plan
    assert ("plan" in {spec.name for spec in toolbox.on_demand()}) is (listed == 2)


def test_a_tool_on_demand_is_listed_once_it_was_found_or_where_nothing_finds_it() -> None:
    own, hidden = Toolbox(), set[str]()
    for tool in (_tool("look"), _tool("rare", on_demand=True), _tool(FIND_TOOLS)):
        own.register(tool)
    toolbox = own.without(lambda: hidden)
    assert [spec.name for spec in toolbox.tool_specs()] == ["look", FIND_TOOLS]
    assert [spec.name for spec in toolbox.with_found(lambda: ["rare"]).tool_specs()] == ["look", FIND_TOOLS, "rare"]
    hidden.add(FIND_TOOLS)
    assert [spec.name for spec in toolbox.tool_specs()] == ["look", "rare"]
    hidden.update({"rare"})
    assert (toolbox.get_tool("rare"), [spec.name for spec in toolbox.tool_specs()]) == (None, ["look"])


def test_an_entry_says_where_its_tool_runs_and_all_of_a_source_leave_together() -> None:
    toolbox = Toolbox()
    toolbox.register(_tool("look"))
    for name in ("a", "b"):
        toolbox.register(_tool(name), source="remote")
    entry = toolbox.get_entry("b")
    assert entry is not None
    assert (entry.source, toolbox.get_entry("c")) == ("remote", None)
    lent = toolbox.with_lent(lambda: [_tool("c", source="mcp")]).get_entry("c")
    assert lent is not None
    assert lent.source == "mcp"
    assert (toolbox.unregister_by_source("remote"), toolbox.unregister_by_source("remote")) == (2, 0)
    assert (toolbox.tool_names(), len(toolbox)) == (("look",), 1)
