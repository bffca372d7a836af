"""The turns, model requests and tool calls of a session as spans and metrics, by the conventions for generative AI.

They are made from the events of the session. An event is published by the task that does the work, so that whatever
this task starts, and whoever it asks, belongs to the span that the event began.
"""

import json
import logging
from collections.abc import Callable
from typing import Final

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ClawError
from claw_acp.core.events import (
    FINAL,
    Event,
    MessageStarted,
    Notice,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.redaction import redact
from claw_acp.telemetry.instruments import AGENT, Attributes, Instruments, provider_name
from claw_acp.telemetry.trace_context import carry_trace, current_trace

log = logging.getLogger(__name__)

LONGEST_CONTENT: Final = 16_000  # characters of one attribute
OTHER_ERROR: Final = "_OTHER"

_W3C: Final = TraceContextTextMapPropagator()


class SessionSpans:
    """Follows the events of one session.

    Args:
        instruments: Make the spans, and record the metrics.
        session_id: The session.
        model: Returns its model, as `provider/model`.
        content: Whether prompts, answers, arguments and results are part of the spans.
        clock: Time.
    """

    def __init__(
        self, instruments: Instruments, *, session_id: str, model: Callable[[], str], content: bool, clock: Clock
    ) -> None:
        self._instruments = instruments
        self._session_id = session_id
        self._model = model
        self._content = content
        self._now = clock.monotonic
        self._broken = False
        self._turn: _Open | None = None
        self._outside: Context | None = None  # of the turn
        self._came_with = current_trace()
        self._request: _Open | None = None
        self._answer: list[str] = []
        self._calls: dict[str, _Open] = {}
        self._tools: dict[str, Attributes] = {}

    def __call__(self, event: Event) -> None:
        """Follow one event. Whatever goes wrong here ends the following, and not the turn."""
        if self._broken:
            return
        try:
            self._follow(event)
        except Exception:
            self._broken = True
            log.exception("no more spans of a session", extra={"session": self._session_id})

    def _follow(self, event: Event) -> None:
        match event:
            case TextDelta(text=text) if self._request is not None:
                self._first_chunk(self._request)
                if self._content:
                    self._answer.append(text)
            case ThoughtDelta() if self._request is not None:
                self._first_chunk(self._request)
            case StateChanged(seq=seq) if seq:  # the others only say that a person is waited for
                self._end_turn(event)
                if event.state == "running":
                    self._begin_turn()
            case MessageStarted() if not event.local_only:
                self._message(event)
            case UsageChanged():
                self._usage(event)
            case ToolCallChanged():
                self._tool_call(event)
            case Notice(topic="retry" | "switch") if self._request is not None:
                self._request.span.add_event(f"claw.{event.topic}")
            case _:
                pass

    # ------------------------------------------------------------------ turns

    def _begin_turn(self) -> None:
        self._came_with = current_trace()
        self._outside = _W3C.extract(self._came_with) if self._came_with else contexts.get_current()
        attributes = {**self._common("invoke_agent"), "gen_ai.agent.name": AGENT}
        self._turn = self._begin(f"invoke_agent {AGENT}", attributes, parent=self._outside)
        self._carry(self._turn)

    def _end_turn(self, event: StateChanged) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        failure = None if event.error is None else _error_type(event.code)
        self._end_request(failure=failure)
        for call_id in tuple(self._calls):
            self._end_call(call_id, failure="cancelled")
        self._tools.clear()
        if event.stop is not None:
            turn.span.set_attribute("gen_ai.response.finish_reasons", [event.stop])
        if event.usage is not None:
            turn.span.set_attribute("gen_ai.usage.input_tokens", event.usage.input_tokens)
            turn.span.set_attribute("gen_ai.usage.output_tokens", event.usage.output_tokens)
        self._instruments.agent_duration.record(self._end(turn, failure=failure), turn.metered(failure))
        contexts.attach(self._outside or Context())
        carry_trace(self._came_with)

    # ------------------------------------------------------------------ model requests

    def _message(self, event: MessageStarted) -> None:
        if event.role == "user":
            if self._content and self._turn is not None:
                message = {"role": "user", "parts": [{"type": "text", "content": _text(event.parts)}]}
                self._turn.span.set_attribute("gen_ai.input.messages", _shown([message]))
            return
        self._end_request()
        if self._turn is None:
            return
        attributes: Attributes = {**self._common("chat"), "gen_ai.request.stream": True}
        name = f"chat {attributes['gen_ai.request.model']}"
        self._request = self._begin(name, attributes, parent=self._turn.context, kind=SpanKind.CLIENT)
        self._carry(self._request)

    def _first_chunk(self, request: "_Open") -> None:
        if not request.answered:
            request.answered = True
            seconds = self._now() - request.began
            request.span.set_attribute("gen_ai.response.time_to_first_chunk", seconds)
            self._instruments.first_chunk.record(seconds, request.metered(None))

    def _usage(self, event: UsageChanged) -> None:
        usage, request = event.request, self._request
        measured = self._common("chat", event.model) if request is None else dict(request.attributes)
        if event.model:
            measured["gen_ai.response.model"] = event.model.partition("/")[2]
        counts = {"input": usage.input_tokens, "output": usage.output_tokens}
        for kind, count in counts.items():
            self._instruments.tokens.record(count, {**_metered(measured), "gen_ai.token.type": kind})
        if request is None:
            return  # of a summary, which is no message
        more = {
            "gen_ai.usage.cache_read.input_tokens": usage.cached_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cached_write_tokens,
            "gen_ai.usage.reasoning.output_tokens": usage.thought_tokens,
        }
        request.span.set_attributes({f"gen_ai.usage.{kind}_tokens": count for kind, count in counts.items()})
        request.span.set_attributes({name: count for name, count in more.items() if count})
        request.set(measured)
        if event.cost is not None:
            request.span.set_attribute("claw.cost", event.cost)
        self._end_request()

    def _end_request(self, *, failure: str | None = None) -> None:
        request, self._request = self._request, None
        if request is None:
            return
        if self._content and self._answer:
            message = {"role": "assistant", "parts": [{"type": "text", "content": "".join(self._answer)}]}
            request.span.set_attribute("gen_ai.output.messages", _shown([message]))
        self._answer.clear()
        self._instruments.duration.record(self._end(request, failure=failure), request.metered(failure))
        if self._turn is not None:
            self._carry(self._turn)

    # ------------------------------------------------------------------ tool calls

    def _tool_call(self, event: ToolCallChanged) -> None:
        if event.name is not None:
            foreign = "__" in event.name  # a server's, or a program's that attached
            self._tools[event.item] = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.conversation.id": self._session_id,
                "gen_ai.tool.name": event.name,
                "gen_ai.tool.type": "extension" if foreign else "function",
                "gen_ai.tool.call.id": event.item,
            }
            if self._content and event.arguments:
                self._tools[event.item]["gen_ai.tool.call.arguments"] = _shown(event.arguments)
        if event.status == "in_progress" and event.item in self._tools:
            self._begin_call(event.item)
        elif event.status in FINAL and event.item in self._tools:
            if event.item not in self._calls:
                self._begin_call(event.item)  # one that was refused
            if self._content and event.output:
                result = _shown(_text(event.output))
                self._calls[event.item].span.set_attribute("gen_ai.tool.call.result", result)
            failed = None if event.status == "completed" else event.status
            self._end_call(event.item, failure="refused" if event.refusal is not None else failed)

    def _begin_call(self, call_id: str) -> None:
        self._end_request()
        if self._turn is not None and call_id not in self._calls:
            attributes = self._tools[call_id]
            name = f"execute_tool {attributes['gen_ai.tool.name']}"
            self._calls[call_id] = self._begin(name, attributes, parent=self._turn.context)
            self._carry(self._calls[call_id])

    def _end_call(self, call_id: str, *, failure: str | None) -> None:
        self._tools.pop(call_id, None)
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        self._instruments.tool_duration.record(self._end(call, failure=failure), call.metered(failure))
        if self._turn is not None:
            self._carry(self._turn)

    # ------------------------------------------------------------------ spans

    def _common(self, operation: str, model: str = "") -> Attributes:
        provider, _, name = (model or self._model()).partition("/")
        return {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider_name(provider),
            "gen_ai.request.model": name,
            "gen_ai.conversation.id": self._session_id,
        }

    def _begin(
        self, name: str, attributes: Attributes, *, parent: Context, kind: SpanKind = SpanKind.INTERNAL
    ) -> "_Open":
        span = self._instruments.tracer.start_span(name, context=parent, kind=kind, attributes=attributes)
        return _Open(span, parent, attributes, began=self._now())

    def _end(self, opened: "_Open", *, failure: str | None) -> float:
        """End a span; returns its duration."""
        if failure is not None:
            opened.span.set_attribute("error.type", failure)
            opened.span.set_status(Status(StatusCode.ERROR))
        opened.span.end()
        return self._now() - opened.began

    def _carry(self, opened: "_Open") -> None:
        """Let what this task does from now on belong to a span."""
        contexts.attach(opened.context)
        fields: dict[str, str] = {}
        _W3C.inject(fields, opened.context)
        carry_trace(fields)


