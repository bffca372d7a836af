"""Servers live as long as their session, and not a moment longer; nothing of them stays behind."""

import signal
from pathlib import Path

import pytest

from tests.mcp.support import AUTO, NOTICES, commands, configured, heard, log_file, notices, raw, ready
from tests.support.editors.editor import Editor
from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json, shown_text
from tests.support.program.agent_process import eventually
from tests.support.script_files import Script, call, say, turn

TALK = Script(turn(say("hello")), loop=True)
RECORDING = """
import atexit, os, pathlib, sys
atexit.register(lambda: pathlib.Path(os.environ["RECORD"]).write_text(" ".join(sys.modules)))
from claw_acp.acp.boot import main
sys.exit(main())
"""
STUBBORN = {"ignores_end": True, "forks": True}


async def _only_the_agent(editor: Editor) -> None:
    await eventually(lambda: not editor.process.children(), what="an end of all servers")


def _pids(editor: Editor, name: str = "raw") -> set[int]:
    return {entry["pid"] for entry in heard(editor, name)}


@pytest.mark.parametrize("habits", [{}, {"forks": True}, STUBBORN], ids=["polite", "a child stays", "stubborn"])
async def test_closing_a_session_ends_its_servers_and_all_that_they_started(spawn: Spawn, habits: Json) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **habits)])
        await ready(editor)
        await editor.request("session/close", {"sessionId": editor.session})
        await _only_the_agent(editor)
        if not habits:
            assert heard(editor)[-1]["event"] == "end of input"


@pytest.mark.forked
@pytest.mark.parametrize("habits", [{}, STUBBORN], ids=["polite", "stubborn"])
@pytest.mark.parametrize("end", ["end of input", "SIGTERM"])
async def test_the_end_of_the_program_is_the_end_of_its_servers(spawn: Spawn, habits: Json, end: str) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **habits)])
        await ready(editor)
        if end == "SIGTERM":
            editor.process.signal(signal.SIGTERM)
            await editor.gone()
        else:
            await editor.leave()


@pytest.mark.forked
async def test_a_server_ends_when_the_program_is_killed(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, **STUBBORN)])
        await ready(editor)
        await editor.kill()
        await editor.process.childless()


@pytest.mark.forked
async def test_leaving_while_servers_start_leaves_nothing_behind(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        servers = [raw(editor, f"s{number}", hangs_at="initialize", **STUBBORN) for number in range(3)]
        await editor.new_session(mcpServers=servers)
        await eventually(lambda: all(_pids(editor, f"s{number}") for number in range(3)), what="three servers")
        await editor.leave()


async def test_two_sessions_do_not_share_a_server(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        server = raw(editor)
        first = (await editor.new_session(mcpServers=[server]))["sessionId"]
        await ready(editor, session=first)
        await editor.new_session(mcpServers=[server])
        await ready(editor)
        assert len(_pids(editor)) == 2
        await editor.request("session/close", {"sessionId": first})
        await eventually(lambda: len(editor.process.children()) == 1, what="an end of the first")


async def test_opening_a_session_again_with_other_servers_replaces_them(spawn: Spawn) -> None:
    async with spawn(script=TALK) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor, "one"), raw(editor, "two")])
        await ready(editor, "one", "two")
        kept, gone = _pids(editor, "two"), _pids(editor, "one")
        await editor.load(editor.session, mcpServers=[raw(editor, "two"), raw(editor, "three")])
        await ready(editor, "two", "three")
        assert "one:ready" not in commands(editor)
        await eventually(lambda: not gone & set(editor.process.children()), what="an end of the first")
        assert _pids(editor, "two") == kept
        await editor.request(
            "session/resume", {"sessionId": editor.session, "cwd": str(editor.project), "mcpServers": []}
        )
        await _only_the_agent(editor)
        await editor.wait_for(lambda: not [name for name in commands(editor) if ":" in name], "no more prompts")


async def test_configured_servers_join_every_session(spawn: Spawn) -> None:
    async with spawn(script=TALK, config=configured("mine")) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor, "mine", "raw")
        await editor.load(editor.session)
        await eventually(lambda: "raw:ready" not in commands(editor), what="the editor's server gone")
        assert "mine:ready" in commands(editor)


async def test_a_configured_server_can_be_switched_off(spawn: Spawn) -> None:
    async with spawn(script=TALK, config=configured("mine", more="enabled = false")) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
        assert "mine:ready" not in commands(editor)


async def test_a_project_cannot_bring_a_server(spawn: Spawn, project: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (project / ".claw").mkdir()
    (project / ".claw" / "config.toml").write_text(f'[mcp.evil]\ncommand = "touch"\nargs = ["{trap}"]\n')
    async with spawn(script=TALK, capabilities=NOTICES) as editor:
        await editor.initialize()
        await editor.new_session(mcpServers=[raw(editor)])
        await ready(editor)
        assert any("mcp.evil" in told["title"] for told in notices(editor))
    assert not trap.exists()


async def test_other_directories_of_a_session_are_told_to_servers_that_go_on(spawn: Spawn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    script = Script(turn(call("raw__env")), turn(say("done")))
    async with spawn(script=script, config=AUTO) as editor:
        await editor.initialize()
        server = raw(editor, asks="roots/list")
        await editor.new_session(mcpServers=[server])
        await ready(editor)
        await editor.load(editor.session, mcpServers=[server], additionalDirectories=[str(other)])
        await eventually(
            lambda: "notifications/roots/list_changed" in log_file(editor).read_text(), what="news of the directories"
        )
        outcome = await editor.prompt("go")
    assert all(path.as_uri() in shown_text(outcome.calls[0]) for path in (editor.project, other))


async def test_sessions_without_servers_never_load_the_library(spawn: Spawn, tmp_path: Path) -> None:
    record = tmp_path / "modules"
    async with spawn(script=TALK, python=("-c", RECORDING), env={"RECORD": str(record)}) as editor:
        await editor.initialize()
        await editor.new_session()
        assert (await editor.prompt("hi")).text == "hello"
        await editor.leave()
    loaded = set(record.read_text().split())
    assert "claw_acp.runtime.turns" in loaded
    assert not {name for name in loaded if name.split(".")[0] in {"mcp", "mcp_types", "httpx2"}}
    assert not {name for name in loaded if name.startswith("claw_acp.mcp")}
