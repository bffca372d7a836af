"""The Python kit: what a plugin that is written with it does in the corners."""

import json
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from claw_acp.core.plugin_errors import PLUGIN_ERRORS
from claw_acp.kit import ChatFailed, ChatResult, Plugin, Stream, ToolRequest
from claw_acp.kit.wire import ChatDelta
from claw_acp.verify.provider.player import play
from claw_acp.verify.provider.vector import Mode, Vector
from claw_acp.verify.rule import Failed
from tests.provider_protocol.plugins import settings_for
from tests.support.program.forked_process import forked_python

Program = Callable[[str], tuple[str, ...]]

HELLO: Any = (
    {"send": {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1, "hostInfo": {}}}},
    {"answer": 0},
)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    def write(body: str) -> tuple[str, ...]:
        path = tmp_path / "plugin.py"
        path.write_text(
            "from claw_acp.kit import *\n"
            f"plugin = Plugin('mine', models=[ModelRow(id='m')])\n{textwrap.dedent(body)}\nplugin.run()\n"
        )
        return forked_python(), str(path)

    return write


def ask(request_id: int, text: str = "hi") -> dict[str, Any]:
    params = {"messages": [{"role": "user", "content": text}]}
    return {"send": {"jsonrpc": "2.0", "id": request_id, "method": "chat", "params": params}}


def talk(*steps: Any, mode: Mode = "session") -> Vector:
    return Vector(id="session.x", level="MUST", mode=mode, model="any", text="x", steps=(*HELLO, *steps))


async def test_a_handler_may_return_the_text(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            return request.last.content.upper()
        """
    )
    await play(talk(ask(1), {"answer": 1, "result": {"content": "HI"}, "deltas": None}), settings_for(command))


async def test_what_is_printed_goes_to_standard_error(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            print("asked")
            return "yes"
        """
    )
    await play(talk(ask(1), {"answer": 1, "result": {"content": "yes"}}), settings_for(command))


async def test_a_handler_that_breaks_fails_its_request_and_no_other(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            stream.text("before")
            1 / int(request.last.content)
        """
    )
    told = "the plugin failed: ZeroDivisionError: division by zero"
    failed = {"answer": 1, "error": {"code": -32603, "message": told}, "deltas": {"text": "before"}}
    again = {"answer": 2, "error": {"code": -32603}}
    await play(talk(ask(1, "0"), failed, ask(2, "x"), again, ask(3, "1"), {"answer": 3}), settings_for(command))


def test_the_author_sees_where_a_handler_broke(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            return undefined_name
        """
    )
    request = json.dumps(ask(1)["send"])
    done = subprocess.run(command, input=request, capture_output=True, text=True, timeout=30, check=False)
    assert "NameError: name 'undefined_name' is not defined" in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == -32603


def test_a_handler_that_is_not_async_is_refused_at_once() -> None:
    def handler(_request: object, _stream: object) -> Any:
        return "text"

    with pytest.raises(TypeError, match="write `async def`"):
        Plugin("mine").chat(handler)


async def test_two_chats_with_one_id_are_not_mixed_up(program: Program) -> None:
    command = program(
        """
        import anyio

        @plugin.chat
        async def chat(request, stream):
            await anyio.sleep_forever()
        """
    )
    vector = talk(ask(1), ask(1), {"answer": 1, "error": {"code": -32600, "message": "$text"}})
    await play(vector, settings_for(command))


def test_a_host_that_no_longer_reads_ends_the_plugin_quietly(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            for _ in range(1000):
                stream.text("x" * 1000)
        """
    )
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write((json.dumps(HELLO[0]["send"]) + "\n").encode())
        process.stdin.flush()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 0


async def test_failing_on_purpose_is_an_error_of_the_protocol(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            raise ChatFailed("model_not_found", "there is no such model")
        """
    )
    error = {"code": -31007, "message": "there is no such model"}
    await play(talk(ask(1), {"answer": 1, "error": error}), settings_for(command))


async def test_a_chat_whose_pieces_belie_the_result_is_found(program: Program) -> None:
    command = program(
        """
        @plugin.chat
        async def chat(request, stream):
            stream.text("one")
            return "two"
        """
    )
    with pytest.raises(Failed, match="do not make up the content"):
        await play(talk(ask(1), {"answer": 1}), settings_for(command))


async def test_chats_under_way_are_given_up_when_the_host_goes_away(program: Program) -> None:
    command = program(
        """
        import anyio

        @plugin.chat
        async def chat(request, stream):
            stream.text("never ends")
            await anyio.sleep_forever()
        """
    )
    await play(talk(ask(1), {"closeInput": True}, {"exit": 2}), settings_for(command))


async def test_models_may_be_asked_for_each_time(program: Program) -> None:
    command = program(
        """
        async def offered():
            return [ModelRow(id="fresh", contextWindow=10)]

        plugin = Plugin("mine", models=offered)
        """
    )
    listed = {"models": [{"id": "fresh", "contextWindow": 10}]}
    request = {"send": {"jsonrpc": "2.0", "id": 1, "method": "models/list"}}
    await play(talk(request, {"answer": 1, "result": listed}), settings_for(command))


@pytest.mark.parametrize("error", PLUGIN_ERRORS, ids=lambda error: error.name)
def test_every_error_of_the_protocol_can_be_raised_by_name(error: Any) -> None:
    failed = ChatFailed(error.name, "so it is", retry_after=3)
    assert (failed.code, failed.message, failed.data) == (error.code, "so it is", {"retryAfter": 3})


def test_a_stream_makes_the_result() -> None:
    sent: list[ChatDelta] = []
    stream = Stream("a", send=sent.append)
    stream.thought("Hm.")
    stream.text("Hel")
    stream.text("")
    stream.text("lo")
    stream.tool_call(ToolRequest(id="c", name="read", arguments={"path": "a"}))
    stream.usage(input_tokens=3, output_tokens=2)
    result = stream.result(None)
    assert [delta.type for delta in sent] == ["thought", "text", "text", "tool_call"]
    assert sent[3].arguments == '{"path": "a"}'
    assert (result.content, result.reasoning, result.stopReason) == ("Hello", "Hm.", "tool_calls")
    assert result.usage is not None
    assert result.usage.input_tokens == 3
    assert stream.result(ChatResult(content="other")).content == "other"
