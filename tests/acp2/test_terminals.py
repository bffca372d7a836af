"""Terminals of protocol 2: what programs wrote, byte for byte, and how they ended, also in a replay."""

import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from io import FileIO
from pathlib import Path
from typing import Protocol

import anyio
import pytest

from tests.support.editors.editor_v2 import printed_bytes
from tests.support.editors.exchange import Json, tool_calls
from tests.support.editors.shared_house import GuestV2, SharedHouse
from tests.support.script_files import Script, Turn, call, say, turn

AUTO = 'mode = "auto"'
SECRET = "sk-ant-api03-0123456789abcdefABCDEF"


class Houses(Protocol):
    def __call__(self, *turns: Turn) -> AbstractAsyncContextManager[SharedHouse]: ...


@pytest.fixture
def houses(project: Path, home: Path) -> Houses:
    """Programs that start one after the other, on the same journal."""

    @asynccontextmanager
    async def opened(*turns: Turn) -> AsyncGenerator[SharedHouse]:
        async with SharedHouse.opened(project=project, home=home, script=Script(*turns), config=AUTO) as house:
            yield house

    return opened


@pytest.fixture
def go(project: Path) -> Iterator[FileIO]:
    """Our end of the pipe `go`. It stays open: a program that opens the pipe anew for each line may see an old end."""
    os.mkfifo(project / "go")
    with FileIO(project / "go", "r+") as pipe:
        yield pipe


def _running(line: str, *, background: bool = False) -> tuple[Turn, Turn]:
    return turn(call("shell", command=line, background=background)), turn(say("Done."))


async def _run(editor: GuestV2) -> None:
    await editor.insert("go")
    await editor.wait_for_state("idle")


def _shown(updates: list[Json]) -> bytes:
    """What the first terminal shows in the end."""
    terminals = [update["terminalId"] for update in updates if update["sessionUpdate"] == "terminal_update"]
    return printed_bytes(updates, terminals[0]) if terminals else b""


def _exits(updates: list[Json]) -> list[Json]:
    return [update["exitStatus"] for update in updates if update.get("exitStatus") is not None]


@pytest.mark.rule("v2.terminal-bytes")
@pytest.mark.parametrize(
    ("line", "output"),
    [
        (r"printf '\377\0\303'", b"\xff\x00\xc3"),
        (r"printf '\033[1;31mred\033[0m\n'", b"\x1b[1;31mred\x1b[0m\n"),
        (r"printf 'one\r\ntwo\r\n\n'", b"one\r\ntwo\r\n\n"),
        (r"printf '10%%\r50%%\r100%%'; printf '\r\bdone  \n'", b"10%\r50%\r100%\r\bdone  \n"),
        (r"printf '\n\n  \303'; sleep 0.5; printf '\244\n'", "\n\n  ä\n".encode()),
        ("true", b""),
    ],
)
async def test_output_arrives_as_the_program_wrote_it(houses: Houses, line: str, output: bytes) -> None:
    async with houses(*_running(line)) as house:
        editor = await house.visit_2()
        await editor.new_session()
        await _run(editor)
        assert _shown(editor.updates()) == output
        _, replayed = await editor.resume(replay=True)
        assert _shown(replayed) == output


@pytest.mark.rule("v2.terminal-bytes")
async def test_output_that_repeats_itself_loses_nothing_when_it_comes_slowly(houses: Houses, go: FileIO) -> None:
    line = "for i in 1 2 3 4 5; do yes | head -c 3000; read -r line; done < go"
    async with houses(*_running(line)) as house:
        editor = await house.visit_2()
        await editor.new_session()
        await editor.insert("go")
        for number in range(1, 6):
            await editor.wait_for(
                lambda size=3000 * number: len(_shown(editor.updates())) == size, f"{number} pieces of output"
            )
            go.write(b"\n")
        await editor.wait_for_state("idle")
        assert _shown(editor.updates()) == b"y\n" * 7500


@pytest.mark.parametrize("code", [r"\033[0m", r"\0", r"\033]0;t\007"], ids=["colour", "NUL", "title"])
async def test_a_credential_that_is_split_by_codes_is_masked(houses: Houses, code: str) -> None:
    line = f"printf '{SECRET[:20]}'; printf '{code}'; printf '{SECRET[20:]} end\\n'"
    async with houses(*_running(line)) as house:
        editor = await house.visit_2()
        await editor.new_session()
        await _run(editor)
        shown = _shown(editor.updates())
        _, replayed = await editor.resume(replay=True)
    for output in (shown, _shown(replayed)):
        assert SECRET[20:].encode() not in output
        assert output.endswith(b"[redacted] end")


# ------------------------------------------------------------------ in the background


@pytest.mark.rule("v2.background")
@pytest.mark.parametrize(
    ("end", "exit_status", "words"),
    [
        ("exit 3", {"exitCode": 3}, "exit code 3"),
        ("kill -KILL $$", {"signal": "SIGKILL"}, "killed by SIGKILL"),
        ("exec sleep 1000", {"signal": "SIGTERM"}, "killed by SIGTERM"),
    ],
)
async def test_how_a_program_in_the_background_ended_is_known_after_a_restart(
    houses: Houses, end: str, exit_status: Json, words: str
) -> None:
    line = rf"printf 'serving \033[1mhere\033[0m\n'; {end}"
    async with houses(*_running(line, background=True)) as house:
        editor = await house.visit_2()
        await editor.new_session()
        editor.will_answer("allow_once")  # `kill` is asked about
        await _run(editor)
        await editor.wait_for(lambda: b"serving" in _shown(editor.updates()), "its output")
        if "sleep" not in end:
            await editor.wait_for(lambda: _exits(editor.updates()), "its end")
        await editor.request("session/close", {"sessionId": editor.session})
        session = editor.session
    async with houses() as house:
        editor = await house.visit_2()
        _, replayed = await editor.resume(session, replay=True)
        assert _shown(replayed) == b"serving \x1b[1mhere\x1b[0m\n"
        assert _exits(replayed) == [exit_status]
        older = await house.visit()
        _, replayed = await older.load(session)
        (shown,) = tool_calls(replayed).values()
        assert [item["content"]["text"] for item in shown["content"]] == ["```\nserving here\n```", words]


async def test_the_end_of_a_program_in_the_background_is_kept_while_nothing_else_goes_on(houses: Houses) -> None:
    async with houses(*_running("echo over", background=True)) as house:
        editor = await house.visit_2()
        await editor.new_session()
        await _run(editor)
        await editor.wait_for(lambda: _exits(editor.updates()), "its end")
        session = await house.session(editor.session)
        with anyio.fail_after(10):
            while "over" not in str((await session.read())[-1]):
                await anyio.lowlevel.checkpoint()
        _, replayed = await editor.resume(replay=True)
        assert (_shown(replayed), _exits(replayed)) == (b"over\n", [{"exitCode": 0}])
