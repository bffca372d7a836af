"""The answer of OpenAI's Responses API, parsed from the typed events of its stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from claw_acp.contracts.provider import CallChunk, ChatResponse, StreamEvent, TextChunk, ThoughtChunk
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ModelStop, Reasoning, ToolCall, Usage
from claw_acp.providers.responses.request import APART, ORIGIN
from claw_acp.providers.transport.answer_parser import Handler, TypedEventParser, interrupted
from claw_acp.providers.transport.part_order import Mark
from claw_acp.providers.transport.wire import items_at, malformed, number_at, object_at, text_at

_INCOMPLETE: Final[Mapping[str, ModelStop]] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}


@dataclass(slots=True)
class _Item:
    """An incomplete item of the output. `start` and `calls` are its place: see `Mark`."""

    kind: str
    start: int
    calls: int
    call_id: str = ""
    name: str = ""
    text: list[str] = field(default_factory=list[str])  # said, thought, or the arguments of a call
    finished: bool = False


class ResponsesStream(TypedEventParser):
    """Parses one stream; see `AnswerParser`."""

    def __init__(self, *, provider: str, model: str, secrets: Sequence[str] = ()) -> None:
        super().__init__(provider=provider, model=model, secrets=secrets)
        self._items: dict[int, _Item] = {}
        self._text: list[str] = []
        self._length = 0
        self._reasoning: list[Reasoning] = []
        self._stop: ModelStop = "end"
        self._refused = False
        self._handlers: Mapping[str, Handler] = {
            "response.output_item.added": self._added,
            "response.output_text.delta": self._text_delta,
            "response.refusal.delta": self._refusal_delta,
            "response.reasoning_summary_part.added": self._part_added,
            "response.reasoning_summary_text.delta": self._thought_delta,
            "response.reasoning_text.delta": self._thought_delta,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.output_item.done": self._item_done,
            "response.completed": self._completed,
            "response.incomplete": self._incomplete,
            "response.failed": self._failed,
            "error": self._error,
        }

    def response(self) -> ChatResponse:
        """The whole answer."""
        if not self.done:
            raise interrupted(self._provider)
        items = [self._items[index] for index in sorted(self._items)]
        calls = tuple(self._call(item) for item in items if item.kind == "function_call")
        stop = "refusal" if self._refused else self._stop
        return self._answer(text="".join(self._text), calls=calls, reasoning=tuple(self._reasoning), stop=stop)

    def _call(self, item: _Item) -> ToolCall:
        if not item.name or not item.call_id:
            raise malformed("a tool call without a name or id", provider=self._provider)
        return ToolCall(id=item.call_id, name=item.name, arguments="".join(item.text) or "{}")

    # ------------------------------------------------------------------ items

    def _item(self, message: JsonObject, kind: str) -> _Item:
        """The item of an event; a new one if the stream did not announce it."""
        index = number_at(message, "output_index")
        item = self._items.get(index)
        if item is None:
            calls = sum(item.kind == "function_call" for item in self._items.values())
            item = self._items[index] = _Item(kind=kind, start=self._length, calls=calls)
        return item

    def _added(self, message: JsonObject, events: list[StreamEvent]) -> None:
        given = object_at(message, "item")
        item = self._item(message, text_at(given, "type"))
        item.call_id, item.name = text_at(given, "call_id"), text_at(given, "name")
        if item.kind == "function_call" and item.name:
            events.append(CallChunk(index=item.calls, name=item.name))

    def _text_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        self._say(self._item(message, "message"), text_at(message, "delta"), events)

    def _refusal_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        self._refused = True
        self._text_delta(message, events)

    def _say(self, item: _Item, text: str, events: list[StreamEvent]) -> None:
        if not text:
            return
        if not item.text and self._length:
            self._show(APART, events)
        if not item.text:
            item.start = self._length
        item.text.append(text)
        self._show(text, events)

    def _show(self, text: str, events: list[StreamEvent]) -> None:
        self._text.append(text)
        self._length += len(text)
        events.append(TextChunk(text=text))

    def _part_added(self, message: JsonObject, events: list[StreamEvent]) -> None:
        item = self._item(message, "reasoning")
        if item.text:
            self._think(item, APART, events)

    def _thought_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        self._think(self._item(message, "reasoning"), text_at(message, "delta"), events)

    def _think(self, item: _Item, text: str, events: list[StreamEvent]) -> None:
        if text:
            item.text.append(text)
            events.append(ThoughtChunk(text=text))

    def _arguments_delta(self, message: JsonObject, events: list[StreamEvent]) -> None:
        item = self._item(message, "function_call")
        item.text.append(text_at(message, "delta"))
        if item.name:
            events.append(CallChunk(index=item.calls, name=item.name, arguments=item.text[-1]))

    # ------------------------------------------------------------------ the end of an item

    def _item_done(self, message: JsonObject, events: list[StreamEvent]) -> None:
        given = object_at(message, "item")
        self._finish(self._item(message, text_at(given, "type")), given, events)

    def _finish(self, item: _Item, given: JsonObject, events: list[StreamEvent]) -> None:
        """Handle the finished form of an item: emit what was not streamed, and keep its opaque data."""
        if item.finished:
            return
        item.finished = True
        match item.kind:
            case "message":
                self._finish_message(item, given, events)
            case "reasoning":
                self._finish_reasoning(item, given, events)
            case "function_call":
                item.call_id = text_at(given, "call_id") or item.call_id
                item.name = text_at(given, "name") or item.name
                item.text = [text_at(given, "arguments")] if text_at(given, "arguments") else item.text
            case _:
                pass  # the vendor's own tools, of which none is asked for, and what later versions add

    def _finish_message(self, item: _Item, given: JsonObject, events: list[StreamEvent]) -> None:
        if not item.text:
            for part in _objects(given, "content"):
                self._refused = self._refused or text_at(part, "type") == "refusal"
                self._say(item, text_at(part, "text") or text_at(part, "refusal"), events)
        phase = text_at(given, "phase")
        if item.text and (phase or item.calls or item.start):
            self._keep(item, end=self._length, kept={"phase": phase} if phase else {}, text="", events=events)

    def _finish_reasoning(self, item: _Item, given: JsonObject, events: list[StreamEvent]) -> None:
        if not item.text:
            for part in (*_objects(given, "summary"), *_objects(given, "content")):
                self._think(item, (APART if item.text else "") + text_at(part, "text"), events)
        text = "".join(item.text)
        kept = {key: given[key] for key in ("id", "encrypted_content") if text_at(given, key)}
        if "encrypted_content" in kept:
            self._keep(item, end=item.start, kept=kept, text=text, events=events)
        elif text:  # it cannot be sent back, since nothing is stored
            self._reasoning.append(Reasoning(text=text, origin=ORIGIN))
            events.append(ThoughtChunk(text="", origin=ORIGIN))

    def _keep(self, item: _Item, *, end: int, kept: JsonObject, text: str, events: list[StreamEvent]) -> None:
        mark = Mark(start=item.start, end=end, calls=item.calls, kept=kept)
        signature = mark.written()
        self._reasoning.append(Reasoning(text=text, signature=signature, origin=ORIGIN))
        events.append(ThoughtChunk(text="", signature=signature, origin=ORIGIN))

    # ------------------------------------------------------------------ the end of the answer

    def _completed(self, message: JsonObject, events: list[StreamEvent]) -> None:
        response = object_at(message, "response")
        self.usage = _usage(response)
        for index, given in enumerate(_objects(response, "output")):
            self._finish(self._item({"output_index": index}, text_at(given, "type")), given, events)
        self._end(events)

    def _end(self, events: list[StreamEvent]) -> None:
        for index in sorted(self._items):
            self._finish(self._items[index], {}, events)
        self.done = True

    def _incomplete(self, message: JsonObject, events: list[StreamEvent]) -> None:
        self._completed(message, events)
        details = object_at(object_at(message, "response"), "incomplete_details")
        self._stop = _INCOMPLETE.get(text_at(details, "reason"), "end")

    def _failed(self, message: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        response = object_at(message, "response")
        self.usage = _usage(response)
        raise self._refusal(response.get("error"))

    def _error(self, message: JsonObject, events: list[StreamEvent]) -> None:  # noqa: ARG002 - one shape
        nested = message.get("error")  # as the API does it; its reference has code and message in the event itself
        flat: JsonValue = {key: message[key] for key in ("code", "message") if key in message}
        raise self._refusal(nested or flat)


def _objects(value: JsonObject, key: str) -> list[JsonObject]:
    return [row for row in items_at(value, key) if isinstance(row, dict)]


def _usage(response: JsonObject) -> Usage | None:
    usage = object_at(response, "usage")
    if not usage:
        return None
    return Usage(
        input_tokens=number_at(usage, "input_tokens"),
        output_tokens=number_at(usage, "output_tokens"),
        cached_read_tokens=number_at(object_at(usage, "input_tokens_details"), "cached_tokens"),
        thought_tokens=number_at(object_at(usage, "output_tokens_details"), "reasoning_tokens"),
    )
