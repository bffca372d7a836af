"""Ends of clients and of the server, in the middle of everything."""

import json
import signal
from pathlib import Path

import anyio
import pytest

from tests.gateway.conftest import Serve
from tests.support.editors.editor import Editor
from tests.support.editors.exchange import spoken, tool_calls
from tests.support.editors.remote_wires import PROFILES, HttpWire, Profile, WebSocketWire, remote_editor
from tests.support.program.agent_process import EXIT_BOUND, eventually
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.remote_server import RemoteServer

AUTO = 'mode = "auto"'
STUBBORN = "trap '' TERM HUP INT; touch started; sleep 300 & sleep 300"
WORKING = Script(turn(say("running"), call("shell", command=STUBBORN)), turn(say("next")), loop=True)
MEBIBYTE = 1024 * 1024


async def caught_working(editor: Editor) -> None:
    await editor.initialize()
    await editor.new_session()
    await editor.start_prompt("go")
    await eventually((editor.project / "started").exists, what="a running command")


async def replayed(server: RemoteServer, session: str, project: Path) -> tuple[str, list[str]]:
    """What is shown of a session when it is loaded, after which it works."""
    async with remote_editor(server, "websocket", project=project) as editor:
        await editor.initialize()
        _, updates = await editor.load(session)
        assert (await editor.prompt("go on")).text == "next"
        statuses = [call["status"] for call in tool_calls(updates).values()]
        return spoken(updates, "agent_message_chunk"), statuses


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_all_sessions_and_their_programs(
    serve: Serve, project: Path, number: signal.Signals
) -> None:
    async with (
        serve(script=WORKING, config=AUTO) as server,
        remote_editor(server, "websocket", project=project) as editor,
    ):
        await caught_working(editor)
        session, wire = editor.session, editor.process
        assert isinstance(wire, WebSocketWire)
        await server.stop(number)
        await eventually(lambda: wire.closed is not None, what="a close")
        assert wire.closed is not None
        assert wire.closed.code == 1001
    async with serve(script=WORKING, config=AUTO) as server:
        assert await replayed(server, session, project) == ("running", ["failed"])


@pytest.mark.parametrize("profile", PROFILES)
async def test_a_client_that_leaves_ends_its_work_and_can_come_back(
    serve: Serve, project: Path, profile: Profile
) -> None:
    async with serve(script=WORKING, config=AUTO) as server:
        async with remote_editor(server, profile, project=project) as editor:
            await caught_working(editor)
            session = editor.session
            assert server.process.children()
        await eventually(lambda: not server.process.children(), what="an end of its programs")
        text, statuses = await replayed(server, session, project)
        assert (text, statuses) == ("running", ["failed"])


async def test_a_client_that_is_cut_off_ends_its_work(serve: Serve, project: Path) -> None:
    async with (
        serve(script=WORKING, config=AUTO) as server,
        remote_editor(server, "websocket", project=project) as editor,
    ):
        await caught_working(editor)
        assert isinstance(editor.process, WebSocketWire)
        await editor.process.client.cut()
        await eventually(lambda: not server.process.children(), what="an end of its programs")


@pytest.mark.parametrize("profile", PROFILES)
async def test_what_was_said_before_a_crash_is_there_after_it(serve: Serve, project: Path, profile: Profile) -> None:
    script = Script(turn(say("one "), hold("never")), turn(say("next")), loop=True)
    async with serve(script=script) as server, remote_editor(server, profile, project=project) as editor:
        await editor.initialize()
        await editor.new_session()
        session = editor.session
        await editor.start_prompt("go")
        await editor.wait_for_text("one ")
        server.process.signal(signal.SIGKILL)
        await server.process.ended(within=EXIT_BOUND)
    async with (
        serve(script=Script(turn(say("next")), loop=True)) as server,
        remote_editor(server, profile, project=project) as editor,
    ):
        await editor.initialize()
        _, updates = await editor.load(session)
        assert spoken(updates, "user_message_chunk") == "go"
        assert (await editor.prompt("go on")).text == "next"


async def test_a_client_that_stops_reading_holds_its_model_and_nobody_else(serve: Serve, project: Path) -> None:
    chunk = "x" * 20_000
    script = Script(
        turn(say("start "), hold("gate"), say(*[chunk] * 2000), when="flood"), turn(say("small")), loop=True
    )
    async with serve(script=script) as server, remote_editor(server, "websocket", project=project) as other:
        await other.initialize()
        await other.new_session()
        assert (await other.prompt("hello")).text == "small"
        async with remote_editor(server, "http2", project=project) as stalled:
            await stalled.initialize()
            await stalled.new_session()
            await stalled.start_prompt("flood")
            await stalled.wait_for_text("start ")
            wire = stalled.process
            assert isinstance(wire, HttpWire)
            wire.paused = anyio.Event()
            before = server.process.memory().now
            script.let_go("gate")
            await server.process.idle()
            assert server.process.memory().now - before < 8 * MEBIBYTE
            assert (await other.prompt("hello")).text == "small"
            await stalled.cancel()
            wire.paused.set()


async def test_a_trace_tells_the_connections_apart(serve: Serve, project: Path, home: Path) -> None:
    trace = home / "trace.jsonl"
    async with serve(script=Script(turn(say("here")), loop=True), env={"CLAW_ACP_TRACE": str(trace)}) as server:
        names: list[str] = []
        for profile in PROFILES:
            async with remote_editor(server, profile, project=project) as editor:
                await editor.initialize()
                assert isinstance(editor.process, WebSocketWire | HttpWire)
                names.append(editor.process.connection_id)
    entries = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [entry["recording"] for entry in entries if entry["direction"] == "in"] == names


@pytest.mark.spawned
async def test_a_server_that_was_told_to_outlive_its_terminal_does(serve: Serve) -> None:
    async with serve(ignored=[signal.SIGHUP]) as server:
        server.process.signal(signal.SIGHUP)
        async with server.http() as client:
            assert (await client.get(server.url)).status_code == 406
