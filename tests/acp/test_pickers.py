"""What editors show of a setting: often the name of its value alone."""

from pathlib import Path

from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script


async def test_values_say_by_themselves_which_setting_they_are_of(project: Path, home: Path) -> None:
    env = {"CLAW_ACP_MODEL": "scripted/claude-opus-4-5"}
    async with SharedHouse.opened(project=project, home=home, script=Script(), env=env) as house:
        editor = await house.visit()
        options = {option["id"]: option for option in (await editor.new_session())["configOptions"]}
    named = {setting: [value["name"] for value in options[setting]["options"]] for setting in options}
    assert named["web"] == ["Web on", "Web off"]
    assert "Offline assistant" in named["model"]
    assert all("hinking" in name for name in named["thought_level"])
