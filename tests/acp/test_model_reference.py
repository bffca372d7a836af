"""What others publish of models: made once by a process of its own, and there at the next start."""

from pathlib import Path

from claw_acp.providers.models.lineage import newest
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import SharedHouse
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script
from tests.support.servers.published_reference import published

MISTRAL = "https://api.mistral.ai/v1"


def picked(answer: Json) -> str:
    return next(option["currentValue"] for option in answer["configOptions"] if option["id"] == "model")


async def test_a_default_is_the_newest_that_is_published_once_that_is_kept_here(project: Path, home: Path) -> None:
    env = {"MISTRAL_API_KEY": "key-0123456789", "CLAW_ACP_MODEL": "mistral", "CLAW_ACP_MODEL_REFERENCE": "installed"}
    index = home / "claw" / "cache" / "reference" / "index.json"
    async with SharedHouse.opened(project=project, home=home, script=Script(), env=env) as house:
        editor = await house.visit()
        assert picked(await editor.new_session()) == "mistral/mistral-medium-latest"
        await eventually(index.exists, what="the reference")
    expected = newest(published().models(MISTRAL), [("mistral", "medium")])
    assert expected != "mistral-medium-latest"
    written = index.stat().st_mtime_ns
    async with SharedHouse.opened(project=project, home=home, script=Script(), env=env) as house:
        editor = await house.visit()
        assert picked(await editor.new_session()) == f"mistral/{expected}"
    assert index.stat().st_mtime_ns == written
