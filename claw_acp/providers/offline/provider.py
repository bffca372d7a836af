"""The embedded assistant: it needs no key and no network, so a fresh machine has a working agent.

It is deterministic and works by rules: a request is looked up in a small grammar (`offline.requests`) and carried out
with the session's own tools through ordinary tool calls (`offline.tasks`). It has no state: each answer follows from
the conversation (`offline.task_steps`).
"""

import re
from collections.abc import AsyncGenerator, Sequence

import anyio

from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.messages import AudioPart, ImagePart, LinkPart, Message, Reasoning, ResourcePart, ToolCall, Usage
from claw_acp.core.value import replace
from claw_acp.providers.offline.quotes import path_of
from claw_acp.providers.offline.requests import understand
from claw_acp.providers.offline.task_steps import Move, next_move
from claw_acp.providers.offline.tasks import task_for

MODEL = "assistant"
CONTEXT_WINDOW = 32_768  # tokens; nothing here depends on it, but a client shows how full it is
_MEDIA = (ImagePart, AudioPart)
UNSEEN = "I can neither see pictures nor hear: for that a model has to be set up, as with `claw-acp login`."
CHUNK_WORDS = 3
LETTERS_PER_TOKEN = 4  # the usual rule of thumb, for the usage shown

_CHUNKS = re.compile(rf"(?:\s*\S+){{1,{CHUNK_WORDS}}}\s*|\s+")


class OfflineProvider(Provider):
    """Does simple file work by rules; anything else it answers with a description of what it can do."""

    def __init__(self, setup: ProviderSetup) -> None:
        self.name = setup.name

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer with the next move."""
        return _response(_move(request), request)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer with the next move, a few words at a time."""
        move = _move(request)
        if move.thought:
            yield ThoughtChunk(text=move.thought)
        for chunk in _CHUNKS.findall(move.text):
            yield TextChunk(text=chunk)
            await anyio.lowlevel.checkpoint()  # whoever wants to cancel or to send gets a turn
        yield Finished(response=_response(move, request))

    def capabilities(self, model: str) -> Capabilities:
        """Tools. Images and sound are accepted, as the handshake offers, and answered with an explanation."""
        del model
        return Capabilities(images=True, audio=True, thinking=True, context_window=CONTEXT_WINDOW)

    async def models(self) -> Sequence[ModelInfo]:
        """Its only model."""
        return (
            ModelInfo(id=MODEL, name="Offline assistant", description="Simple file work by rules, without a model"),
        )


def _move(request: ChatRequest) -> Move:
    asked = next((message for message in reversed(request.messages) if message.role == "user"), Message.user("help"))
    offered = frozenset(tool.name for tool in request.tools)
    wishes = understand(asked.text, attached=_attached(asked))
    move = next_move(task_for(wishes, offered=offered), conversation=request.messages, offered=offered)
    if request.messages and request.messages[-1] is asked and any(isinstance(part, _MEDIA) for part in asked.parts):
        return replace(move, text=f"{UNSEEN}\n\n{move.text}".rstrip())
    return move


def _attached(message: Message) -> str | None:
    """The path of the first file that came with the message."""
    return next((path_of(part.uri) for part in message.parts if isinstance(part, LinkPart | ResourcePart)), None)


def _response(move: Move, request: ChatRequest) -> ChatResponse:
    answers = sum(1 for message in request.messages if message.role == "assistant")
    calls = tuple(
        ToolCall(id=f"offline-{answers}-{number}", name=call.tool, arguments=call.arguments_text)
        for number, call in enumerate(move.calls)
    )
    return ChatResponse(
        text=move.text,
        tool_calls=calls,
        reasoning=(Reasoning(text=move.thought),) if move.thought else (),
        usage=_usage(move, request),
        stop="tool_calls" if calls else "end",
    )


def _usage(move: Move, request: ChatRequest) -> Usage:
    read = sum(
        len(message.text) + sum(len(call.arguments) for call in message.tool_calls) for message in request.messages
    )
    said = len(move.text) + len(move.thought) + sum(len(call.arguments_text) for call in move.calls)
    return Usage(input_tokens=read // LETTERS_PER_TOKEN, output_tokens=said // LETTERS_PER_TOKEN)
