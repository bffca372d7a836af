"""Tools that are loaded once somebody wants them."""

import sys
from pathlib import Path

import pytest

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.tool_catalog import FIND_TOOLS
from claw_acp.registry.reference import Ref
from claw_acp.runtime.deferred_tool import DeferredTool
from claw_acp.tools.find_tools import FindTools

RARE = """
from claw_acp.contracts.tool import CallDraft
from claw_acp.tools.parameters import Parameters, TypedTool

class Rare(TypedTool[Parameters]):
    name = "rare"
    description = "Seldom of use."
    parameters = Parameters
    draft = CallDraft(kind="other", verb="Do the rare")
    parallel = True

    def bind(self, parameters, context):
        raise NotImplementedError
"""


@pytest.fixture
def toolbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolbox:
    """A toolbox with a tool on demand of the module `rare_tool`."""
    (tmp_path / "rare_tool.py").write_text(RARE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "rare_tool", raising=False)
    made = Toolbox()
    made.register(FindTools())
    made.register(DeferredTool(Ref("rare_tool:Rare")), name="rare")
    return made


def test_a_tool_on_demand_is_named_to_models_without_being_loaded(toolbox: Toolbox) -> None:
    (finder,) = toolbox.tool_specs()
    assert finder.name == FIND_TOOLS
    assert finder.description.endswith("There are: rare.")
    assert toolbox.tool_names() == (FIND_TOOLS, "rare")
    assert "rare_tool" not in sys.modules


def test_a_tool_on_demand_is_loaded_when_models_look_for_it(toolbox: Toolbox) -> None:
    assert [spec.description for spec in toolbox.on_demand()] == ["Seldom of use."]
    assert "rare_tool" in sys.modules
    listed = toolbox.with_found(lambda: ["rare"]).tool_specs()
    assert [spec.name for spec in listed] == [FIND_TOOLS, "rare"]


def test_a_call_finds_in_it_the_tool_itself(toolbox: Toolbox) -> None:
    tool = toolbox.get_tool("rare")
    assert isinstance(tool, DeferredTool)
    assert tool.parallel
    assert tool.draft is not None
    assert tool.draft.verb == "Do the rare"


def test_a_name_that_is_taken_is_refused_without_loading_anything(toolbox: Toolbox) -> None:
    assert not toolbox.register(DeferredTool(Ref("rare_tool:Rare")), name="rare")
    assert "rare_tool" not in sys.modules
