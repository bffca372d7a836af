"""A plugin that stays: streams, overlapping requests, cancellation, and what it may say."""

import json
import os

import anyio
import pytest

from claw_acp.contracts.provider import (
    Capabilities,
    ChatResponse,
    Finished,
    ModelInfo,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.core.errors import (
    ContextTooLong,
    MalformedReply,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderTimeout,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
    ToolsUnsupported,
)
from claw_acp.core.messages import Reasoning, ToolCall, Usage
from claw_acp.core.value import replace
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.binary.provider import BinaryProvider
from tests.providers.binary.support import gone, heard, saying, session
from tests.providers.conversation import READ

USAGE = Usage(input_tokens=3, output_tokens=2)


async def pid_of(provider: BinaryProvider) -> int:
    return int(json.loads((await provider.chat(saying("environment HOME"))).text)[2])


async def failure(provider: BinaryProvider, text: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await provider.chat(saying(text))
    return caught.value


# ------------------------------------------------------------------ answers


async def test_pieces_pass_as_they_come_and_the_result_is_the_whole() -> None:
    async with session() as provider:
        events, response = await heard(provider, "say a b c")
        assert "".join(event.text for event in events if isinstance(event, TextChunk)) == "abc"
        assert response == ChatResponse(text="abc", usage=USAGE)


async def test_a_piece_is_seen_before_the_next_one_is_made() -> None:
    async with session() as provider:
        stream = provider.stream(saying("hold"))
        assert await anext(stream) == TextChunk(text="wait")
        await provider.chat(saying("release"))
        assert [event async for event in stream] == [Finished(response=ChatResponse(text="wait", usage=USAGE))]


async def test_what_was_not_streamed_comes_with_the_result() -> None:
    async with session() as provider:
        events, response = await heard(provider, "whole answer")
        assert events == [ThoughtChunk(text="Well."), TextChunk(text="answer")]
        assert response == ChatResponse(
            text="answer", usage=USAGE, reasoning=(Reasoning(text="Well."),), stop="max_tokens"
        )
        events, response = await heard(provider, "beginning")
        assert "".join(event.text for event in events if isinstance(event, TextChunk)) == response.text == "abc"


async def test_thinking_is_streamed_too() -> None:
    async with session() as provider:
        events, response = await heard(provider, "think Yes.")
        assert "".join(event.text for event in events if isinstance(event, ThoughtChunk)) == "Let me see."
        assert response.reasoning == (Reasoning(text="Let me see."),)
        assert response.text == "Yes."


async def test_a_result_that_contradicts_what_was_seen_is_an_error() -> None:
    async with session() as provider:
        error = await failure(provider, "contradict")
        assert isinstance(error, MalformedReply)
        assert error.message.startswith("Provider plugin 'mine' streamed another answer than its result holds")


async def test_tool_calls_come_from_the_result_with_ids_of_their_own() -> None:
    async with session() as provider:
        events, response = await heard(provider, "call")
        assert events == []
        assert response.tool_calls == (
            ToolCall(id="c", name="read_file", arguments='{"path":"a"}'),
            ToolCall(id="c-2", name="read_file", arguments='{"path":"a"}'),
        )
        assert response.stop == "tool_calls"


async def test_a_chat_has_the_parameters_of_one_shot_mode() -> None:
    async with session() as provider:
        said = json.loads((await provider.chat(saying("params"))).text)
        assert said == {
            "messages": [{"role": "user", "content": "params", "content_parts": []}],
            "tools": [],
            "model": None,
            "options": {},
        }


async def test_lines_in_pieces_and_bytes_that_are_no_text_are_read() -> None:
    async with session() as provider:
        assert (await provider.chat(saying("halves Grüße"))).text == "Grüße"
        assert (await provider.chat(saying("bytes"))).text == "caf�"


async def test_a_large_answer_arrives() -> None:
    async with session() as provider:
        assert (await provider.chat(saying(f"large {10 * 1024**2}"))).text == "x" * 10 * 1024**2


# ------------------------------------------------------------------ what it can do


async def test_capabilities_and_models_are_those_it_says() -> None:
    async with session() as provider:
        large = ModelInfo(id="large", name="Large", context_window=200000)
        assert await provider.models() == (large, ModelInfo(id="small"), ModelInfo(id="new"))
        assert provider.capabilities("large") == Capabilities(images=True, thinking=True, context_window=200000)
        assert provider.capabilities(PLUGIN_DEFAULT) == provider.capabilities("large")
        assert provider.capabilities("unknown") == Capabilities(images=True, thinking=True)


async def test_tools_are_not_given_to_a_plugin_that_takes_none() -> None:
    async with session("no-tools") as provider:
        with pytest.raises(ToolsUnsupported):
            await provider.chat(replace(saying("params"), tools=(READ,)))
        assert not provider.capabilities("large").tools
        assert (await provider.chat(replace(saying("whole x", tool_choice="none"), tools=(READ,)))).text == "x"


async def test_another_version_of_the_protocol_is_refused() -> None:
    async with session(env={"PLUGIN_VERSION": "2"}) as provider:
        error = await failure(provider, "whole x")
        assert isinstance(error, RequestRejected)
        assert "version 2" in error.message


# ------------------------------------------------------------------ overlap and cancellation


async def test_fifty_requests_overlap_on_one_process() -> None:
    answers: dict[int, str] = {}
    async with session() as provider:
        pid = await pid_of(provider)

        async def ask(number: int) -> None:
            words = " ".join(f"{number}.{piece}" for piece in range(20))
            events, response = await heard(provider, f"say {words}")
            assert "".join(event.text for event in events if isinstance(event, TextChunk)) == response.text
            answers[number] = response.text

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(ask, number)
        assert answers == {n: "".join(f"{n}.{piece}" for piece in range(20)) for n in range(50)}
        assert await pid_of(provider) == pid


async def test_whoever_reads_for_the_others_may_leave() -> None:
    async with session() as provider, anyio.create_task_group() as tasks:
        scopes = [anyio.CancelScope() for _ in range(3)]
        started = [anyio.Event() for _ in scopes]
        texts: list[str] = []

        async def hold(number: int) -> None:
            with scopes[number]:
                async for event in provider.stream(saying("hold")):
                    started[number].set()
                    if isinstance(event, Finished):
                        texts.append(event.response.text)

        for number, event in enumerate(started):
            tasks.start_soon(hold, number)
            await event.wait()
        scopes[0].cancel()  # it reads for all
        scopes[1].cancel()  # it is the next to read
        await provider.chat(saying("release"))
        while not texts:
            await anyio.lowlevel.checkpoint()
        assert texts == ["wait"]


async def test_a_plugin_may_finish_one_answer_before_it_reads_the_next_request() -> None:
    answers: list[str] = []
    async with session() as provider:
        streaming = provider.stream(saying("flood 4"))
        assert isinstance(await anext(streaming), TextChunk)

        async def long_request() -> None:
            assert (await provider.chat(saying("whole " + "y" * 10 * 1024**2))).text.endswith("y")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(long_request)
            answers += [event.response.text async for event in streaming if isinstance(event, Finished)]
        assert [len(answer) for answer in answers] == [4 * 1024**2]


async def test_a_cancelled_request_is_stopped_and_the_plugin_stays() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        with anyio.CancelScope() as scope:
            async for _ in provider.stream(saying("hold")):
                scope.cancel()
        assert scope.cancelled_caught
        assert await pid_of(provider) == pid


async def test_a_plugin_that_does_not_stop_is_ended() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        stream = provider.stream(saying("deaf"))
        await anext(stream)
        await stream.aclose()
        await gone(pid)
        assert await pid_of(provider) != pid


async def test_a_plugin_that_does_not_stop_is_ended_when_its_last_other_request_is() -> None:
    async with session() as provider:
        pid = await pid_of(provider)
        held = provider.stream(saying("hold"))
        await anext(held)
        stream = provider.stream(saying("deaf"))
        await anext(stream)
        await stream.aclose()
        os.kill(pid, 0)  # still there: somebody else is being answered
        await held.aclose()
        await gone(pid)


async def test_a_plugin_that_never_reads_runs_into_the_deadline() -> None:
    async with session(within=0.5) as provider:
        error = await failure(provider, "sleep")
        assert isinstance(error, ProviderTimeout)
        assert error.message == "Provider plugin 'mine' timed out after 0.5s"


# ------------------------------------------------------------------ errors and nonsense


@pytest.mark.parametrize(
    ("code", "kind", "advice"),
    [
        (-31001, ProviderAuthFailed, ". That is auth_failed: check the credentials of the program itself"),
        (-31002, RateLimited, ". That is rate_limited: "),
        (-31003, QuotaExceeded, ". That is quota_exceeded: "),
        (-31004, ContextTooLong, ". That is context_too_long: "),
        (-31005, ProviderUnavailable, ". That is unavailable: "),
        (-31006, ProviderTimeout, ". That is timeout: "),
        (-31007, ModelNotFound, ". That is model_not_found: `claw-acp models mine` lists"),
        (-31008, RequestRejected, ". That is request_rejected: "),
        (-32800, MalformedReply, ". That means cancelled, but it was not"),
        (-32602, RequestRejected, ""),
        (-1, ProviderUnavailable, ""),
    ],
)
async def test_an_error_code_becomes_an_error_of_ours_that_says_what_to_do(
    code: int, kind: type[ProviderError], advice: str
) -> None:
    async with session() as provider:
        error = await failure(provider, f"error {code}")
        assert type(error) is kind
        said = f"Provider plugin 'mine' error (code {code}): no"
        assert (error.message.startswith(said + advice), error.retry_after) == (True, 7.0)
        assert advice or error.message == said


async def test_what_nobody_cancelled_is_not_tried_again() -> None:
    async with session() as provider:
        error = await failure(provider, "error -32800")
        assert not error.retryable


async def test_an_answer_that_is_none_says_why() -> None:
    async with session() as provider:
        assert "`result.content` must be a string" in (await failure(provider, "null")).message
        assert (await failure(provider, "nothing")).message.endswith("returned neither result nor error")


async def test_only_the_first_line_of_each_strange_kind_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with session() as provider:
        await provider.chat(saying("garbage"))
        await provider.chat(saying("garbage"))
    kinds = [record.__dict__["what"] for record in caplog.records if "strange" in record.message]
    assert sorted(kinds) == ["a piece of no answer", "an answer to nothing", "expected an object", "not JSON"]


async def test_nonsense_between_answers_harms_nobody() -> None:
    async with session() as provider:
        held = provider.stream(saying("hold"))
        await anext(held)
        events, response = await heard(provider, "garbage")
        assert (events, response.text) == ([TextChunk(text="clean")], "clean")
        assert (await provider.chat(saying("whole next"))).text == "next"
        await held.aclose()


async def test_megabytes_of_complaints_are_drained() -> None:
    async with session() as provider:
        assert (await provider.chat(saying("complain"))).text == "said"


async def test_a_plugin_cannot_ask_its_host() -> None:
    async with session() as provider:
        assert (await provider.chat(saying("ask"))).text == "-32601"
