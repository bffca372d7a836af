"""The registry of tools."""

from dataclasses import dataclass

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import MOST_TOOLS, Invocation, ToolContext
from claw_acp.core.json_value import JsonObject


@dataclass(frozen=True)
class _Named:
    spec: ToolSpec
    parallel: bool = False

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        raise NotImplementedError


def _tool(name: str, description: str = "") -> _Named:
    return _Named(ToolSpec(name=name, description=description, parameters={"type": "object"}))


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
    toolbox.register_or_replace(other)
    assert toolbox.get_tool("look") is other
    assert [spec.description for spec in toolbox.tool_specs()] == ["another", ""]
    toolbox.register_or_replace(_tool("new"))
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


def test_beyond_what_models_take_the_last_tools_are_left_out_and_ours_never() -> None:
    own, lent = Toolbox(), [_tool(f"t{number}") for number in range(MOST_TOOLS)]
    for name in ("look", "write"):
        own.register(_tool(name))
    toolbox = own.with_lent(lambda: lent)
    assert [spec.name for spec in toolbox.tool_specs()] == ["look", "write", *(f"t{n}" for n in range(MOST_TOOLS - 2))]
    assert toolbox.left_out() == (f"t{MOST_TOOLS - 2}", f"t{MOST_TOOLS - 1}")
    assert toolbox.get_tool(f"t{MOST_TOOLS - 1}") is None
    assert toolbox.get_tool(f"t{MOST_TOOLS - 3}") is lent[-3]
    chosen = toolbox.without(lambda: {f"t{number}" for number in range(50)})
    assert (chosen.left_out(), chosen.get_tool(f"t{MOST_TOOLS - 1}")) == ((), lent[-1])
