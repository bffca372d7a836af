"""One process for each request: what is said, what is heard, and everything that can go wrong."""

import base64
import json
import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from claw_acp.contracts.provider import ChatRequest, OneTool, TextChunk, ToolSpec
from claw_acp.contracts.provider_setup import ProviderProgram, ProviderSetup
from claw_acp.core.errors import (
    ConfigError,
    MalformedReply,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
    RequestRejected,
)
from claw_acp.core.messages import ImagePart, Message, TextPart, ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.binary.failures import PluginNotStarted
from claw_acp.providers.binary.provider import BinaryProvider
from tests.providers.binary.support import ONESHOT, gone, heard, oneshot, program, provider_of, runs, saying
from tests.providers.conversation import READ, asking

SHORT = 0.4  # seconds for calls that must run into their deadline
BIG = "x" * 300_000  # more than a pipe holds


async def failure(provider: BinaryProvider, request: ChatRequest | None = None) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await provider.chat(request or saying("hi"))
    assert caught.value.provider == "mine"
    return caught.value


def shell(script: str) -> BinaryProvider:
    return provider_of(ProviderProgram(command="/bin/sh", args=("-c", script), protocol="oneshot"))


# ------------------------------------------------------------------ the request


async def test_a_request_is_one_line_of_exactly_these_members() -> None:
    call = ToolCall(id="c1", name="read_file", arguments='{"path":"ü"}')
    messages = (
        Message.system("Be brief."),
        Message.user(TextPart(text="See "), ImagePart(data="aGk=", mime_type="image/png")),
        Message.assistant("", tool_calls=(call,)),
        Message.tool(call, "print(1)"),
    )
    request = asking(*messages, model="large", tools=True, max_tokens=100, temperature=0.5, top_p=1.0, stop=("x",))
    line = (await oneshot("request").chat(request)).text
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert list(json.loads(line).items()) == [
        ("jsonrpc", "2.0"),
        ("id", 1),
        ("method", "chat"),
        ("params", {
            "messages": [
                {"role": "system", "content": "Be brief.", "content_parts": []},
                {"role": "user", "content": "See ", "content_parts": [
                    {"type": "text", "text": "See "},
                    {"type": "image", "source": {"kind": "base64", "data": "aGk="}, "media_type": "image/png"},
                ]},
                {"role": "assistant", "content": "", "content_parts": [],
                 "tool_calls": [{"id": "c1", "name": "read_file", "arguments": '{"path":"ü"}'}]},
                {"role": "tool", "content": "print(1)", "content_parts": [], "tool_call_id": "c1"},
            ],
            "tools": [{"name": "read_file", "description": "Read a file", "parameters": READ.parameters}],
            "model": "large",
            "options": {"max_tokens": 100, "temperature": 0.5, "top_p": 1.0},
        }),
    ]  # fmt: skip


@pytest.mark.parametrize("model", ["", PLUGIN_DEFAULT])
async def test_without_a_model_the_plugin_chooses(model: str) -> None:
    said = json.loads((await oneshot("request").chat(asking(model=model))).text)["params"]
    assert (said["model"], said["tools"], said["options"]) == (None, [], {})


@pytest.mark.parametrize(
    ("choice", "shown"), [("none", []), ("required", ["read_file", "b"]), (OneTool(name="b"), ["b"])]
)
async def test_a_tool_choice_shows_only_what_may_be_called(choice: object, shown: Sequence[str]) -> None:
    other = ToolSpec(name="b", description="", parameters={"type": "object"})
    request = replace(saying("hi", tool_choice=choice), tools=(READ, other))
    said = json.loads((await oneshot("request").chat(request)).text)["params"]["tools"]
    assert [tool["name"] for tool in said] == shown


