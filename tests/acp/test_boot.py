"""Stage one on descriptors that are not what they should be."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.editors.exchange import Json
from tests.support.quiet import QUIET

PATIENCE = 30  # seconds any process may take; only a hang takes that long
INITIALIZE = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
LIST = b'{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}\n'


def _environment(home: Path, **more: str) -> dict[str, str]:
    return {**QUIET, "HOME": str(home), "CLAW_ACP_HOME": str(home / "claw"), "PATH": os.environ["PATH"], **more}


def _run(
    sent: bytes, home: Path, *, redirect: str = "", main: str = "", **env: str
) -> "subprocess.CompletedProcess[bytes]":
    command = f"exec '{sys.executable}' -m claw_acp {redirect}"
    arguments = ["/bin/sh", "-c", command] if not main else [sys.executable, "-c", main]
    return subprocess.run(
        arguments, input=sent, capture_output=True, env=_environment(home, **env), timeout=PATIENCE, check=False
    )


def _answers(output: bytes) -> list[Json]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.parametrize("redirect", ["<&-", ">&-", "<&- >&-", "> /dev/full", "< /dev/null >&-"])
def test_a_descriptor_that_cannot_be_used_is_one_sentence(home: Path, redirect: str) -> None:
    done = _run(INITIALIZE, home, redirect=redirect)
    assert done.returncode == 1
    assert done.stderr.startswith(b"claw-acp: cannot talk on stdin and stdout: ")
    assert done.stderr.count(b"\n") == 1


def test_with_stderr_closed_everything_works(home: Path) -> None:
    done = _run(INITIALIZE + LIST, home, redirect="2>&-")
    assert done.returncode == 0
    assert [answer["id"] for answer in _answers(done.stdout)] == [1, 2]


def test_an_editor_that_left_before_the_answer_is_no_trouble(home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "claw_acp"],
        input=INITIALIZE,
        stdout=writer,
        stderr=subprocess.PIPE,
        env=_environment(home),
        timeout=PATIENCE,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("method", ["initialize", "session/list"])
def test_a_first_frame_with_a_very_long_number_is_answered(home: Path, method: str) -> None:
    number = "1" + "0" * 400
    line = f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"protocolVersion":1}}}}\n'
    done = _run(line.encode(), home)
    assert done.returncode == 0
    assert [answer["id"] for answer in _answers(done.stdout)] == [int(number)]


def test_a_first_frame_that_stage_one_stumbles_over_is_answered_by_stage_two(home: Path) -> None:
    main = """
import sys
from claw_acp.acp import boot
def stumble(line): raise OverflowError
boot.decode = stumble
sys.exit(boot.main())
"""
    done = _run(INITIALIZE, home, main=main)
    assert (done.returncode, done.stderr) == (0, b"")
    assert _answers(done.stdout)[0]["result"]["protocolVersion"] == 1


def test_requests_from_a_file_are_answered(home: Path) -> None:
    new = json.dumps(
        {"jsonrpc": "2.0", "id": 3, "method": "session/new", "params": {"cwd": str(home), "mcpServers": []}}
    )
    done = _run(INITIALIZE + LIST + new.encode(), home)
    assert done.returncode == 0
    answers = {answer["id"]: answer for answer in _answers(done.stdout) if "id" in answer}
    assert answers.keys() == {1, 2, 3}
    assert all("result" in answer for answer in answers.values())


def test_one_socket_as_stdin_and_stdout_serves_request_after_request(home: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command, end = [sys.executable, "-m", "claw_acp"], theirs.fileno()
        child = subprocess.Popen(command, stdin=end, stdout=end, env=_environment(home))
        theirs.close()
        ours.settimeout(PATIENCE)
        with ours.makefile("rb") as lines:
            for number, request in ((1, INITIALIZE), (2, LIST), (2, LIST)):
                ours.sendall(request)
                assert json.loads(lines.readline())["id"] == number
            ours.shutdown(socket.SHUT_WR)
            assert lines.read() == b""
        assert child.wait(PATIENCE) == 0


def test_the_trace_has_the_first_exchange_too(home: Path) -> None:
    trace = home / "trace.jsonl"
    _run(INITIALIZE + LIST, home, CLAW_ACP_TRACE=str(trace))
    entries = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [(entry["direction"], entry["frame"]["id"]) for entry in entries] == [
        ("in", 1), ("out", 1), ("in", 2), ("out", 2),
    ]  # fmt: skip
    assert entries[0]["frame"] == json.loads(INITIALIZE)
    assert "agentCapabilities" in entries[1]["frame"]["result"]


@pytest.mark.parametrize(("before", "ours"), [(None, True), ("logfire", False), ("__all__", False)])
def test_pydantic_looks_for_no_plugins_and_commands_do_not_inherit_that(
    home: Path,
    before: str | None,
    ours: bool,  # noqa: FBT001 - a table
) -> None:
    main = """
import os, sys
from claw_acp.acp import boot
from claw_acp.workspace.environment import command_environment
code = boot.main()
print(os.environ["PYDANTIC_DISABLE_PLUGINS"], command_environment(os.environ, extra={}).get("PYDANTIC_DISABLE_PLUGINS"))
"""
    env = {} if before is None else {"PYDANTIC_DISABLE_PLUGINS": before}
    done = _run(b"", home, main=main, **env)
    assert done.stderr.decode().split() == ["__all__" if ours else before, "None" if ours else before]
