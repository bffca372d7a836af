"""The replies of a scripted model server, in the published streaming formats of two wire families.

A reply is a list of pieces: bytes that leave as one write, a `Gate` to wait at, or a misbehaviour. `Say` renders itself
for the family of the request, so one script serves both.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio
import anyio.from_thread
import anyio.lowlevel

Family = Literal["openai", "anthropic"]
Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"


class Gate:
    """A point in a reply where the server waits until the test opens it, from the same loop or any other thread."""

    def __init__(self) -> None:
        self._opened = False
        self._waiting: list[tuple[anyio.Event, object]] = []

    def open(self) -> None:
        """Let the reply go on. Idempotent."""
        self._opened = True
        for event, token in self._waiting:
            try:
                here = anyio.lowlevel.current_token()
            except anyio.NoEventLoopError:
                here = None
            if here == token:
                event.set()
            else:
                anyio.from_thread.run_sync(event.set, token=token)  # pyright: ignore[reportArgumentType]

    async def passed(self) -> None:
        """Return once the gate is open."""
        event = anyio.Event()
        self._waiting.append((event, anyio.lowlevel.current_token()))
        if not self._opened:
            await event.wait()


@dataclass(frozen=True, slots=True)
class Cut:
    """Close the connection here, without ending the body."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing more and keep the connection until the client closes it."""


Piece: TypeAlias = bytes | Gate | Cut | Stall


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Pieces exactly as given, each a chunk of a chunked body under this status line."""

    pieces: Sequence[Piece] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content_type: str = "text/event-stream"


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Read the request and never answer."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """Read the request and close the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call; string arguments are sent unchanged, in `pieces` fragments."""

    name: str
    arguments: Mapping[str, Json] | str = field(default_factory=dict[str, Json])
    id: str = ""
    pieces: int = 2

    @property
    def json(self) -> str:
        """The arguments as text."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)

    def fragments(self) -> list[str]:
        """The arguments in `pieces` parts, as vendors stream them."""
        text = self.json
        size = max(1, -(-len(text) // self.pieces))
        return [text[start : start + size] for start in range(0, len(text), size)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """Usage as counted by the model; `input` is the uncached part."""

    input: int = 10
    output: int = 5
    cache_read: int = 0
    cache_write: int = 0
    thought: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """An answer in model terms. `insert` puts pieces before the event of that index (a gate, a cut, a stall).

    `stop` is the vendor's stop reason; by default the one that fits the content. `split` decides the writes: one per
    event, one per byte, or the whole body in one.
    """

    text: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    signature: str = "sig"
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    usage: Tokens | None = field(default_factory=Tokens)
    stop: str | None = None
    insert: Mapping[int, Piece] = field(default_factory=dict[int, Piece])
    split: Literal["events", "bytes", "whole"] = "events"

    def render(self, family: Family) -> Raw:
        """The reply as pieces of the family's stream."""
        events = openai_events(self) if family == "openai" else anthropic_events(self)
        if self.split == "whole":
            return Raw(pieces=[b"".join(events)])
        if self.split == "bytes":
            body = b"".join(events)
            return Raw(pieces=[body[i : i + 1] for i in range(len(body))])
        pieces: list[Piece] = []
        for index, event in enumerate(events):
            if index in self.insert:
                pieces.append(self.insert[index])
            pieces.append(event)
        return Raw(pieces=pieces)


Reply: TypeAlias = Say | Raw | NoAnswer | HangUp


def failure(status: int, body: Json, *, headers: Mapping[str, str] | None = None) -> Raw:
    """An error reply: a JSON body, or text as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    kind = "text/plain" if isinstance(body, str) else "application/json"
    return Raw(pieces=[text.encode()], status=status, headers=headers or {}, content_type=kind)


def openai_events(say: Say) -> list[bytes]:
    """The answer as `chat.completion.chunk` events, ending with usage and `[DONE]`."""
    deltas: list[Json] = [{"role": "assistant", "content": "", "refusal": None}]
    deltas += [{"reasoning_content": piece} for piece in say.thinking]
    deltas += [{"content": piece} for piece in say.text]
    if say.refusal:
        deltas.append({"refusal": say.refusal})
    for index, call in enumerate(say.calls):
        deltas.append({"tool_calls": [_openai_call_start(index, call)]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in call.fragments()]
    stop = say.stop or ("tool_calls" if say.calls else "stop")
    events = [_openai_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    events.append(_openai_chunk([{"index": 0, "delta": {}, "finish_reason": stop}]))
    if say.usage is not None:
        events.append(_openai_chunk([], usage=_openai_usage(say.usage)))
    return [*events, b"data: [DONE]\n\n"]


def _openai_call_start(index: int, call: Call) -> Json:
    function: Json = {"name": call.name, "arguments": ""}
    return {"index": index, "id": call.id or f"call_{index}", "type": "function", "function": function}


def _openai_usage(tokens: Tokens) -> Json:
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.thought, "audio_tokens": 0},
    }


def _openai_chunk(choices: Sequence[Json], *, usage: Json = None) -> bytes:
    chunk: Json = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": "test-model",
        "choices": choices,
        "usage": usage,
    }
    return b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n"


def anthropic_events(say: Say) -> list[bytes]:
    """The answer as Messages API events, from `message_start` to `message_stop`, with a `ping` as the API sends it."""
    tokens = say.usage or Tokens(input=0, output=0)
    message: dict[str, Json] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "test-model"}
    message |= {"content": [], "stop_reason": None, "stop_sequence": None}
    message["usage"] = {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": 1,
    }
    events = [_anthropic_event("message_start", message=message)]
    for index, (block, deltas) in enumerate(_anthropic_blocks(say)):
        events.append(_anthropic_event("content_block_start", index=index, content_block=block))
        if index == 0:
            events.append(_anthropic_event("ping"))
        events += [_anthropic_event("content_block_delta", index=index, delta=delta) for delta in deltas]
        events.append(_anthropic_event("content_block_stop", index=index))
    stop = say.stop or ("tool_use" if say.calls else "end_turn")
    usage: Json = {"output_tokens": tokens.output}
    events.append(_anthropic_event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage))
    return [*events, _anthropic_event("message_stop")]


def _anthropic_blocks(say: Say) -> list[tuple[Json, list[Json]]]:
    blocks: list[tuple[Json, list[Json]]] = []
    if say.thinking:
        deltas: list[Json] = [{"type": "thinking_delta", "thinking": piece} for piece in say.thinking]
        deltas.append({"type": "signature_delta", "signature": say.signature})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, deltas))
    if say.text:
        blocks.append(({"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in say.text]))
    for index, call in enumerate(say.calls):
        start: Json = {"type": "tool_use", "id": call.id or f"toolu_{index}", "name": call.name, "input": {}}
        fragments: list[Json] = [{"type": "input_json_delta", "partial_json": part} for part in ("", *call.fragments())]
        blocks.append((start, fragments))
    return blocks


def _anthropic_event(kind: str, **fields: Json) -> bytes:
    data = json.dumps({"type": kind, **fields}, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


Responder: TypeAlias = Callable[["ReceivedRequest"], Reply]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedRequest:
    """A received request. Header names are lower-case; `connection` numbers the TCP connections from 0."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> dict[str, object]:
        """The body, a JSON object."""
        return json.loads(self.body)

    @property
    def family(self) -> Family:
        """The wire family of the request."""
        anthropic = self.path.startswith("/v1/messages") or "anthropic-version" in self.headers
        return "anthropic" if anthropic else "openai"
