"""What this package itself offers under the entry points everybody uses."""

import tomllib
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import claw_acp
from claw_acp.contracts.tool import Tool
from claw_acp.registry.reference import Ref

PROJECT = Path(claw_acp.__file__).parent.parent / "pyproject.toml"


def declared() -> dict[tuple[str, str], str]:
    """Our extensions by group and name, as the project file declares them."""
    groups: dict[str, dict[str, str]] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"].get(
        "entry-points", {}
    )
    return {(group, name): value for group, entries in groups.items() for name, value in entries.items()}


def test_every_wire_family_is_an_extension_like_any_other() -> None:
    families = {name for group, name in declared() if group == "claw_acp.providers"}
    assert families >= {"anthropic", "offline", "openai", "scripted"}


def test_every_built_in_extension_loads_and_can_be_called() -> None:
    for value in declared().values():
        assert callable(Ref[Callable[..., object]](value).load()), value


def test_a_tool_is_in_the_list_that_its_class_asks_for_under_its_own_name() -> None:
    tools = {key: Ref[Callable[[], Tool]](value).load()() for key, value in declared().items() if "tools" in key[0]}
    listed = {name: getattr(tool, "on_demand", False) for (_, name), tool in tools.items()}
    assert listed == {name: group == "claw_acp.tools_on_demand" for group, name in tools}
    assert [tool.spec.name for tool in tools.values()] == [name for _, name in tools]


def test_the_installed_package_offers_what_the_project_declares() -> None:
    installed = {
        (point.group, point.name): point.value
        for point in distribution("claw-acp").entry_points
        if point.group.startswith("claw_acp.")
    }
    assert installed == declared(), "the package is installed in an older state; install it again"
