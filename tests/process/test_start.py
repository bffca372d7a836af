"""The start: at once, on any machine, with nothing but the protocol on stdout."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.editors.editor_fixtures import Spawn
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, say, turn

pytestmark = pytest.mark.spawned

HEAVY = {
    "asyncio", "anyio", "pydantic", "pydantic_core", "httpx", "aiosqlite", "sqlite3", "mcp", "pygls", "lsprotocol",
    "jsonrpcserver", "tree_sitter", "tomlkit", "tomllib", "logging", "ssl", "socket", "threading", "subprocess",
}  # fmt: skip

MAIN = "from claw_acp.acp.boot import main; sys.exit(main())"
RECORDING = f"""
import os, sys
write = os.write
def recording(fd, data):
    if os.environ["UNTIL"].encode() in bytes(data):
        with open(os.environ["RECORD"], "w") as file:
            file.write(" ".join(name for name, module in sys.modules.items() if module))
    return write(fd, data)
os.write = recording
{MAIN}
"""
STRAY = f"""
import os, sys
from claw_acp.acp import boot
take = boot.open_stdio
def noisy():
    opening = take()
    print("stray print", flush=True)
    os.write(1, b"stray write\\n")
    os.system("echo stray child; cat")
    return opening
boot.open_stdio = noisy
{MAIN}
"""
WATCHING = f"""
import os, sys
record = os.open(os.environ["RECORD"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def hook(event, arguments):
    if event in {{"socket.connect", "socket.getaddrinfo", "socket.sendto"}}:
        os.write(record, f"{{event}} {{arguments!r}}\\n".encode())
sys.addaudithook(hook)
{MAIN}
"""


@pytest.mark.case(51)
async def test_initialize_is_answered_before_anything_heavy_is_imported(spawn: Spawn, tmp_path: Path) -> None:
    record = tmp_path / "modules"
    async with spawn(python=("-c", RECORDING), env={"RECORD": str(record), "UNTIL": "protocolVersion"}) as editor:
        await editor.initialize()
    modules = set(record.read_text().split())
    assert "claw_acp.acp.handshake" in modules
    assert HEAVY & modules == set()


FOR_SESSIONS = 428  # modules, of which asyncio and anyio are 50
NOT_FOR_SESSIONS = {
    "pydantic", "pydantic_core", "annotated_types", "httpx", "httpcore", "h11", "h2", "mcp", "pathspec", "tree_sitter",
    "difflib", "email.message", "hashlib", "html", "tomlkit", "claw_acp.agent.loop", "claw_acp.tools.parameters",
}  # fmt: skip
NOT_FOR_PROMPTS = {"click", "rich", "pygments", "h2", "mcp", "pathspec", "tomlkit"}


async def test_a_new_session_and_a_first_prompt_load_only_what_they_need(spawn: Spawn, tmp_path: Path) -> None:
    record = tmp_path / "modules"
    async with spawn(python=("-c", RECORDING), env={"RECORD": str(record), "UNTIL": '"configOptions"'}) as editor:
        await editor.initialize()
        await editor.new_session()
    modules = record.read_text().split()
    assert NOT_FOR_SESSIONS & set(modules) == set()
    assert len(modules) <= FOR_SESSIONS
    async with spawn(python=("-c", RECORDING), env={"RECORD": str(record), "UNTIL": "stopReason"}) as editor:
        await editor.initialize()
        await editor.new_session()
        await editor.prompt("hello")
    modules = record.read_text().split()
    assert "claw_acp.agent.loop" in modules
    assert NOT_FOR_PROMPTS & set(modules) == set()


@pytest.mark.case(51)
async def test_a_machine_where_nothing_was_ever_set_up_is_enough(spawn: Spawn, home: Path, tmp_path: Path) -> None:
    record = tmp_path / "network"
    env = {"CLAW_ACP_HOME": None, "RECORD": str(record), "LANG": None, "TMPDIR": None}
    async with spawn(python=("-c", WATCHING), env=env) as editor:
        await editor.initialize()
        assert editor.received()[0]["result"]["protocolVersion"] == 1
        await editor.new_session()
        outcome = await editor.prompt("read a.txt")
        assert outcome.stop_reason == "end_turn"
        assert "hello" in outcome.text
    assert record.read_text() == ""


async def test_a_home_that_cannot_be_written_is_answered_in_words(spawn: Spawn) -> None:
    async with spawn(env={"CLAW_ACP_HOME": "/dev/null/nowhere"}) as editor:
        await editor.initialize()
        failure = await editor.failing("session/new", {"cwd": str(editor.project), "mcpServers": []})
        assert (failure.code // 100, "/dev/null/nowhere" in failure.message) == (-311, True)


@pytest.mark.rule("envelope.stdout-only-protocol", "kit1.transport")
@pytest.mark.case(31)
async def test_nothing_stray_reaches_the_protocol(spawn: Spawn) -> None:
    async with spawn(python=("-c", STRAY)) as editor:
        await editor.initialize()
        await editor.request("session/list", {})
        assert len(editor.received()) == 2
    for kind in ("print", "write", "child"):
        assert f"stray {kind}" in editor.process.stderr()


@pytest.mark.case(31)
async def test_a_log_sent_to_stdout_by_the_shell_stays_away_from_the_frames(opened: Spawn) -> None:
    script = Script(turn(say("clean")))
    async with opened(script=script, stderr_to_stdout=True, env={"CLAW_ACP_LOG": "debug"}) as editor:
        await editor.notify("session/cancel", {"sessionId": "makes a warning"})
        assert (await editor.prompt("go")).text == "clean"


async def test_frames_sent_before_the_answer_are_all_served(spawn: Spawn) -> None:
    async with spawn() as editor:
        opening: list[Json] = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
            *({"jsonrpc": "2.0", "id": number, "method": "session/list", "params": {}} for number in range(1, 50)),
        ]
        await editor.send_bytes(b"".join(json.dumps(frame).encode() + b"\n" for frame in opening))
        await editor.wait_for(lambda: len(editor.stray) == 50, "all answers")
        assert [answer["id"] for answer in editor.stray] == list(range(50))


def test_on_a_terminal_a_person_is_told_how_to_use_it(home: Path) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "claw_acp"], stdin=theirs, stdout=theirs, stderr=theirs, env={"HOME": str(home)}
    )
    os.close(theirs)
    shown = b""
    try:
        while data := _read_terminal(ours):
            shown += data
    finally:
        os.close(ours)
        child.kill()
        code = child.wait(10)
    assert b"claw-acp demo" in shown
    assert b"Zed" in shown
    assert code in {0, -9}  # the terminal may be closed before the program is
    assert list(home.iterdir()) == []


def _read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # Linux says so at the end of a terminal
        return b""


def modes_of_directories(home: Path) -> dict[Path, int]:
    """The modes of our directories in a home."""
    directories = (path for path in home.rglob("*") if path.is_dir())
    return {path: path.stat().st_mode for path in directories if "claw-acp" in path.parts}


async def test_what_is_made_on_a_new_machine_is_nobody_elses(spawn: Spawn, home: Path) -> None:
    async with spawn(env={"CLAW_ACP_HOME": None, "HOME": str(home)}) as editor:
        await editor.initialize()
        await editor.new_session()
        assert (await editor.prompt("read a.txt")).stop_reason == "end_turn"
    made = modes_of_directories(home)
    assert {"state", "share"} <= {path.parent.name for path in made}
    assert {path: mode for path, mode in made.items() if mode & 0o077} == {}
