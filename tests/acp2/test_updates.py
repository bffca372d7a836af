"""What updates say: calls that are created and patched, output that goes out once, diffs that Git can apply."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acp2.conftest import Spawn
from tests.support.editors.editor_v2 import printed
from tests.support.editors.exchange import Json
from tests.support.script_files import Script, call, say, turn
from tests.support.toolchain import missing

EDIT = 'mode = "edit"'
AUTO = 'mode = "auto"'


@pytest.mark.case(7, 50)
@pytest.mark.rule("v2.tool-upsert")
async def test_a_call_is_created_by_its_first_update_and_patched_by_later_ones(opened: Spawn) -> None:
    script = Script(turn(call("read_file", path="a.txt")), turn(say("ok")))
    async with opened(script=script) as editor:
        done = await editor.run("read")
        updates = [update for update in done.updates if update["sessionUpdate"] == "tool_call_update"]
        assert updates[0]["status"] == "pending"
        assert {"name", "title", "kind", "rawInput", "locations"} <= set(updates[0])
        assert updates[1] == {
            "sessionUpdate": "tool_call_update",
            "toolCallId": updates[0]["toolCallId"],
            "status": "in_progress",
        }
        assert (updates[-1]["status"], updates[-1]["capabilities"]) == ("completed", None)
        assert not {"name", "title", "kind", "rawInput"} & set(updates[-1])
        assert len({update["toolCallId"] for update in updates}) == 1


@pytest.mark.rule("v2.terminal-bytes")
async def test_output_goes_out_once_as_it_comes(opened: Spawn) -> None:
    line = "for i in 1 2 3; do echo zähler $i; sleep 0.3; done; exit 3"
    async with opened(script=Script(turn(call("shell", command=line)), turn(say("ok"))), config=AUTO) as editor:
        done = await editor.run("run")
        (call_shown,) = done.calls
        (content,) = [item for item in call_shown["content"] if item["type"] == "terminal"]
        terminal = content["terminalId"]
        begun, *others = [item for item in done.updates if item["sessionUpdate"] == "terminal_update"]
        assert (begun["command"], begun["cwd"]) == (line, str(editor.project))
        assert [item["exitStatus"] for item in others] == [{"exitCode": 3}]
        assert not any("output" in item for item in others), "what was sent is not sent again"
        assert printed(done.updates, terminal) == "zähler 1\nzähler 2\nzähler 3\n"
        _, replayed = await editor.resume(replay=True)
        assert printed(replayed, terminal) == "zähler 1\nzähler 2\nzähler 3\n"
        assert not [item for item in replayed if item["sessionUpdate"] == "terminal_output_chunk"]


@pytest.mark.rule("v2.terminal-bytes")
async def test_more_output_than_is_shown_ends_with_what_came_last(opened: Spawn) -> None:
    line = "seq 1 200000; sleep 0.6; echo the end"
    async with opened(script=Script(turn(call("shell", command=line)), turn(say("ok"))), config=AUTO) as editor:
        done = await editor.run("run")
        terminal = next(item["terminalId"] for item in done.updates if item["sessionUpdate"] == "terminal_update")
        assert printed(done.updates, terminal).endswith("200000\nthe end\n")


@pytest.mark.rule("v2.diff-paths", "v2.diff-consistent", "v2.diff-patch")
@pytest.mark.parametrize("name", ["a.txt", "with space.txt", "ümläut.txt"])
@pytest.mark.parametrize(
    ("before", "tool", "arguments"),
    [
        ("one\ntwo\n", "edit_file", {"edits": [{"old_text": "one", "new_text": "1"}]}),
        ("one\ntwo", "edit_file", {"edits": [{"old_text": "two", "new_text": "2\n"}]}),
        (None, "write_file", {"content": "new\n"}),
        (None, "write_file", {"content": "no newline"}),
        ("old\r\n", "write_file", {"content": "new\r\n"}),
    ],
    ids=["modify", "newline", "add", "add without newline", "crlf"],
)
async def test_a_diff_is_a_patch_that_git_applies(
    opened: Spawn, project: Path, *, name: str, before: str | None, tool: str, arguments: Json
) -> None:
    path = project / name
    path.unlink(missing_ok=True)
    if before is not None:
        path.write_text(before, newline="")
    steps: list[Any] = [] if before is None else [turn(call("read_file", path=name))]
    script = Script(*steps, turn(call(tool, path=name, **arguments)), turn(say("ok")))
    async with opened(script=script, config=EDIT) as editor:
        done = await editor.run("change")
        (diff,) = [item for item in done.calls[-1]["content"] if item["type"] == "diff"]
        operation = "add" if before is None else "modify"
        assert diff["changes"] == [{"operation": operation, "path": str(path), "fileType": "text"}]
        assert diff["patch"]["format"] == "git_patch"
        after = path.read_bytes()
        _apply(diff["patch"]["text"], path, before)
        assert path.read_bytes() == after


def _apply(patch: str, path: Path, before: str | None) -> None:
    """Have Git make the change again."""
    if reason := missing("git"):
        pytest.skip(reason)
    if before is None:
        path.unlink()
    else:
        path.write_text(before, newline="")
    command = ["git", "apply", "--unsafe-paths", "-p1", "-"]
    subprocess.run([*command[:2], "--check", *command[2:]], input=patch.encode(), cwd="/", check=True)
    subprocess.run(command, input=patch.encode(), cwd="/", check=True)


@pytest.mark.rule("v2.null-clears", "v2.open-enums", "v2.meta", "kit2.patch", "kit2.enum")
async def test_unknown_fields_and_private_values_are_accepted_everywhere(opened: Spawn) -> None:
    async with opened(script=Script(turn(say("ok")))) as editor:
        annotations: Json = {"audience": ["user", "_own"], "priority": 7, "stranger": 1}
        block: Json = {"type": "text", "text": "hi", "annotations": annotations, "stranger": {"a": [1]}}
        params: Json = {"sessionId": editor.session, "prompt": [block], "stranger": None}
        begin = len(editor.transcript)
        await editor.request("session/prompt", params)
        assert (await editor.ended(begin)).text == "ok"
        answer, _ = await editor.resume(mcpServers=None, additionalDirectories=None, replayFrom=None, stranger=[])
        assert answer["configOptions"]
