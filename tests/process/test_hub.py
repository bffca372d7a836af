"""A hub, and editors whose processes are bridges to it."""

import json
import signal
import socket
import stat
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from claw_acp.core.errors import AgentLost
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import RpcFailure, spoken
from tests.support.program.agent_process import eventually
from tests.support.program.processes import run_program
from tests.support.script_files import Script, call, configure, hold, say, turn
from tests.support.servers.hub import Hub, environment_of

pytestmark = pytest.mark.forked

AUTO = 'mode = "auto"'


def status(home: Path) -> str:
    """What `claw-acp serve --status` prints."""
    return run_program("serve", "--status", cwd=home, env=environment_of(home)).stdout


async def test_an_editor_is_served_by_the_hub_and_notices_nothing(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("first")), turn(say("second")))
    async with Hub.started(home=home, script=script), opened(script=script) as editor:
        assert (await editor.prompt("one")).text == "first"
        assert (await editor.prompt("two")).text == "second"
        assert "1 attached, 1 sessions open, 0 turns" in status(home)
    assert "0 attached" not in status(home)


async def test_two_editors_see_one_turn_live_and_each_may_cancel_it(spawn: Spawn, opened: Spawn, home: Path) -> None:
    script = Script(turn(say("for both"), hold("gate")), loop=True)
    async with (
        Hub.started(home=home, script=script),
        opened(script=script) as first,
        spawn(script=script, prompted_by="anyone") as second,
    ):
        await second.initialize()
        await second.load(first.session)
        running = await first.start_prompt("go")
        await second.wait_for_text("for both")
        await second.notify("session/cancel", {"sessionId": first.session})
        assert (await running.outcome()).stop_reason == "cancelled"


async def test_a_session_stays_open_while_another_editor_has_it(spawn: Spawn, opened: Spawn, home: Path) -> None:
    script = Script(turn(say("a")), turn(say("b")))
    async with Hub.started(home=home, script=script), spawn(script=script, prompted_by="anyone") as second:
        await second.initialize()
        async with opened(script=script) as first:
            await first.prompt("one")
            await second.load(first.session)
        assert (await second.prompt("two")).text == "b"


async def test_a_turn_that_an_editor_handed_over_goes_on_in_a_terminal(opened: Spawn, home: Path) -> None:
    long = turn(say("begun "), hold("gate"), call("shell", command="touch made"), when="long")
    script = Script(long, turn(say("made. "), when="long"), turn(say("And on."), when="go on"))
    async with Hub.started(home=home, script=script):
        async with opened(script=script) as editor:
            assert "claw-acp run --session" in (await editor.prompt("/handoff")).text
            await editor.start_prompt("long")
            await editor.wait_for_text("begun")
            await editor.kill()
        await eventually(
            lambda: "0 attached, 1 sessions open, 1 turns" in status(home), what="a session without editor"
        )
        command = ("run", "--yes", "--session", editor.session, "--cwd", str(editor.project), "go on")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(let_go_once_attached, script, home)
            run = partial(run_program, *command, cwd=home, env=environment_of(home))
            done = await to_thread.run_sync(run)
            assert (done.returncode, done.stdout.split()) == (0, ["made.", "And", "on."]), done
        assert (editor.project / "made").exists()
        assert "0 attached, 0 sessions open" in status(home)


async def let_go_once_attached(script: Script, home: Path) -> None:
    """Let a turn go on that waits for somebody to see it."""
    await eventually(lambda: "1 attached" in status(home), what="a terminal")
    script.let_go("gate")


# ------------------------------------------------------------------ hubs that end


async def test_a_prompt_that_ran_in_a_killed_hub_ends_with_an_error_and_the_next_one_works(
    opened: Spawn, home: Path
) -> None:
    script = Script(turn(say("half"), hold("gate")))
    async with Hub.started(home=home, script=script) as hub, opened(script=script) as editor:
        running = await editor.start_prompt("go")
        await editor.wait_for_text("half")
        configure(home / "claw", Script(turn(say("whole"))))
        hub.process.signal(signal.SIGKILL)
        failure = await running.failure()
        assert failure.code == AgentLost.code
        assert "kept" in failure.message
        assert (await editor.prompt("again")).text == "whole"


async def test_a_prompt_that_a_killed_hub_never_read_is_answered_by_the_next_process(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("one")), turn(say("two")))
    async with Hub.started(home=home, script=script) as hub, opened(script=script) as editor:
        await editor.prompt("first")
        hub.process.signal(signal.SIGSTOP)
        lost = await editor.start_prompt("second")
        behind = await editor.start("session/list", {})
        hub.process.signal(signal.SIGKILL)
        assert (await lost.outcome()).text == "two"
        assert (await behind.result())["sessions"]


