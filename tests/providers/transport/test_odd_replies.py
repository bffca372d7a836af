"""What services send that is odd and still can be read: halves of characters, counts that are none, objects as text."""

import json
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claw_acp.contracts.provider import ChatResponse, TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import ProviderProgram, ProviderSetup
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import MalformedReply, StreamInterrupted
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Usage
from claw_acp.providers.binary.call import Call
from claw_acp.providers.binary.connection import open_connection
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.replies import read_response
from claw_acp.providers.gemini.provider import GeminiProvider
from claw_acp.providers.ollama.stream import OllamaStream
from claw_acp.providers.openai.stream import OpenAIStream
from claw_acp.providers.transport.surrogates import Pairs
from claw_acp.providers.transport.wire import LARGEST_COUNT, counted
from claw_acp.rpc.dispatcher import OutgoingCall
from tests.support.servers.loopback import Answered, Loopback, serving


def streamed(*deltas: JsonObject, usage: JsonValue = None, finish: str = "stop") -> tuple[list[str], ChatResponse]:
    """The texts and thoughts shown, and the answer."""
    stream = OpenAIStream(provider="p", model="m", clock=SYSTEM_CLOCK)
    chunks: list[JsonObject] = [{"choices": [{"delta": delta}]} for delta in deltas]
    chunks += [{"choices": [{"delta": {}, "finish_reason": finish}]}, {"choices": [], "usage": usage}]
    data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    shown = [event.text for event in stream.feed(data.encode()) if isinstance(event, TextChunk | ThoughtChunk)]
    return shown, stream.response()


def test_halves_of_a_character_in_two_pieces_are_shown_as_one() -> None:
    shown, response = streamed({"content": "a\ud83d"}, {"content": "\ude00b"})
    assert (shown, response.text) == (["a", "😀b"], "a😀b")


def test_halves_in_thinking_and_in_arguments_are_joined_too() -> None:
    call: JsonObject = {"index": 0, "id": "1", "function": {"name": "t", "arguments": '{"a": "\ud83d'}}
    rest: JsonObject = {"index": 0, "function": {"arguments": '\ude00"}'}}
    thoughts: list[JsonObject] = [{"reasoning_content": "\ud83d"}, {"reasoning_content": "\ude00"}]
    _, response = streamed(*thoughts, {"tool_calls": [call]}, {"tool_calls": [rest]}, finish="tool_calls")
    assert (response.reasoning[0].text, response.tool_calls[0].arguments) == ("😀", '{"a": "😀"}')


def test_a_half_that_stays_alone_is_a_replacement_character() -> None:
    shown, response = streamed({"content": "a\ud83d"})
    assert (shown, response.text) == (["a", "\ufffd"], "a\ufffd")


def test_a_plugin_s_halves_are_joined_and_agree_with_its_result() -> None:
    call = Call(OutgoingCall(id=1, line=b""))
    for text in ("a\ud83d", "\ude00b", "c\ude00d\ud83d"):
        call.add(TextChunk(text=text))
    shown = "".join(piece.text for piece in call.take())
    assert shown == "a😀bc\ufffdd"
    assert read_response({"content": "a😀bc\ude00d\ud83d"}).text == shown + "\ufffd"


@given(text=st.text(st.characters(codec=None)), cuts=st.lists(st.integers(0, 40), max_size=5))
def test_however_a_text_is_cut_it_comes_out_whole(text: str, cuts: list[int]) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    ends = [0, *sorted(min(2 * cut, len(units)) for cut in cuts), len(units)]
    pairs = Pairs()
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(ends)]
    told = "".join(pairs.feed(piece) for piece in pieces) + pairs.finish()
    assert told == units.decode("utf-16-le", "replace")


@pytest.mark.parametrize(
    ("said", "count"),
    [(10, 10), (10.0, 10), (0, 0), (LARGEST_COUNT, LARGEST_COUNT)]
    + [(said, 0) for said in (-1, LARGEST_COUNT + 1, 2**64 - 1, 10**30, 1e300, 10.5, True, "7", None, float("inf"))],
)
def test_a_count_is_a_whole_number_that_can_be_meant(said: JsonValue, count: int) -> None:
    assert counted(said) == count


def test_a_count_that_cannot_be_meant_is_none_in_any_family() -> None:
    _, response = streamed({"content": "x"}, usage={"prompt_tokens": 10.0, "completion_tokens": 10**30})
    assert response.usage == Usage(input_tokens=10, output_tokens=0)
    reply = read_response({"content": "x", "usage": {"input_tokens": 2**64 - 1, "output_tokens": 5}})
    assert reply.usage == Usage(input_tokens=0, output_tokens=5)


def test_arguments_that_come_as_an_object_are_kept() -> None:
    call: JsonObject = {"index": 0, "id": "1", "function": {"name": "t", "arguments": {"a": "ä"}}}
    _, response = streamed({"tool_calls": [call]}, finish="tool_calls")
    assert json.loads(response.tool_calls[0].arguments) == {"a": "ä"}


@pytest.mark.parametrize("end", ["", "/", "/v1beta", "/v1beta/"])
async def test_gemini_s_address_may_be_written_with_its_version_or_a_stroke_at_the_end(end: str) -> None:
    web = Loopback(lambda _: Answered([b'{"models": []}']))
    with serving(web):
        provider = GeminiProvider(ProviderSetup(name="g", kind="gemini", base_url=web.url + end))
        await provider.models()
        await provider.aclose()
    assert [asked.path for asked in web.asked] == ["/v1beta/models?pageSize=1000"]


def test_a_stream_of_ollama_that_ends_inside_a_line_was_interrupted() -> None:
    stream = OllamaStream(provider="o", model="m", clock=SYSTEM_CLOCK)
    stream.feed(b'{"message": {"content": "a"}}\n{"message": {"cont')
    with pytest.raises(StreamInterrupted):
        stream.response()


async def test_an_answer_of_a_plugin_that_is_nested_too_deeply_ends_its_call() -> None:
    deep = "[" * 100_000
    script = 'read line; printf \'%s\' \'{"jsonrpc":"2.0","id":1,"result":\'; printf \'%s\\n\' "$1"; exec sleep 1000'
    failures = Failures("mine", command="sh", timeout=20)
    program = ProviderProgram(command="/bin/sh", args=("-c", script, "sh", deep))
    async with anyio.create_task_group() as tasks:
        connection = await open_connection(program, tasks=tasks, failures=failures)
        call = connection.call("chat", {})
        await connection.wait(call)
        with pytest.raises(MalformedReply, match="nested too deeply"):
            connection.answer(call)
        await connection.abandon()
