"""Commands of a session reach the network host by host: by rules, or because a person says so while they wait."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from claw_acp.audit.files import AuditFiles
from claw_acp.sandbox.machine import sandbox_of_this_machine
from tests.support.editors.exchange import Json, tool_calls
from tests.support.editors.shared_house import Guest, GuestV2, SharedHouse
from tests.support.script_files import Script, call, expect, say, turn
from tests.support.servers.loopback import Answered, Loopback, serving
from tests.support.toolchain import missing

pytestmark = pytest.mark.skipif(bool(missing("curl")), reason=missing("curl"))


@pytest.fixture
def server() -> Generator[Loopback]:
    """A server of this machine, whose name leads to a private network."""
    found = Loopback(lambda _: Answered([b"here"]))
    with serving(found):
        yield found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a project and a home."""
    backend = sandbox_of_this_machine(cache=tmp_path / "cache")
    if backend is None or "proxy" not in backend.enforces:
        pytest.skip("no sandbox of this machine has a network of its own")
    for folder in ("project", "home"):
        (tmp_path / folder).mkdir()
    return tmp_path


async def played(
    place: Path, line: str, *, told: str = "", config: str = "", answer: str = "allow_once", protocol: int = 1
) -> Guest:
    """An editor after a turn in auto mode: the model ran a command that needs the network, and was `told` this."""
    script = Script(turn(call("shell", command=line, sandbox="network")), turn(expect(told), say("done")))
    env = {"CLAW_ACP_SANDBOX": "on", "CLAW_ACP_MODE": "auto", "PATH": "/usr/bin:/bin"}
    opened = SharedHouse.opened(project=place / "project", home=place / "home", script=script, env=env, config=config)
    async with opened as house:
        guest = await (house.visit() if protocol == 1 else house.visit_2())
        await guest.new_session()
        guest.will_answer(answer)
        if isinstance(guest, GuestV2):
            await guest.insert("go")
            await guest.wait_for_state("idle")
        else:
            await guest.prompt("go")
        return guest


def result(guest: Guest) -> Json:
    """The command's call at its end."""
    (found,) = tool_calls(guest.updates()).values()
    return found


def questions(guest: Guest) -> list[str]:
    """What a person was asked, as JSON."""
    method = "session/request_permission"
    return [json.dumps(frame.message["params"]) for frame in guest.transcript if frame.message.get("method") == method]


def connections(place: Path) -> list[dict[str, Any]]:
    """The lines about connections in the audit log."""
    lines = AuditFiles(place / "home/claw/audit").current.read_bytes().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == "network"]


@pytest.mark.parametrize("protocol", [1, 2])
async def test_a_rule_lets_a_command_reach_a_host_and_both_ends_of_the_connection_are_recorded(
    place: Path, server: Loopback, protocol: int
) -> None:
    host = f"localhost:{server.server_address[1]}"
    rule = f"network(private {host})"
    config = f'[permissions]\nallow = ["{rule}"]\n'
    guest = await played(place, f"curl -sS --noproxy '' http://{host}/x", config=config, protocol=protocol)
    assert (result(guest)["status"], questions(guest)) == ("completed", [])
    assert server.asked[0].headers["host"] == host
    begun, ended = connections(place)
    assert (begun["connection"], begun["host"], begun["rule"]) == ("allowed", "localhost", rule)
    assert (ended["connection"], ended["received"] > 0) == ("ended", True)


@pytest.mark.parametrize("protocol", [1, 2])
async def test_without_a_rule_a_person_is_asked_while_the_command_waits(place: Path, protocol: int) -> None:
    told = "The rule `network(nowhere.test)` would allow it."
    line = "curl -sS http://nowhere.test/ >page"
    guest = await played(place, line, told=told, answer="reject_once", protocol=protocol)
    (question,) = questions(guest)
    assert "It connects to nowhere.test, which no rule allows." in question
    assert "network(nowhere.test)" in question
    assert told in json.dumps(guest.updates())
    assert [line["connection"] for line in connections(place)] == ["refused"]


async def test_an_answer_reaches_the_waiting_command(place: Path) -> None:
    guest = await played(place, "curl -sS http://nowhere.invalid/", told="its name does not resolve")
    assert len(questions(guest)) == 1
    assert [line["connection"] for line in connections(place)] == ["allowed", "ended"]


async def test_this_machine_is_not_asked_about(place: Path, server: Loopback) -> None:
    host = f"localhost:{server.server_address[1]}"
    told = f"The rule `network(private {host})` would allow it."
    guest = await played(place, f"curl -sS --noproxy '' http://{host}/x", told=told)
    assert (questions(guest), server.asked) == ([], [])


async def test_a_refusal_by_rule_is_not_asked_about(place: Path) -> None:
    config = '[permissions]\ndeny = ["network(*.test)"]\n'
    guest = await played(place, "curl -sSf http://nowhere.test/", config=config)
    assert (result(guest)["status"], questions(guest)) == ("failed", [])
    assert "forbids connecting to nowhere.test" in json.dumps(result(guest))
