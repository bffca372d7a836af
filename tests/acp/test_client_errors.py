"""What a client answers counts, errors too: nothing is done behind its back, except by one that has no such method."""

from pathlib import Path

import pytest

from claw_acp.acp.v1.client_errors import words
from claw_acp.core.json_value import JsonValue
from claw_acp.rpc.errors import RpcError
from tests.support.editors.editor import FULL
from tests.support.editors.exchange import Json, Outcome, RpcFailure, shown_text
from tests.support.editors.shared_house import Guest, SharedHouse
from tests.support.script_files import Script, Step, call, say, turn

CALLS: dict[str, Step] = {
    "terminal/create": call("shell", command="touch made.txt"),
    "fs/write_text_file": call("write_file", path="made.txt", content="x"),
    "fs/read_text_file": call("read_file", path="a.txt"),
}
NOTICES: Json = {**FULL, "session": {"notices": {}}}


async def _asked(guest: Guest, times: int = 1) -> list[Outcome]:
    await guest.new_session()
    return [await guest.prompt("go") for _ in range(times)]


@pytest.mark.case(36)
@pytest.mark.parametrize("method", CALLS)
@pytest.mark.parametrize(
    ("code", "message", "data"),
    [
        (-32603, "Internal error", {"details": "Permission denied by --deny-all"}),
        (-32603, "Interner Fehler", {"details": "Das möchte ich nicht"}),
        (-32603, "ユーザーが拒否しました", None),
        (-32000, "Authentication required", None),
        (-32002, "Resource not found", {"uri": "file:///a.txt"}),
        (-32602, "the method was not found in good shape", None),
        (0, "", None),
    ],
)
async def test_what_a_client_answers_with_an_error_is_not_done(
    project: Path, home: Path, method: str, code: int, message: str, data: Json | None
) -> None:
    (project / "a.txt").write_text("the treasure\n")
    script = Script(turn(CALLS[method]), turn(say("then not")))
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        guest = await house.visit(**FULL)
        guest.serve(method, lambda _: RpcFailure(code, message, data))
        [outcome] = await _asked(guest)
    [tool] = outcome.calls
    assert (outcome.text, tool["status"]) == ("then not", "failed")
    assert words(RpcError(code, message, data)) in shown_text(tool)
    assert not (project / "made.txt").exists()
    assert "treasure" not in str(outcome.updates)


@pytest.mark.case(36)
@pytest.mark.parametrize("method", CALLS)
async def test_a_client_without_a_method_it_offered_is_not_asked_again_and_the_person_is_told(
    project: Path, home: Path, method: str
) -> None:
    (project / "a.txt").write_text("the treasure\n")
    script = Script(turn(CALLS[method]), turn(say("done")), loop=True)
    async with SharedHouse.opened(project=project, home=home, script=script, config='mode = "auto"') as house:
        guest = await house.visit(**NOTICES)
        guest.serve(method, lambda _: RpcFailure(-32601, "Methode nicht gefunden"))
        first, second = await _asked(guest, times=2)
        [notice] = guest.updates("notice")
    assert [tool["status"] for tool in (*first.calls, *second.calls)] == ["completed", "completed"]
    assert len(guest.received(method)) == 1
    assert (notice["severity"], "In this session" in notice["description"]) == ("warning", True)


@pytest.mark.parametrize("answer", [None, {"text": "not what was promised"}])
async def test_an_answer_that_cannot_be_read_is_no_answer(project: Path, home: Path, answer: Json | None) -> None:
    script = Script(turn(CALLS["fs/read_text_file"]), turn(say("then not")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guest = await house.visit(**FULL)
        guest.serve("fs/read_text_file", lambda _: answer)
        [outcome] = await _asked(guest)
    assert [tool["status"] for tool in outcome.calls] == ["failed"]


async def test_files_outside_the_project_are_not_the_editors(project: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("ready = 1\n")
    script = Script(turn(call("read_file", path=str(tmp_path / "library.py"))), turn(say("seen")))
    async with SharedHouse.opened(project=project, home=home, script=script) as house:
        guest = await house.visit(**FULL)
        guest.serve("fs/read_text_file", lambda _: RpcFailure(-32603, "not in the worktree"))
        guest.will_answer("allow_once")
        [outcome] = await _asked(guest)
    assert [tool["status"] for tool in outcome.calls] == ["completed"]
    assert guest.received("fs/read_text_file") == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"details": "no pty left"}, "Internal error: no pty left"),
        ("no pty left", "Internal error: no pty left"),
        ({"details": "  "}, "Internal error"),
        ({"why": 1}, "Internal error"),
        (["denied"], "Internal error"),
        (None, "Internal error"),
    ],
)
def test_an_error_is_told_with_its_details(data: JsonValue, told: str) -> None:
    assert words(RpcError(-32603, "Internal error", data)) == told


def test_silence_is_told_as_such() -> None:
    assert words(TimeoutError()) == "no answer in time"
