"""Clients with faults that we know of, each played as it was seen; what is done about them is right without, too."""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import anyio
import pytest

from claw_acp.acp.v1 import terminal
from tests.support.editors.editor import FULL
from tests.support.editors.editor_desk import Files
from tests.support.editors.exchange import Json, shown_text
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script, call, expect, say, turn

VSCODE, CODECOMPANION = "vscode-acp-client", "CodeCompanion.nvim"
FILES: Json = {"fs": FULL["fs"]}
EDIT = call("edit_file", path="a.txt", edits=[{"old_text": "one", "new_text": "two"}])

Visit: TypeAlias = Callable[..., AbstractAsyncContextManager[Guest]]


@pytest.fixture
def visited(project: Path, home: Path) -> Visit:
    @asynccontextmanager
    async def visit(script: Script, *, client: str, mode: str = "auto", **capabilities: Json) -> AsyncGenerator[Guest]:
        opened = SharedHouse.opened(project=project, home=home, script=script, config=f'mode = "{mode}"')
        async with opened as house:
            guest = await house.visit(client=client, **capabilities)
            await guest.new_session()
            yield guest
            guest.terminals.close()

    return visit


# ------------------------------------------------------------------ VS Code: terminals


def _joining(guest: Guest) -> None:
    """The client's terminals are made as Node's `spawn` does with `shell: true`; they are ended by their process id."""

    def create(params: Json) -> Json:
        line = " ".join([params["command"], *params["args"]])
        return guest.terminals.create({**params, "command": "/bin/sh", "args": ["-c", line]})

    def release(params: Json) -> Json:
        process = guest.terminals.all[params["terminalId"]].process
        if process.poll() is None:
            os.kill(process.pid, signal.SIGTERM)
        return {}

    guest.serve("terminal/create", create)
    guest.serve("terminal/release", release)
    guest.serve("terminal/kill", release)


LINES = {
    "python3 -c 'print(1 + 1)'": "2",
    "echo first; echo second && echo '$HOME' \"a  b\" `echo back`": "first\nsecond\n$HOME a  b back",
    "cat; echo nothing to read": "nothing to read",
    "echo 'ein Ä und\n zwei Zeilen' | tr -d '\\n' # ; touch made.txt": "ein Ä und zwei Zeilen",
    "cat << 'END' > /dev/stdout\n-- $(touch made.txt) %s \\n\nEND": "-- $(touch made.txt) %s \\n",
    'printf %s "${BASH_VERSION:+bash}"; exit 3': "bash\n\n[exit code 3]",
}


@pytest.mark.parametrize("joins", [True, False], ids=["as seen", "mended"])
@pytest.mark.parametrize("line", LINES)
async def test_a_client_that_joins_arguments_runs_what_was_approved(
    visited: Visit, project: Path, line: str, *, joins: bool
) -> None:
    script = Script(turn(call("shell", command=line)), turn(expect(LINES[line]), say("so it is")))
    async with visited(script, client=VSCODE, terminal=True) as guest:
        if joins:
            _joining(guest)
        guest.will_answer("allow_once")
        outcome = await guest.prompt("go")
        assert len(guest.terminals.all) == 1
    assert outcome.text == "so it is"
    assert not (project / "made.txt").exists()