async def test_nothing_is_lost_or_shown_twice_when_a_hub_is_replaced(spawn: Spawn, opened: Spawn, home: Path) -> None:
    script = Script(turn(say("one")), turn(say("two")))
    async with Hub.started(home=home, script=script) as hub, opened(script=script) as editor:
        await editor.prompt("first")
        seen = len(editor.updates())
        await hub.process.idle()
        editor.process.signal(
            signal.SIGSTOP
        )  # it waits for the next hub three seconds, which this machine may not keep
        hub.process.signal(signal.SIGKILL)
        await hub.process.ended()
        async with Hub.started(home=home, script=script):
            editor.process.signal(signal.SIGCONT)
            assert (await editor.prompt("second")).text == "two"
            said = [update for update in editor.updates()[seen:] if "message_chunk" in update["sessionUpdate"]]
            assert spoken(said, "agent_message_chunk") == "two"
            async with spawn(script=script) as other:
                await other.initialize()
                _, replayed = await other.load(editor.session)
                assert spoken(replayed, "user_message_chunk") == "firstsecond"
                assert spoken(replayed, "agent_message_chunk") == "onetwo"
            assert "1 sessions open" in status(home)


async def test_an_answer_to_a_question_of_a_hub_that_is_gone_reaches_nobody(opened: Spawn, home: Path) -> None:
    script = Script(turn(call("shell", command="touch made")), turn(say("x")))
    async with Hub.started(home=home, script=script) as hub, opened(script=script) as editor:
        editor.will_answer(None)
        running = await editor.start_prompt("go")
        question = await editor.wait_for_question()
        hub.process.signal(signal.SIGKILL)
        assert (await running.failure()).code == AgentLost.code
        again = await editor.start_prompt("go on")
        await editor.wait_for(lambda: len(editor.questions) == 2, "the second question")
        await editor.answer(question, "allow_once")
        await editor.answer(editor.questions[0], "reject_once")
        await again.outcome()
        assert not (editor.project / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_hub_that_is_told_to_stop_ends_in_time_with_everything_it_started(
    opened: Spawn, home: Path, number: signal.Signals
) -> None:
    script = Script(turn(call("shell", command="sleep 60")), turn(say("after")))
    async with Hub.started(home=home, script=script, config=AUTO) as hub, opened(script=script, config=AUTO) as editor:
        running = await editor.start_prompt("go")
        await eventually(lambda: bool(editor.process.children()), what="the command")
        hub.process.signal(number)
        assert await hub.process.ended() == 0
        assert not hub.socket.exists()
        assert (await running.failure()).code == AgentLost.code


# ------------------------------------------------------------------ environments


async def test_commands_get_the_environment_of_the_editor_that_has_the_session(opened: Spawn, home: Path) -> None:
    script = Script(turn(call("shell", command='echo "in $PLACE"')), turn(say("x")), loop=True)
    async with Hub.started(home=home, script=script, config=AUTO, env={"PLACE": "the hub"}):
        for place in ("Zed", "a terminal"):
            async with opened(script=script, config=AUTO, env={"PLACE": place}) as editor:
                outcome = await editor.prompt("where?")
                assert f"in {place}" in json.dumps(outcome.updates)


async def test_commands_in_a_shared_session_get_the_environment_of_the_editor_that_asked(
    spawn: Spawn, opened: Spawn, home: Path
) -> None:
    script = Script(turn(call("shell", command='echo "in $PLACE"')), turn(say("x")), loop=True)
    async with (
        Hub.started(home=home, script=script, config=AUTO),
        opened(script=script, config=AUTO, env={"PLACE": "Zed"}, prompted_by="anyone") as first,
        spawn(script=script, config=AUTO, env={"PLACE": "a terminal"}, prompted_by="anyone") as second,
    ):
        await second.initialize()
        await second.load(first.session)
        assert "in a terminal" in json.dumps((await second.prompt("where?")).updates)


async def test_an_editor_without_a_key_cannot_use_the_key_of_another(opened: Spawn, spawn: Spawn, home: Path) -> None:
    key = {"OPENAI_API_KEY": "sk-of-the-first", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    async with Hub.started(home=home), opened(env=key) as first, opened() as second:
        models = [
            json.dumps(await editor.request("session/new", {"cwd": str(editor.project), "mcpServers": []}))
            for editor in (first, second)
        ]
        assert ["openai" in text.lower() for text in models] == [True, False]


async def test_an_editor_whose_new_files_would_get_another_mode_keeps_a_process_of_its_own(
    opened: Spawn, home: Path
) -> None:
    script = Script(turn(say("own")))
    async with Hub.started(home=home, script=script, env={"TZ": "Asia/Tokyo"}), opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "own"
        assert "0 attached" in status(home)


async def test_with_hub_off_every_editor_has_a_process_of_its_own(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("own")))
    off = 'hub = "off"'
    async with Hub.started(home=home, script=script, config=off), opened(script=script, config=off) as editor:
        assert (await editor.prompt("go")).text == "own"
        assert "0 attached" in status(home)


async def test_with_hub_start_the_first_editor_starts_a_hub_for_the_next(opened: Spawn, home: Path) -> None:
    script, config = Script(turn(say("a")), loop=True), 'hub = "start"'
    async with opened(script=script, config=config) as first:
        try:
            await eventually(lambda: "The hub is running" in status(home), what="a hub")
            assert (await first.prompt("go")).text == "a"
            async with opened(script=script, config=config) as second:
                assert (await second.prompt("go")).text == "a"
                assert "1 attached" in status(home)
        finally:
            run_program("serve", "--stop", cwd=home, env=environment_of(home))


# ------------------------------------------------------------------ one hub


async def test_only_its_user_can_reach_the_socket(home: Path) -> None:
    async with Hub.started(home=home) as hub:
        assert stat.S_IMODE(hub.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(hub.socket.parent.stat().st_mode) == 0o700


async def test_a_second_hub_is_refused_and_may_replace_the_first(home: Path) -> None:
    run = partial(run_program, cwd=home, env=environment_of(home))
    async with Hub.started(home=home) as hub:
        refused = run("serve", "--no-listen")
        assert (refused.returncode, "is running already" in refused.stderr) == (1, True)
        async with Hub.started(home=home, arguments=["--replace"]) as second:
            assert await hub.process.ended() == 0
            assert second.socket == hub.socket
            assert f"process {second.process.pid}" in status(home)


async def test_a_socket_that_a_killed_hub_left_is_in_nobodys_way(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("a")), loop=True)
    async with Hub.started(home=home) as hub:
        hub.process.signal(signal.SIGKILL)
        await hub.process.ended()
        assert hub.socket.exists()
        async with opened(script=script) as editor:
            assert (await editor.prompt("go")).text == "a"
    async with Hub.started(home=home, script=script), opened(script=script) as editor:
        assert (await editor.prompt("go")).text == "a"


async def test_a_hub_in_the_background_is_started_told_about_and_stopped_by_commands(home: Path) -> None:
    run = partial(run_program, cwd=home, env=environment_of(home))
    assert "No hub is running" in run("serve", "--status").stdout
    started = run("serve", "--detach", "--no-listen")
    assert started.returncode == 0, started.stderr
    try:
        assert "The hub is running" in run("serve", "--status").stdout
    finally:
        assert run("serve", "--stop").stdout == "The hub has ended.\n"
    assert run("serve", "--stop").stdout == "No hub is running.\n"


async def test_a_hub_that_nobody_uses_ends_by_itself(opened: Spawn, home: Path) -> None:
    async with Hub.started(home=home, arguments=["--idle-exit", "1"]) as hub:
        async with opened():
            assert hub.process.exit_code is None
        assert await hub.process.ended() == 0


async def test_a_hub_that_has_a_job_waiting_does_not_end_by_itself(opened: Spawn, home: Path) -> None:
    run = partial(run_program, cwd=home, env=environment_of(home))
    async with Hub.started(home=home, arguments=["--idle-exit", "1"]) as hub:
        async with opened():
            assert run("cron", "add", "later", "--every", "1d", "--prompt", "x", "--cwd", str(home)).returncode == 0
        log = home / "claw" / "log" / "claw-acp.log"
        await eventually(lambda: "the hub stays" in log.read_text(), what="a look at the jobs")
        assert run("cron", "remove", "later").returncode == 0
        assert await hub.process.ended() == 0


# ------------------------------------------------------------------ programs that behave badly


async def test_what_does_not_answer_the_greeting_is_told_so_and_hung_up_on(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("a")), loop=True)
    async with Hub.started(home=home, script=script) as hub:
        king = b'{"jsonrpc":"2.0","id":0,"result":{"role":"king"}}\n'
        for wrong in (b"hello\n", king, b'{"jsonrpc":"2.0","id":0}\n', b""):
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(hub.socket))
                stream = connection.makefile("rwb")
                assert json.loads(stream.readline())["method"] == "initialize"
                connection.sendall(wrong)
                connection.shutdown(socket.SHUT_WR)
                assert json.loads(stream.readline())["params"]["reason"] == "refused"
                assert stream.readline() == b""
        async with opened(script=script) as editor:
            assert (await editor.prompt("go")).text == "a"


async def test_an_editor_that_is_killed_leaves_nothing_in_the_hub(opened: Spawn, home: Path) -> None:
    script = Script(turn(say("on its way"), hold("gate")), loop=True)
    async with Hub.started(home=home, script=script):
        async with opened(script=script) as editor:
            await editor.start_prompt("go")
            await editor.wait_for_text("on its way")
            await editor.kill()
        await eventually(lambda: "0 attached, 0 sessions open, 0 turns" in status(home), what="an empty hub")


async def test_requests_of_an_unknown_kind_are_answered_as_ever(opened: Spawn, home: Path) -> None:
    async with Hub.started(home=home), opened() as editor:
        with pytest.raises(RpcFailure, match="Method not found"):
            await editor.request("session/teleport", {})


async def test_large_frames_pass_in_both_directions(opened: Spawn, home: Path) -> None:
    large = "x" * 3_000_000
    script = Script(turn(say(large)), loop=True)
    async with Hub.started(home=home, script=script), opened(script=script) as editor:
        assert (await editor.prompt(large)).text == large
