"""Tools natively or in words, and how it is found out and remembered which."""

import json
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import pytest

from claw_acp.config.atomic_file import only_writer
from claw_acp.contracts.provider import (
    CallChunk,
    Capabilities,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    OneTool,
    Provider,
    Retrying,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
    ToolSpec,
)
from claw_acp.core.errors import EmptyAnswer, StreamInterrupted, ToolsUnsupported, ToolUseRefused
from claw_acp.core.messages import ImagePart, Message, TextPart, ToolCall, Usage
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.provider import MOST_REMEMBERED, VALIDITY, TextToolProvider, ToolModes
from claw_acp.providers.text_tools.request import in_words
from tests.providers.attempts import Attempts
from tests.providers.conversation import BROKEN, FIRST, IMAGE, MESSAGES, READ, asking
from tests.support.fixed_clock import FixedClock

CALL = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>'
WRITE = ToolSpec(name="a_first", description="Write", parameters={"type": "object"})


class Recited(Provider):
    """Says the pieces it was given; refuses tools if told to. Keeps what it was asked."""

    def __init__(self, *pieces: str, tools: bool = True, refuses: bool = False, breaks: bool = False) -> None:
        self.name = "acme"
        self.asked: list[ChatRequest] = []
        self._pieces = pieces
        self._tools = tools
        self._refuses = refuses
        self._breaks = breaks

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        self.asked.append(request)
        if self._refuses and request.tools:
            raise ToolsUnsupported("acme: test-model does not support tools.", provider="acme", status=400)
        yield ThoughtChunk(text="Hm.")
        for piece in self._pieces:
            yield TextChunk(text=piece)
        if self._breaks:
            raise StreamInterrupted("broke off", provider="acme")
        yield Finished(response=ChatResponse(text="".join(self._pieces), usage=Usage(input_tokens=3)))

    async def chat(self, request: ChatRequest) -> ChatResponse:
        raise NotImplementedError

    def capabilities(self, model: str) -> Capabilities:  # noqa: ARG002 - one for all models
        return Capabilities(tools=self._tools)


async def heard(
    provider: Provider, request: ChatRequest, *, events: list[StreamEvent] | None = None
) -> list[StreamEvent]:
    events = [] if events is None else events
    async for event in provider.stream(request):
        events.append(event)
    return events


def texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


# ------------------------------------------------------------------ which way


async def test_a_model_with_tools_gets_them_as_they_are() -> None:
    inner = Recited("Hello.", CALL)
    events = await heard(TextToolProvider(inner, memory=ToolModes()), request := asking(tools=True))
    assert inner.asked == [request]
    assert events[-1] == Finished(response=ChatResponse(text=f"Hello.{CALL}", usage=Usage(input_tokens=3)))


async def test_a_model_without_tools_gets_them_in_words_and_its_calls_are_found() -> None:
    inner = Recited("Let me ", "look.\n<tool", CALL.removeprefix("<tool"), "\n", tools=False)
    events = await heard(TextToolProvider(inner, memory=ToolModes()), asking(tools=True))
    assert [event.text for event in events if isinstance(event, TextChunk)] == ["Let me ", "look.\n"]
    assert isinstance(events[0], ThoughtChunk)
    last = events[-1]
    assert isinstance(last, Finished)
    [call] = last.response.tool_calls
    assert (call.name, json.loads(call.arguments)) == ("read_file", {"path": "a.py"})
    assert (last.response.text, last.response.stop) == ("Let me look.\n", "tool_calls")
    assert last.response.usage == Usage(input_tokens=3)
    assert inner.asked[0].tools == ()


async def test_a_call_in_the_text_of_a_model_with_tools_is_one_unless_it_makes_native_ones() -> None:
    class Native(Recited):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:  # noqa: ARG002
            yield TextChunk(text=f"So:\n{CALL}\n")
            yield CallChunk(index=0, name="read_file", arguments="{}")
            yield TextChunk(text="Done.")
            native = (ToolCall(id="1", name="read_file", arguments="{}"),)
            yield Finished(response=ChatResponse(text=f"So:\n{CALL}\nDone.", tool_calls=native))

    last = (await heard(TextToolProvider(Recited(f"So:\n{CALL}"), memory=ToolModes()), asking(tools=True)))[-1]
    assert isinstance(last, Finished)
    [call] = last.response.tool_calls
    assert (call.name, last.response.text, last.response.stop) == ("read_file", "So:\n", "tool_calls")
    events = await heard(TextToolProvider(Native(), memory=ToolModes()), asking(tools=True))
    shown = [event.text if isinstance(event, TextChunk) else type(event).__name__ for event in events]
    assert shown == ["So:\n", f"{CALL}\n", "CallChunk", "Done.", "Finished"]
    last = events[-1]
    assert isinstance(last, Finished)
    assert [call.arguments for call in last.response.tool_calls] == ["{}"]


