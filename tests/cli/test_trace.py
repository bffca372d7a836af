"""`claw-acp --trace FILE` and `claw-acp trace FILE`."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import claw
from tests.support.editors.editor import Editor
from tests.support.script_files import Script, call, say, turn

AT = "2026-11-21T10:00:{:06.3f}+00:00"


def line(second: float, direction: str, frame: object, *, recording: str = "con_1") -> str:
    entry = {"time": AT.format(second), "recording": recording, "direction": direction, "frame": frame}
    return json.dumps(entry) + "\n"


def printed_of(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return claw("trace", *arguments, home="/nonexistent")


def request(number: object, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_a_conversation_is_recorded_and_printed_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    script = Script(turn(call("shell", command="touch x")), turn(say("done")))
    (project := tmp_path / "project").mkdir()
    (home := tmp_path / "home").mkdir()
    python = ("-m", "claw_acp", "--trace", str(file))
    async with Editor.spawned(project=project, home=home, script=script, python=python) as editor:
        await editor.initialize()
        await editor.new_session()
        editor.will_answer("allow_once")
        await editor.prompt("make x")
        await editor.failing("session/load", {"sessionId": "ses_none", "cwd": "/", "mcpServers": []})
    printed = printed_of(str(file)).stdout.splitlines()
    told = [" ".join(text.split()[1:3]) for text in printed]
    assert told[:2] == ["→ initialize", "← ="]
    assert {"→ session/prompt", "← session/request_permission", "← tool_call", "← agent_message_chunk"} <= set(told)
    assert any("= session/prompt" in text and text.endswith("end_turn") for text in printed)
    assert any('"make x"' in text and f"[{editor.session[-6:]}]" in text for text in printed)
    [error] = printed_of(str(file), "--errors").stdout.splitlines()
    assert "! session/load" in error
    assert "-32002" in error


def test_ids_of_both_sides_and_of_several_connections_are_kept_apart(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_text(
        line(1, "in", request(1, "session/prompt", sessionId="ses_a"))
        + line(1, "in", request(1, "session/list"), recording="con_2")
        + line(2, "out", request(1, "session/request_permission", sessionId="ses_a"))
        + line(2.5, "in", {"jsonrpc": "2.0", "id": 1, "result": {"outcome": {"outcome": "cancelled"}}})
        + line(3, "out", {"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "cancelled"}})
        + line(1.25, "out", {"jsonrpc": "2.0", "id": 1, "result": {"sessions": []}}, recording="con_2")
        + line(4, "out", {"jsonrpc": "2.0", "id": "1", "result": {}})
    )
    entries = [json.loads(text) for text in printed_of(str(file), "--json").stdout.splitlines()]
    assert [(entry["kind"], entry["method"], entry["took"]) for entry in entries[3:]] == [
        ("result", "session/request_permission", 0.5),
        ("result", "session/prompt", 2.0),
        ("result", "session/list", 0.25),
        ("result", "", None),
    ]
    only = printed_of(str(file), "--session", "ses_a").stdout.splitlines()
    assert len(only) == 4
    assert printed_of(str(file), "--method", "session/re*").stdout.count("\n") == 2


@pytest.mark.parametrize(
    "damage",
    ['{"time": "2026-1', "\0\0\0", "[]", '{"frame": 1}', '{"direction": "up", "frame": {}}', "[" * 100_000],
    ids=["cut", "zeros", "list", "no direction", "odd direction", "deep"],
)
def test_what_is_no_recorded_message_is_counted_and_left_out(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "t"
    file.write_text(line(1, "in", request(1, "session/list")) + damage + "\n" + line(2, "in", "garbage, as it came"))
    done = printed_of(str(file))
    assert [text.split()[2] for text in done.stdout.splitlines()] == ["session/list", "?"]
    assert "1 line(s)" in done.stderr


def test_times_methods_and_contents_may_be_of_any_kind(tmp_path: Path) -> None:
    frames: list[object] = [
        {"id": None, "method": 7, "params": []},
        {"id": {}, "result": None},
        {"error": "no object"},
        {"method": "session/update", "params": {"update": {"sessionUpdate": 5, "content": [1]}}},
        {"method": "session/prompt", "params": {"prompt": [3, {"type": "image"}]}},
        {"method": "x", "params": {"text": "\x1b[31mred\nnext"}},
        {},
    ]
    text = (
        "".join(line(1, "out", frame) for frame in frames) + '{"time": 5, "direction": "in", "frame": {"method": "y"}}'
    )
    file = tmp_path / "t"
    file.write_text(text)
    done = printed_of(str(file))
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == len(frames) + 1
    assert "\x1b" not in done.stdout


def test_a_recording_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    done = printed_of(str(tmp_path / "none"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "No such file" in done.stderr


@pytest.mark.parametrize("arguments", [["--trace"], ["--trace", "file", "run"], ["--trace="], ["--trace=file", "run"]])
def test_a_trace_without_a_file_or_with_a_command_is_wrong_usage(arguments: list[str]) -> None:
    done = claw(*arguments, home="/nonexistent")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--trace takes one FILE" in done.stderr


def test_the_file_may_be_written_with_an_equals_sign(tmp_path: Path) -> None:
    done = claw(f"--trace={tmp_path / 'file'}", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