class _Open:
    """A span that has not ended."""

    def __init__(self, span: Span, parent: Context, attributes: Attributes, *, began: float) -> None:
        self.span = span
        self.context = set_span_in_context(span, parent)
        self.attributes = attributes
        self.began = began
        self.answered = False

    def set(self, attributes: Attributes) -> None:
        self.attributes = attributes
        self.span.set_attributes(attributes)

    def metered(self, failure: str | None) -> Attributes:
        """The attributes of its metrics."""
        return {**_metered(self.attributes), **({} if failure is None else {"error.type": failure})}


_METERED: Final = frozenset(
    {
        "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.response.model",
        "gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.tool.type",
    }
)  # fmt: skip
"""Attributes with few values."""


def _metered(attributes: Attributes) -> Attributes:
    return {name: value for name, value in attributes.items() if name in _METERED}


def _text(parts: tuple[ContentPart, ...]) -> str:
    return "\n".join(part.text if isinstance(part, TextPart) else f"[{type(part).__name__}]" for part in parts)


def _shown(content: object) -> str:
    """Content as an attribute: without what looks like a secret, and bounded."""
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return redact(text)[:LONGEST_CONTENT]


def _error_type(code: int | None) -> str:
    """The class of an error by its code."""
    found = [ClawError]
    for kind in found:
        if kind.code == code and kind is not ClawError:
            return kind.__name__
        found += kind.__subclasses__()
    return OTHER_ERROR