async def test_only_the_tool_that_was_chosen_is_called_in_text() -> None:
    chosen = asking(tools=True, tool_choice=OneTool(name="another"))
    last = (await heard(TextToolProvider(Recited(CALL), memory=ToolModes()), chosen))[-1]
    assert isinstance(last, Finished)
    assert (last.response.text, last.response.tool_calls) == (CALL, ())


async def test_a_request_without_tools_is_left_alone_and_so_is_its_answer() -> None:
    inner = Recited(CALL, tools=False)
    events = await heard(TextToolProvider(inner, memory=ToolModes()), request := asking())
    assert inner.asked == [request]
    last = events[-1]
    assert isinstance(last, Finished)
    assert (last.response.text, last.response.tool_calls) == (CALL, ())


async def test_where_no_tool_is_offered_an_answer_calls_none() -> None:
    inner = Recited(CALL, tools=False)
    last = (await heard(TextToolProvider(inner, memory=ToolModes()), asking(*MESSAGES)))[-1]
    assert isinstance(last, Finished)
    assert (last.response.text, last.response.tool_calls) == (CALL, ())
    assert not any(message.role == "tool" for message in inner.asked[0].messages)


async def test_a_refusal_is_followed_by_words_at_once_and_said_once() -> None:
    inner = Recited(CALL, refuses=True)
    guide = TextToolProvider(inner, memory=ToolModes())
    first, second = await heard(guide, asking(tools=True)), await heard(guide, asking(tools=True))
    assert [bool(request.tools) for request in inner.asked] == [True, False, False]
    notice = first[0]
    assert isinstance(notice, Retrying)
    assert notice.reason == "acme refuses to give test-model tools; they are explained to it in words from now on."
    assert notice.delay == 0
    assert not any(isinstance(event, Retrying) for event in second)
    other = asking(tools=True, model="other-model")
    assert isinstance((await heard(guide, other))[0], Retrying)


async def test_a_refusal_of_tools_that_were_not_sent_is_only_an_error() -> None:
    class Odd(Recited):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
            raise ToolsUnsupported(f"no {request.model}", provider="acme")
            yield

    with pytest.raises(ToolsUnsupported):
        await heard(TextToolProvider(Odd(), memory=ToolModes()), asking())


async def test_an_answer_that_breaks_off_within_a_call_is_an_error_and_calls_nothing() -> None:
    inner = Recited("Well.\n", CALL[:40], tools=False, breaks=True)
    events: list[StreamEvent] = []
    with pytest.raises(StreamInterrupted):
        await heard(TextToolProvider(inner, memory=ToolModes()), asking(tools=True), events=events)
    assert events == [ThoughtChunk(text="Hm."), TextChunk(text="Well.\n")]


async def test_where_no_call_is_wanted_none_is_made() -> None:
    request = asking(tools=True, tool_choice="none")
    guide = TextToolProvider(Recited("Done.\n", CALL, tools=False), memory=ToolModes())
    last = (await heard(guide, request))[-1]
    assert isinstance(last, Finished)
    assert (last.response.text, last.response.tool_calls, last.response.stop) == ("Done.\n", (), "end")
    with pytest.raises(EmptyAnswer) as raised:
        await heard(TextToolProvider(Recited(CALL, tools=False), memory=ToolModes()), request)
    assert raised.value.usage == Usage(input_tokens=3), "it is billed"


async def test_a_file_that_another_process_holds_keeps_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("claw_acp.providers.text_tools.provider.KEEP_TIMEOUT", 0.01)
    memory = ToolModes(tmp_path / "tool_modes.json")
    with only_writer(tmp_path / "tool_modes.json"):
        await memory.remember("acme", "m")
        assert await memory.in_words("acme", "m")


# ------------------------------------------------------------------ the request


def test_the_explanation_is_the_same_bytes_whatever_the_turn_and_the_order() -> None:
    first = in_words(ChatRequest(model="m", messages=MESSAGES, tools=(READ, WRITE)))
    options = ChatOptions(tool_choice="required")
    second = in_words(ChatRequest(model="m", messages=MESSAGES[:2], tools=(WRITE, READ), options=options))
    assert first.messages[0] == second.messages[0]
    system = first.messages[0].text
    assert system.startswith("Be brief.\n\n# Tools")
    assert system.index("## a_first") < system.index("## read_file\n\nRead a file\n\nArguments (JSON Schema): {")
    assert (first.tools, second.options.tool_choice) == ((), "auto")


def test_earlier_calls_are_text_and_results_of_a_round_one_message_of_the_user() -> None:
    told = in_words(ChatRequest(model="m", messages=MESSAGES, tools=(READ,))).messages
    assert [message.role for message in told] == ["system", "user", "assistant", "user"]
    assistant, results = told[2], told[3]
    assert assistant.tool_calls == ()
    assert assistant.text.startswith(f'Reading.\n<tool_call>\n{{"name": "read_file", "arguments": {FIRST.arguments}}}')
    assert json.dumps(BROKEN.arguments) in assistant.text
    assert results.text == (
        '<tool_result name="read_file" status="ok">\nprint(1)\n</tool_result>\n'
        '<tool_result name="read_file" status="error">\narguments are not JSON\n</tool_result>\nGo on.Please.'
    )
    assert [part for part in results.parts if isinstance(part, ImagePart)] == [IMAGE]
    assert assistant.reasoning == MESSAGES[2].reasoning


