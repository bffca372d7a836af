"""Faults around a hub: two at once, a socket of somebody else, another version, a full disk, killed bridges."""

import os
import resource
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

from claw_acp.config.hub_socket import hub_path, hub_socket
from claw_acp.config.other_hubs import other_hubs
from claw_acp.core.errors import ConfigError
from claw_acp.core.version import VERSION
from claw_acp.gateway.hub.socket_file import HubRunning, hub_listener
from tests.process.test_hub import status
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import spoken
from tests.support.ordinary_user import NOBODY, ordinary_user
from tests.support.program.agent_process import TIMEOUT, AgentProcess, eventually
from tests.support.program.processes import run_program
from tests.support.script_files import Script, configure, hold, say, turn
from tests.support.servers.hub import Hub, environment_of

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")


@pytest.mark.forked
async def test_of_hubs_that_start_at_once_exactly_one_lives_and_the_others_say_so(home: Path) -> None:
    configure(home / "claw", None)
    command = (sys.executable, "-m", "claw_acp", "serve", "--no-listen")
    start = partial(AgentProcess.start, cwd=home, env=environment_of(home), command=command)
    processes = [start(stderr=home / f"stderr-{number}.txt") for number in range(3)]
    try:
        with anyio.fail_after(TIMEOUT):
            lines = [await process.read() for process in processes]
        [living] = [process for process, line in zip(processes, lines, strict=True) if line]
        for process in processes:
            if process is not living:
                assert await process.ended() == 1
                assert "a hub is running already" in process.stderr()
        assert f"process {living.pid}" in status(home)
    finally:
        for process in processes:
            process.destroy()


# ------------------------------------------------------------------ sockets of others


def _environ(home: Path) -> dict[str, str]:
    return {"CLAW_ACP_HOME": str(home)}


def test_a_socket_that_is_owned_is_refused_and_a_left_one_replaced(tmp_path: Path) -> None:
    path = hub_socket(_environ(tmp_path))
    with hub_listener(path), pytest.raises(HubRunning, match="running already"), hub_listener(path):
        pass
    Path(path).write_bytes(b"left by a process that was killed")
    with hub_listener(path):
        assert stat.S_ISSOCK(Path(path).stat().st_mode)
    assert not list(Path(path).parent.iterdir())


@AS_ROOT
def test_a_directory_of_another_user_is_refused_and_no_editor_goes_there(tmp_path: Path) -> None:
    path = hub_socket(_environ(tmp_path))
    with hub_listener(path):
        assert hub_path(_environ(tmp_path)) == path
        os.chown(Path(path).parent, NOBODY, NOBODY)
        assert hub_path(_environ(tmp_path)) is None
    with pytest.raises(ConfigError, match="belongs to another user"), hub_listener(path):
        pass


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_directory_that_others_can_write_to_is_refused(tmp_path: Path, mode: int) -> None:
    path = hub_socket(_environ(tmp_path))
    Path(path).parent.mkdir()
    Path(path).parent.chmod(mode)
    with pytest.raises(ConfigError, match="written to by others"), hub_listener(path):
        pass


@AS_ROOT
def test_a_lock_of_another_user_is_refused_in_words(tmp_path: Path) -> None:
    path = hub_socket(_environ(tmp_path))
    Path(path).parent.mkdir(mode=0o700)
    with ordinary_user(tmp_path):
        Path(f"{path}.lock").touch(mode=0o400)
        with pytest.raises(ConfigError, match="Permission denied"), hub_listener(path):
            pass


# ------------------------------------------------------------------ other versions


@pytest.mark.forked
async def test_a_hub_of_another_version_is_told_of_and_left_to_itself(opened: Spawn, home: Path) -> None:
    environ = environment_of(home)
    other = hub_socket(environ).replace(f"/{VERSION}-", "/0.0.9-")
    script = Script(turn(say("own")))
    with hub_listener(other):
        assert other_hubs(environ) == {other: "0.0.9"}
        assert "A hub of version 0.0.9 is running" in status(home)
        async with opened(script=script, capabilities={"session": {"notices": {}}}) as editor:
            assert (await editor.prompt("go")).text == "own"
            await editor.wait_for(lambda: editor.updates("notice"), "a notice")
            assert "serve --detach --replace" in editor.updates("notice")[0]["description"]
    assert other_hubs(environ) == {}


@pytest.mark.forked
async def test_a_hub_of_another_version_is_stopped_like_ones_own(home: Path) -> None:
    async with Hub.started(home=home) as hub:
        _make_older(hub.socket)
        run = partial(run_program, cwd=home, env=environment_of(home))
        assert run("serve", "--stop").stdout == "The hub has ended.\n"
        assert await hub.process.ended() == 0


def _make_older(socket: Path) -> None:
    other = str(socket).replace(f"/{VERSION}-", "/0.0.9-")
    socket.rename(other)
    Path(f"{socket}.lock").rename(f"{other}.lock")


# ------------------------------------------------------------------ a full disk


@contextmanager
def _full_disk(hub: Hub) -> Generator[None]:
    """No file of the hub can grow."""
    resource.prlimit(hub.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    yield
    resource.prlimit(hub.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@pytest.mark.spawned
async def test_a_hub_without_room_refuses_prompts_loses_nothing_and_works_again(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("fine")), loop=True)
    async with Hub.started(home=home, script=script) as hub, opened(script=script) as editor:
        assert (await editor.prompt("first")).text == "fine"
        with _full_disk(hub):
            for _ in range(2):
                failure = await (await editor.start_prompt("lost")).failure()
                assert "space" in failure.message, failure
        assert (await editor.prompt("second")).text == "fine"
        assert "1 attached" in status(home)
        _, replayed = await editor.load(editor.session)
        assert spoken(replayed, "user_message_chunk").startswith("first")
        assert spoken(replayed, "user_message_chunk").endswith("second")


# ------------------------------------------------------------------ bridges that are killed


@pytest.mark.forked
async def test_a_bridge_that_is_killed_ends_its_turn_alone(spawn: Spawn, opened: Spawn, home: Path) -> None:
    script = Script(turn(say("half"), hold("gate"), when="long"), turn(say("short"), when="short"))
    async with (
        Hub.started(home=home, script=script),
        spawn(script=script, prompted_by="anyone") as other,
    ):
        await other.initialize()
        async with opened(script=script, prompted_by="anyone") as editor:
            await editor.start_prompt("long")
            await editor.wait_for_text("half")
            await other.load(editor.session)
            await editor.kill()
        await eventually(lambda: "1 attached, 1 sessions open, 0 turns" in status(home), what="the end of the turn")
        assert (await other.prompt("short")).text == "short"
