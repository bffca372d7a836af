"""What a model is told of the moment at which a person writes."""

import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import cast

import pytest

from claw_acp.core.clock import spoken_time
from tests.support.editors.exchange import Json
from tests.support.editors.shared_house import SharedHouse
from tests.support.script_files import Script
from tests.support.servers.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with ModelServer() as running:
        yield running


async def test_the_time_and_the_mode_ride_on_each_message_and_stay_there(
    server: ModelServer, project: Path, home: Path
) -> None:
    for answer in ("One.", "Two.", "Three."):
        server.will_say(answer)
    config = f'[providers.work]\nkind = "openai"\nbase_url = "{server.openai_url}"\nmodels = ["m"]'
    env = {"CLAW_ACP_MODEL": "work/m"}
    async with SharedHouse.opened(project=project, home=home, script=Script(), config=config, env=env) as house:
        guest = await house.visit()
        await guest.new_session()
        await guest.prompt("first")
        await guest.request("session/set_mode", {"sessionId": guest.session, "modeId": "plan"})
        outcome = await guest.prompt("second")
        stranger = await house.visit()
        _, replayed = await stranger.load(guest.session)
    first, second = [cast("Json", request.json) for request in server.requests if request.method == "POST"]
    told: list[str] = [message["content"] for message in second["messages"] if message["role"] == "user"]
    assert told[0].startswith(f"<facts>It is {datetime.now().astimezone():%A %Y-%m-%d} ")
    assert told[0].endswith("Mode ask: the user is asked before files are changed or commands run.</facts>\n\nfirst")
    assert "Mode plan: look and plan; every call that would change something is refused." in told[1]
    assert second["messages"][: len(first["messages"])] == first["messages"]
    assert first["tools"] == second["tools"]
    assert "<facts>" not in json.dumps([outcome.updates, replayed])


@pytest.mark.parametrize(
    ("zone", "spoken"),
    [
        (UTC, "Sunday 2026-11-22 08:05 (UTC+00:00)"),
        (timezone(timedelta(hours=1), "CET"), "Sunday 2026-11-22 09:05 (CET, UTC+01:00)"),
        (timezone(timedelta(hours=-9, minutes=-30)), "Saturday 2026-11-21 22:35 (UTC-09:30)"),
    ],
)
def test_a_moment_is_said_with_its_day_and_zone(zone: timezone, spoken: str) -> None:
    assert spoken_time(datetime(2026, 11, 22, 8, 5, tzinfo=UTC).timestamp(), zone=zone) == spoken