def test_a_conversation_with_calls_goes_in_words_also_when_no_tool_is_left() -> None:
    told = in_words(ChatRequest(model="m", messages=MESSAGES)).messages
    assert "# Tools" not in told[0].text
    assert not any(message.tool_calls or message.role == "tool" for message in told)


def test_instructions_are_made_where_there_are_none() -> None:
    [system, user] = in_words(asking(tools=True)).messages
    assert (system.role, user) == ("system", Message.user("hi"))
    assert system.text.startswith("# Tools")


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("none", "Do not call a tool in this answer."),
        ("required", "Call at least one tool in this answer."),
        (OneTool(name="read_file"), "Call the tool read_file in this answer."),
    ],
)
def test_a_tool_choice_is_said_at_the_end_of_the_conversation(choice: object, words: str) -> None:
    request = asking(tools=True)
    plain = in_words(request).messages
    wished = in_words(replace(request, options=ChatOptions(tool_choice=choice))).messages  # pyright: ignore[reportArgumentType]
    assert texts(wished) == [*texts(plain)[:-1], ("user", f"hi\n\n{words}")]
    after = replace(request, messages=(Message.user("hi"), Message.assistant("Hello.")))
    assert in_words(replace(after, options=ChatOptions(tool_choice="none"))).messages[-1].role == "user"


def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    call = ToolCall(id="call_9", name="read_file", arguments='{"path":"c"}')
    later = (*MESSAGES, Message.assistant(tool_calls=(call,)), Message.tool(call, "c"), Message.assistant("Done."))
    for length in range(2, len(later)):
        if later[length].role == "assistant":
            before = in_words(ChatRequest(model="m", messages=later[:length], tools=(READ,))).messages
            after = in_words(ChatRequest(model="m", messages=later, tools=(READ,))).messages
            assert after[: len(before)] == before
    [*_, written, _, _] = in_words(ChatRequest(model="m", messages=later, tools=(READ,))).messages
    part = written.parts[0]
    assert isinstance(part, TextPart)
    assert part.text.startswith("<tool_call>")


# ------------------------------------------------------------------ memory


async def test_what_was_found_out_is_known_to_the_next_process_for_a_week(tmp_path: Path) -> None:
    clock, file = FixedClock(), tmp_path / "cache" / "tool-modes.json"
    await ToolModes(file, clock=clock).remember("acme", "m")
    await ToolModes(file, clock=clock).remember("acme", "n")
    clock.seconds += VALIDITY - 1
    later = ToolModes(file, clock=clock)
    assert [await later.in_words("acme", model) for model in "mno"] == [True, True, False]
    clock.seconds += 1
    assert not await later.in_words("acme", "m")
    assert not await ToolModes(file, clock=clock).in_words("acme", "m")
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "content", ["", "{", "{}", '[["acme"], 5, ["acme", "m", "x"], ["acme", "m", 9e99]]', "[" * 9_000]
)
async def test_a_damaged_memory_is_no_error_and_mended(tmp_path: Path, content: str) -> None:
    file = tmp_path / "tool-modes.json"
    file.write_text(content)
    assert not await ToolModes(file).in_words("acme", "m")
    await ToolModes(file).remember("acme", "m")
    assert await ToolModes(file).in_words("acme", "m")


async def test_a_memory_that_cannot_be_written_lasts_as_long_as_the_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = ToolModes(tmp_path / "file" / "tool-modes.json")
    await memory.remember("acme", "m")
    assert await memory.in_words("acme", "m")


async def test_the_oldest_are_forgotten_when_there_are_too_many() -> None:
    clock = FixedClock()
    memory = ToolModes(clock=clock)
    for number in range(MOST_REMEMBERED + 1):
        clock.seconds += 1
        await memory.remember("acme", str(number))
    assert [await memory.in_words("acme", name) for name in ("0", "1", str(MOST_REMEMBERED))] == [False, True, True]


async def test_a_call_that_the_service_cannot_read_is_asked_for_in_words_this_once() -> None:
    said = [TextChunk(text="fine"), Finished(response=ChatResponse(text="fine"))]
    model = Attempts([ToolUseRefused("which was not in request.tools")], said, said)
    guide = TextToolProvider(model, memory=ToolModes(clock=FixedClock()))
    first, _, *_ = await heard(guide, asking(tools=True))
    assert isinstance(first, Retrying)
    assert "this time" in first.reason
    await heard(guide, asking(tools=True))
    assert [bool(request.tools) for request in model.requests] == [True, False, True]