async def test_a_plugin_has_our_environment_and_what_its_settings_add(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OURS", "kept")
    mine = program(ONESHOT, "environment", "ADDED", protocol="oneshot", cwd=tmp_path, env={"ADDED": "yes"})
    added, cwd, pid, group = json.loads((await provider_of(mine).chat(saying("hi"))).text)
    assert (added, cwd, pid) == ("yes", str(tmp_path), group)
    assert group != os.getpgid(0)
    assert json.loads((await oneshot("environment", "OURS").chat(saying("hi"))).text)[:2] == ["kept", str(Path.cwd())]


async def test_a_request_that_is_no_json_says_which_part() -> None:
    tool = ToolSpec(name="t", description="", parameters={"default": float("nan")})
    error = await failure(oneshot("request"), replace(saying("hi"), tools=(tool,)))
    assert isinstance(error, RequestRejected)
    assert error.message.startswith("Failed to serialize tool definition for plugin 'mine': ")
    error = await failure(oneshot("request"), saying("hi", temperature=float("inf")))
    assert error.message.startswith("Failed to serialize provider plugin request: ")


# ------------------------------------------------------------------ the answer


async def test_the_last_line_that_is_not_blank_is_the_answer() -> None:
    assert (await oneshot("chatty").chat(saying("hi"))).text == "last"
    assert (await oneshot("half").chat(saying("hi"))).text == "no line end"


async def test_an_answer_is_one_chunk() -> None:
    events, response = await heard(oneshot("chatty"), "hi")
    assert events == [TextChunk(text="last")]
    assert response.text == "last"


async def test_a_plugin_need_not_read_its_request() -> None:
    assert (await oneshot("unread").chat(saying(BIG))).text == "I know what you want"


async def test_bytes_that_are_no_text_are_marked() -> None:
    assert (await oneshot("bytes").chat(saying("hi"))).text == "caf�"


async def test_ten_megabytes_of_answer_and_five_of_complaints_arrive() -> None:
    size = 10 * 1024**2
    assert (await oneshot("large", str(size)).chat(saying(BIG))).text == "x" * size
    assert (await oneshot("complains").chat(saying(BIG))).text == "said"


# ------------------------------------------------------------------ the ten errors


async def test_a_program_that_cannot_be_started_is_not_tried_again_and_says_why(tmp_path: Path) -> None:
    plain, lost, foreign = tmp_path / "plain", tmp_path / "lost", tmp_path / "foreign"
    plain.write_text("#!/bin/sh\n")
    lost.write_text("#!/no/such/interpreter\n")
    foreign.write_bytes(b"\x7fNOT")
    lost.chmod(0o755)
    foreign.chmod(0o755)
    for command, reason in (
        ("/no/such/program", "no such file"),
        ("no-such-program", "there is no such program on the PATH"),
        (str(tmp_path), "it is a directory"),
        (str(plain), f"not executable: chmod +x {plain}"),
        (str(lost), "the interpreter that its first line names is not there"),
        (str(foreign), "not a program of this machine; a script names its interpreter in its first line (#!)"),
    ):
        error = await failure(provider_of(ProviderProgram(command=command, protocol="oneshot")))
        assert error.message == f"Failed to spawn provider plugin 'mine' ({command}): {reason}"
        assert isinstance(error, PluginNotStarted)
        assert not error.retryable
    away = tmp_path / "away"
    error = await failure(provider_of(ProviderProgram(command="sh", cwd=away, protocol="oneshot")))
    assert error.message == f"Failed to spawn provider plugin 'mine' (sh): there is no directory {away}"
    assert "null" in (await failure(provider_of(ProviderProgram(command="a\0b", protocol="oneshot")))).message


async def test_a_plugin_that_takes_nothing_and_says_nothing_could_not_be_written_to() -> None:
    error = await failure(oneshot("mute"), saying(BIG))
    assert isinstance(error, ProviderUnavailable)
    assert error.message == "Failed to write to provider plugin 'mine' stdin: [Errno 32] Broken pipe"


@pytest.mark.parametrize("mode", ["deaf", "hangs"])
async def test_one_deadline_covers_the_whole_call(mode: str) -> None:
    error = await failure(oneshot(mode, timeout=SHORT), saying(BIG))
    assert isinstance(error, ProviderTimeout)
    assert error.message == "Provider plugin 'mine' timed out after 0.4s"


async def test_a_plugin_that_quits_without_reading_is_heard() -> None:
    error = await failure(oneshot("quits"), saying(BIG))
    assert isinstance(error, ProviderUnavailable)
    assert error.message == "Provider plugin 'mine' exited with code 9: no licence"


async def test_the_words_of_a_failed_plugin_are_shown_without_keys() -> None:
    error = await failure(oneshot("exits", "3", "sk-ant-abcdefgh1234567890ABCDEFGH"))
    assert error.message == "Provider plugin 'mine' exited with code 3: it is \\x1b[31mbroken\ntoken=sk-a[redacted]"
    error = await failure(oneshot("exits", "3", "stdout"))
    assert error.message == "Provider plugin 'mine' exited with code 3: only on stdout"
    error = await failure(oneshot("dies"))
    assert error.message == "Provider plugin 'mine' exited with code -1: ended by SIGKILL"


async def test_what_the_settings_give_a_plugin_is_never_shown() -> None:
    secret = "the-licence-of-example"
    mine = program(ONESHOT, "exits", "3", secret, protocol="oneshot", env={"LICENCE": secret})
    assert secret not in (await failure(provider_of(mine))).message


async def test_what_a_program_said_before_a_signal_is_all_that_is_shown() -> None:
    error = await failure(shell("echo boom >&2; kill -9 $$"))
    assert error.message == "Provider plugin 'mine' exited with code -1: boom"


async def test_a_program_that_closed_its_output_is_not_waited_for() -> None:
    assert (await failure(shell("exec >&-; exec sleep 1000"))).message == "Provider plugin 'mine' produced no output"
    said = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": "hello"}})
    assert (await shell(f"echo '{said}'; exec >&-; exec sleep 1000").chat(saying("hi"))).text == "hello"


async def test_silence_is_an_error_of_its_own() -> None:
    error = await failure(oneshot("raw", " \n\r\n"))
    assert isinstance(error, MalformedReply)
    assert error.message == "Provider plugin 'mine' produced no output"


async def test_a_line_that_is_no_response_is_quoted() -> None:
    error = await failure(oneshot("raw", "Grüße " * 100))
    assert isinstance(error, MalformedReply)
    start, _, raw = error.message.partition(" (raw: ")
    assert start == "Provider plugin 'mine' returned invalid JSON-RPC: not JSON"
    assert raw.startswith("Grüße Grüße")
    assert len(raw) <= 202


async def test_an_error_object_is_shown_whatever_the_exit_code() -> None:
    error = await failure(oneshot("fails", "-32000"))
    assert isinstance(error, ProviderUnavailable)
    assert error.message == "Provider plugin 'mine' error (code -32000): model unavailable"
    error = await failure(oneshot("fails", "-31002"))
    assert isinstance(error, RateLimited)
    assert error.retry_after == 3.0
    assert error.message.startswith(
        "Provider plugin 'mine' error (code -31002): model unavailable. That is rate_limited:"
    )


async def test_neither_result_nor_error_is_an_error_of_its_own() -> None:
    error = await failure(oneshot("raw", '{"jsonrpc":"2.0","id":1,"result":null}'))
    assert error.message == "Provider plugin 'mine' returned neither result nor error"


async def test_a_binary_provider_needs_a_program() -> None:
    with pytest.raises(ConfigError, match=r"\[providers\.mine\].*command"):
        BinaryProvider(ProviderSetup(name="mine", kind="binary"))


# ------------------------------------------------------------------ what is left behind


async def test_what_a_plugin_started_ends_with_it() -> None:
    orphan = int((await oneshot("forks").chat(saying("hi"))).text)
    await gone(orphan)


async def test_a_cancelled_call_ends_its_plugin(tmp_path: Path) -> None:
    script = tmp_path / "plugin.sh"
    script.write_text(f"sleep 1000 & echo $$ $! > {tmp_path}/pids.new; mv {tmp_path}/pids.new {tmp_path}/pids; wait\n")
    provider = provider_of(ProviderProgram(command="/bin/sh", args=(str(script),), protocol="oneshot"))
    found: list[int] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(provider.chat, saying("hi"))
        pids = anyio.Path(tmp_path / "pids")
        while not await pids.exists():  # noqa: ASYNC110 - another process makes the file
            await anyio.sleep(0.005)
        found = [int(word) for word in (await pids.read_text()).split()]
        assert all(map(runs, found))
        tasks.cancel_scope.cancel()
    for pid in found:
        await gone(pid)


async def test_an_image_arrives_as_it_was() -> None:
    data = base64.b64encode(bytes(range(256))).decode()
    request = asking(Message.user(ImagePart(data=data, mime_type="image/webp")))
    [message] = json.loads((await oneshot("request").chat(request)).text)["params"]["messages"]
    assert message["content"] == ""
    assert message["content_parts"] == [
        {"type": "image", "source": {"kind": "base64", "data": data}, "media_type": "image/webp"}
    ]