async def test_a_command_of_such_a_client_is_ended_with_all_it_started(visited: Visit, project: Path) -> None:
    os.mkfifo(project / "alive")
    line = "(exec 3> alive; echo on >&3; sleep 600) & wait"
    script = Script(turn(call("shell", command=line, background=True)), turn(say("running")))
    async with visited(script, client=VSCODE, terminal=True) as guest:
        _joining(guest)
        await guest.prompt("go")
        with os.fdopen(os.open(project / "alive", os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as alive:
            await anyio.wait_readable(alive)
            assert alive.read() == b"on\n"
            await guest.request("session/close", {"sessionId": guest.session})
            with anyio.fail_after(10):
                await anyio.wait_readable(alive)  # nobody holds the other end any more
            assert alive.read() == b""


@pytest.mark.parametrize(("python", "line"), [("/opt/my python/bin/python", "true"), (None, f"true {'x' * 100_000}")])
def test_what_no_word_can_carry_is_not_sent(monkeypatch: pytest.MonkeyPatch, python: str | None, line: str) -> None:
    if python:
        monkeypatch.setattr("sys.executable", python)
    assert terminal.unquoted_argv(line) is None


def test_a_carried_line_ends_with_the_code_or_the_signal_of_the_line(project: Path) -> None:
    def ended(line: str) -> int:
        argv = terminal.unquoted_argv(line)
        assert argv is not None
        return subprocess.run(argv, cwd=project, check=False).returncode

    assert [ended("exit 7"), ended("kill -TERM $$"), ended("kill -KILL $$")] == [7, -15, -9]


# ------------------------------------------------------------------ VS Code: files


class FilesBelowBuffers(Files):
    """An open buffer with unsaved changes stays as it is when the agent writes its file."""

    def write(self, params: Json) -> Json:
        Path(params["path"]).write_text(params["content"], encoding="utf-8")
        return {}


def _below_buffers(guest: Guest, path: Path, text: str) -> Files:
    files = FilesBelowBuffers()
    files.buffers[str(path)] = text
    guest.serve("fs/read_text_file", files.read)
    guest.serve("fs/write_text_file", files.write)
    return files


@pytest.mark.parametrize("client", [VSCODE, "some other editor"])
@pytest.mark.parametrize("resolved", ["saved", "reverted"])
async def test_an_edit_that_did_not_land_is_said_and_the_file_left_alone_until_it_is_saved_or_reverted(
    visited: Visit, project: Path, client: str, resolved: str
) -> None:
    path = project / "a.txt"
    path.write_text("one\n")
    script = Script(
        turn(call("read_file", path="a.txt"), EDIT), turn(EDIT), turn(say("told")),
        turn(call("read_file", path="a.txt"), EDIT), turn(say("done")),
    )  # fmt: skip
    async with visited(script, client=client, **FILES) as guest:
        files = _below_buffers(guest, path, "one\nunsaved\n")
        first = await guest.prompt("go")
        disk = path.read_text()
        if resolved == "saved":
            path.write_text(files.buffers[str(path)])
        else:
            path.write_text("one\n")
        files.buffers.pop(str(path))
        second = await guest.prompt("again")
    assert [tool["status"] for tool in first.calls] == ["completed", "failed", "failed"]
    assert all("unsaved changes" in shown_text(tool) for tool in first.calls[1:])
    assert disk == ("one\n" if client == VSCODE else "two\nunsaved\n")
    assert [tool["status"] for tool in second.calls] == ["completed", "completed"]
    assert path.read_text().startswith("two\n")


async def test_a_saved_file_is_edited_as_ever(visited: Visit, project: Path) -> None:
    path = project / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n")
    script = Script(turn(call("read_file", path="a.txt"), EDIT), turn(say("done")))
    async with visited(script, client=VSCODE, **FILES) as guest:
        outcome = await guest.prompt("go")
    assert [tool["status"] for tool in outcome.calls] == ["completed", "completed"]


# ------------------------------------------------------------------ CodeCompanion


class FilesWithoutBuffers(Files):
    """The disk is read, with line ends changed; a missing file is empty; an open buffer is replaced, saved or not."""

    def read(self, params: Json) -> Json:
        path = Path(params["path"])
        return {"content": path.read_text(encoding="utf-8").replace("\r\n", "\n") if path.exists() else ""}


async def test_before_an_edit_that_cannot_see_unsaved_changes_the_person_is_asked_and_none_are_lost(
    visited: Visit, project: Path
) -> None:
    path = project / "a.txt"
    path.write_bytes(b"one\r\n")
    script = Script(turn(call("read_file", path="a.txt"), EDIT), turn(say("done")))
    async with visited(script, client=CODECOMPANION, mode="edit", **FILES) as guest:
        files = FilesWithoutBuffers(buffers={str(path): "one\nunsaved\n"})
        guest.serve("fs/read_text_file", files.read)
        guest.serve("fs/write_text_file", files.write)
        guest.will_answer("allow_once")
        outcome = await guest.prompt("go")
        [question] = guest.received("session/request_permission")
    assert "save it first" in str(question["params"]["toolCall"]["content"])
    assert [tool["status"] for tool in outcome.calls] == ["completed", "completed"]
    assert path.read_bytes() == b"two\r\n"
    assert files.buffers == {str(path): "one\nunsaved\n"}


@pytest.mark.parametrize("client", [CODECOMPANION, "some other editor"])
async def test_a_file_that_is_not_there_is_not_an_empty_one(visited: Visit, client: str) -> None:
    script = Script(
        turn(call("read_file", path="missing.txt")),
        turn(expect("does not exist"), call("write_file", path="missing.txt", content="new\n")),
        turn(say("made")),
    )
    async with visited(script, client=client, **FILES) as guest:
        guest.serve("fs/read_text_file", FilesWithoutBuffers().read)
        guest.will_answer(*(["allow_once"] if client == CODECOMPANION else []))
        outcome = await guest.prompt("go")
    assert [tool["status"] for tool in outcome.calls] == ["failed", "completed"]
    [diff] = [item for item in outcome.calls[1]["content"] if item["type"] == "diff"]
    assert "oldText" not in diff
