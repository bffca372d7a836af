"""A client that does not want something done, as opposed to one that cannot do it: nothing is done behind its back."""

from pathlib import Path

import pytest

from claw_acp.acp.v1.refusal import is_refusal, words
from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.errors import RpcError
from tests.support.editor import FULL
from tests.support.editor_fixtures import Spawn
from tests.support.exchange import Json, RpcFailure, shown_text
from tests.support.script_files import Script, Step, call, say, turn

DENIED = RpcFailure(-32603, "Internal error", {"details": "Permission denied by --deny-all"})


async def _refusing(opened: Spawn, method: str, step: Step) -> Json:
    """The call, when the client refuses this method."""
    async with opened(
        script=Script(turn(step), turn(say("then not"))), config='mode = "auto"', capabilities=FULL
    ) as editor:
        editor.serve(method, lambda _: DENIED)
        outcome = await editor.prompt("go")
        assert outcome.text == "then not"
    [tool] = outcome.calls
    assert tool["status"] == "failed"
    assert "Permission denied by --deny-all" in shown_text(tool)
    return tool


@pytest.mark.case(36)
async def test_a_command_whose_terminal_is_refused_is_not_run(opened: Spawn, project: Path) -> None:
    await _refusing(opened, "terminal/create", call("shell", command="touch made.txt"))
    assert not (project / "made.txt").exists()


@pytest.mark.case(36)
async def test_a_file_that_may_not_be_written_is_not_written_to_disk(opened: Spawn, project: Path) -> None:
    await _refusing(opened, "fs/write_text_file", call("write_file", path="new.txt", content="x"))
    assert not (project / "new.txt").exists()


@pytest.mark.case(36)
async def test_a_file_that_may_not_be_read_is_not_read_from_disk(opened: Spawn, project: Path) -> None:
    (project / "a.txt").write_text("the treasure\n")
    tool = await _refusing(opened, "fs/read_text_file", call("read_file", path="a.txt"))
    assert "treasure" not in str(tool)


async def test_what_an_editor_could_not_do_is_told_with_what_it_says_of_it(opened: Spawn) -> None:
    script = Script(turn(call("shell", command="echo done")), turn(say("fine")))
    notices: Json = {**FULL, "session": {"notices": {}}}
    async with opened(script=script, config='mode = "auto"', capabilities=notices) as editor:
        editor.serve("terminal/create", lambda _: RpcFailure(-32603, "Internal error", {"details": "no pty left"}))
        outcome = await editor.prompt("go")
        [notice] = editor.updates("notice")
    assert [tool["status"] for tool in outcome.calls] == ["completed"]
    assert notice["description"] == "Internal error: no pty left; done locally"


@pytest.mark.parametrize(
    ("message", "data", "refused"),
    [
        ("Internal error", {"details": "Permission denied for terminal/create"}, True),
        ("Internal error", {"details": "Permission prompt unavailable in non-interactive mode"}, True),
        ("User rejected the write", None, True),
        ("Forbidden", None, True),
        ("writing is not allowed here", {"why": 1}, True),
        ("EACCES: permission denied, open '/x'", None, True),
        ("Internal error", "operation not permitted", True),
        ("Resource not found: file:///x", {"uri": "file:///x"}, False),
        ("Internal error", {"details": "ENOENT: no such file or directory"}, False),
        ("Internal error", {"details": "  "}, False),
        ("Method not found", ["denied"], False),
        ("the buffer is on fire", None, False),
    ],
)
def test_a_refusal_is_known_by_its_words(message: str, data: JsonValue, *, refused: bool) -> None:
    error = RpcError(-32603, message, data)
    assert is_refusal(error) is refused
    assert words(error).startswith(message)


def test_silence_is_no_refusal() -> None:
    assert not is_refusal(TimeoutError("permission denied"))
