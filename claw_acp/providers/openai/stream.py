"""The answer of a chat completions service, parsed from its stream."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from claw_acp.contracts.provider import CallChunk, ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.clock import Clock
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.providers.openai.reasoning import ReasoningDetails
from claw_acp.providers.openai.request import EXTRA
from claw_acp.providers.openai.think_tags import ThinkTags
from claw_acp.providers.transport.answer_parser import EventParser, interrupted
from claw_acp.providers.transport.surrogates import Pairs, mended
from claw_acp.providers.transport.wire import items_at, malformed, number_at, object_at, text_at

_STOPS: Final[dict[str, ModelStop]] = {
    "stop": "end",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
}


@dataclass(slots=True)
class _CallInProgress:
    """A tool call whose arguments are still arriving."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    extra: JsonObject | None = None


class OpenAIStream(EventParser):
    """Parses one stream; see `AnswerParser`."""

    def __init__(self, *, provider: str, model: str, clock: Clock, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._clock = clock
        self._text: list[str] = []
        self._text_pairs = Pairs()
        self._thinking: list[str] = []
        self._thought_pairs = Pairs()
        self._calls: list[_CallInProgress] = []
        self._open_calls: dict[int, _CallInProgress] = {}
        self._tags: ThinkTags | None = ThinkTags()  # None as soon as there is nothing to look for
        self._details: ReasoningDetails | None = None
        self._finish: str | None = None
        self._refused = False

    def response(self) -> ChatResponse:
        """The whole answer."""
        if self._finish is None:
            raise interrupted(self._provider, model=self._model)
        calls = tuple(self._call(call) for call in self._calls)
        stop = "refusal" if self._refused else _STOPS.get(self._finish, "end")
        return self._answer(text="".join(self._text), calls=calls, reasoning=self._reasoning(), stop=stop)

    def _reasoning(self) -> tuple[Reasoning, ...]:
        thinking = "".join(self._thinking)
        detailed = self._details.block(thinking) if self._details is not None else None
        if detailed is not None:
            return (detailed,)
        return (Reasoning(text=thinking),) if thinking else ()

    # ------------------------------------------------------------------ one chunk

    def _take(self, event: JsonObject, events: list[StreamEvent]) -> None:
        error = event.get("error")
        if error is not None:
            raise self._refusal(error)
        for choice in items_at(event, "choices"):
            if isinstance(choice, dict):
                self._choice(choice, events)
        if event.get("usage"):
            self.usage = _usage(object_at(event, "usage"))

    def _end(self, events: list[StreamEvent]) -> None:
        if self._finish is None:  # small servers say only that it is over
            self._finished("", events)
        self.done = True

    def _choice(self, choice: JsonObject, events: list[StreamEvent]) -> None:
        delta = object_at(choice, "delta")
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if delta.get("reasoning_details"):
            self._details = self._details or ReasoningDetails()
            told = self._details.add(items_at(delta, "reasoning_details"))
            thought = thought or told
        if thought and isinstance(thought, str):
            if self._tags is not None:  # who takes thinking apart leaves no tags
                self._untagged(self._tags, self._tags.finish(), events)
            self._think(thought, events)
        content = delta.get("content")
        if content:
            self._content(content, events)
        if delta.get("refusal"):
            self._refused = True
            self._say(text_at(delta, "refusal"), events)
        if delta.get("tool_calls"):
            for fragment in items_at(delta, "tool_calls"):
                if isinstance(fragment, dict):
                    self._call_fragment(fragment, events)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finished(finish, events)

    def _say(self, text: str, events: list[StreamEvent]) -> None:
        text = self._text_pairs.feed(text)
        if text:
            self._text.append(text)
            events.append(TextChunk(text=text))

    def _think(self, text: str, events: list[StreamEvent]) -> None:
        text = self._thought_pairs.feed(text)
        if text:
            self._thinking.append(text)
            events.append(ThoughtChunk(text=text))

    def _content(self, content: JsonValue, events: list[StreamEvent]) -> None:
        """Text; or, as Mistral's reasoning models send it, a list of text and thinking parts."""
        if isinstance(content, str):
            if self._tags is None:
                self._say(content, events)
            else:
                self._untagged(self._tags, self._tags.feed(content), events)
            return
        for part in items_at({"content": content}, "content"):
            if isinstance(part, dict) and text_at(part, "text"):
                self._say(text_at(part, "text"), events)
            elif isinstance(part, dict):
                for thought in items_at(part, "thinking"):
                    if isinstance(thought, dict) and text_at(thought, "text"):
                        self._think(text_at(thought, "text"), events)

    def _untagged(self, tags: ThinkTags, told: tuple[str, str], events: list[StreamEvent]) -> None:
        """Emit separated thinking and text."""
        thought, text = told
        if thought:
            self._think(thought, events)
        if text:
            self._say(text, events)
        if tags.done:
            self._tags = None

    def _finished(self, finish: str, events: list[StreamEvent]) -> None:
        """Finish the answer: emit what was held back, and close the thinking with its opaque data."""
        if self._tags is not None:
            self._untagged(self._tags, self._tags.finish(), events)
        self._think(self._thought_pairs.finish(), events)
        self._say(self._text_pairs.finish(), events)
        if self._details is not None and self._finish is None:
            block = self._details.block("")
            if block is not None:
                events.append(ThoughtChunk(text="", signature=block.signature, origin=block.origin))
        self._finish = finish

    def _call_fragment(self, fragment: JsonObject, events: list[StreamEvent]) -> None:
        function = object_at(fragment, "function")
        call_id, name = text_at(fragment, "id"), text_at(function, "name")
        call = self._addressed(fragment.get("index"), call_id=call_id, name=name)
        call.id = call.id or call_id
        call.name = call.name or name
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):  # an object in the place of its text is taken as one
            arguments = json.dumps(arguments)
        if arguments:
            call.arguments.append(arguments)
        if call.name and (name or arguments):
            place = next(place for place, known in enumerate(self._calls) if known is call)
            events.append(CallChunk(index=place, name=call.name, arguments=arguments))
        extra = fragment.get(EXTRA)  # Google's thought signatures, to be sent back untouched
        if extra is not None:
            call.extra = {EXTRA: extra}

    def _addressed(self, index: JsonValue, *, call_id: str, name: str) -> _CallInProgress:
        """The call of a fragment; a new one if the fragment has a new id (some services number all calls 0)."""
        if not isinstance(index, int):
            index = len(self._calls) - (0 if call_id or name else 1)
        call = self._open_calls.get(index)
        if call is not None and (not call_id or not call.id or call_id == call.id):
            return call
        if not call_id and not name:
            raise malformed(f"arguments for a tool call that never began (index {index})", provider=self._provider)
        call = _CallInProgress()
        self._calls.append(call)
        self._open_calls[index] = call
        return call

    def _call(self, call: _CallInProgress) -> ToolCall:
        if not call.name:
            raise malformed("a tool call without a name", provider=self._provider)
        arguments = mended("".join(call.arguments)) or "{}"
        call_id = call.id or new_id("call", clock=self._clock)
        return ToolCall(id=call_id, name=call.name, arguments=arguments, extra=call.extra)


def _usage(usage: JsonObject) -> Usage:
    details = object_at(usage, "prompt_tokens_details")
    cached = number_at(details, "cached_tokens")
    written = number_at(details, "cache_write_tokens")  # OpenRouter; what follows: LiteLLM
    return Usage(
        input_tokens=number_at(usage, "prompt_tokens"),
        output_tokens=number_at(usage, "completion_tokens"),
        cached_read_tokens=cached or number_at(usage, "prompt_cache_hit_tokens"),  # DeepSeek's name for it
        cached_write_tokens=written or number_at(usage, "cache_creation_input_tokens"),
        thought_tokens=number_at(object_at(usage, "completion_tokens_details"), "reasoning_tokens"),
    )
