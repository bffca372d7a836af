"""Tools for every model: native ones, or described in text if the model or the vendor supports none.

The mode of a model is known, or found out once: a request that a vendor refuses because of its tools is repeated at
once with text tools, and that is remembered for a week, across processes.
"""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio import to_thread

from claw_acp.config.atomic_file import only_writer, put_in_place
from claw_acp.config.safe_read import read_plain_file
from claw_acp.contracts.provider import (
    CallChunk,
    Capabilities,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    OneTool,
    Provider,
    Retrying,
    StreamEvent,
    TextChunk,
    ToolSpec,
)
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.errors import ToolsUnsupported, ToolUseRefused
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import ToolCall
from claw_acp.core.private_directory import make_private
from claw_acp.core.value import replace
from claw_acp.net.closing import closing
from claw_acp.providers.text_tools.request import in_words, needs_words
from claw_acp.providers.transport.answer_parser import empty_answer
from claw_acp.providers.transport.streaming import StreamingProvider
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from claw_acp.providers.text_tools.answer_reader import AnswerReader

VALIDITY: Final = 7 * 86_400.0  # seconds; services learn
MOST_REMEMBERED: Final = 256  # models; the oldest goes
FILE_LIMIT: Final = 256 * 1024  # bytes
KEEP_TIMEOUT: Final = 2.0  # seconds for the file; what is not kept costs the next process one refused request

ANSWER_READER: "Ref[type[AnswerReader]]" = Ref("claw_acp.providers.text_tools.answer_reader:AnswerReader")
GIVEN_TEXTS: Ref[Callable[[ChatRequest], Iterator[str]]] = Ref("claw_acp.providers.text_tools.quotations:given_texts")

log = logging.getLogger(__name__)


class ToolModes:
    """The models that were found to need text tools, as (provider, model).

    Args:
        file: The file that stores them for later processes; None: none. An unreadable or unwritable file only costs one
            more refused request.
        clock: Time, for the age of an entry.
    """

    def __init__(self, file: Path | None = None, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self._file = file
        self._since: dict[tuple[str, str], float] = {}
        self._read = file is None
        self._reading = anyio.Lock()

    async def in_words(self, provider: str, model: str) -> bool:
        """True if the model needs text tools."""
        await self._look()
        return self.clock.now() - self._since.get((provider, model), 0.0) < VALIDITY

    async def remember(self, provider: str, model: str) -> None:
        """Note that the model needs text tools."""
        await self._look()
        self._since = _bounded({**self._since, (provider, model): self.clock.now()})
        if self._file is not None:
            keep = partial(_keep, self._file, self._since, now=self.clock.now())
            reason = f"another process held the file for {KEEP_TIMEOUT:g} s"
            with anyio.move_on_after(KEEP_TIMEOUT):
                try:
                    self._since = await to_thread.run_sync(keep, abandon_on_cancel=True)
                    reason = ""
                except OSError as error:
                    reason = str(error)
            if reason:
                log.warning("tool modes not kept", extra={"path": str(self._file), "reason": reason})

    async def _look(self) -> None:
        """Read the file, once."""
        async with self._reading:
            if self._read or self._file is None:
                return
            now = self.clock.now()
            self._since = await to_thread.run_sync(partial(_kept, self._file, now=now), abandon_on_cancel=True)
            self._read = True


class TextToolProvider(StreamingProvider):
    """Another provider with tools for all its models."""

    def __init__(self, inner: Provider, *, memory: ToolModes) -> None:
        self.name = inner.name
        self._inner = inner
        self._memory = memory

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece.

        If tools are refused, the same request is repeated with text tools, with one notice.
        """
        refused, lasting = "", True
        if not needs_words(request) or await self._takes_tools(request.model):
            events = self._read(request, request, told=False) if request.tools else self._inner.stream(request)
            try:
                async with closing(events):
                    async for event in events:
                        yield event
            except ToolsUnsupported as error:
                if not needs_words(request):
                    raise
                refused, lasting = error.message, not isinstance(error, ToolUseRefused)
            else:
                return
        if refused:
            log.info("tools in words", extra={"provider": self.name, "model": request.model, "reason": refused})
            if lasting:
                await self._memory.remember(self.name, request.model)
            words = f"{self.name} refuses to give {request.model} tools; they are explained to it in words"
            yield Retrying(reason=f"{words} from now on." if lasting else f"{words} this time.", delay=0.0)
        told = in_words(request)
        async with closing(
            self._read(request, told, told=True) if request.tools else self._inner.stream(told)
        ) as events:
            async for event in events:
                yield event

    async def _takes_tools(self, model: str) -> bool:
        return self._inner.capabilities(model).tools and not await self._memory.in_words(self.name, model)

    async def _read(self, request: ChatRequest, sent: ChatRequest, *, told: bool) -> AsyncGenerator[StreamEvent, None]:
        """The answer to a request, with the calls in its text as calls. Where it has native ones, only those count."""
        reader = ANSWER_READER.load()(
            _offered(request),
            strictly=not told,
            new_id=partial(new_id, "call", clock=self._memory.clock),
            given=partial(GIVEN_TEXTS.load(), request),
        )
        said: list[str] = []
        native = False
        async with closing(self._inner.stream(sent)) as events:
            async for event in events:
                shown = ""
                if isinstance(event, TextChunk):
                    shown = event.text if native else reader.feed(event.text)
                elif not native and isinstance(event, CallChunk | Finished):
                    native = isinstance(event, CallChunk) or bool(event.response.tool_calls)
                    cut = isinstance(event, Finished) and event.response.stop == "max_tokens"
                    shown = reader.release() if native else reader.finish(cut=cut)
                if shown:
                    said.append(shown)
                    yield TextChunk(text=shown)
                if isinstance(event, Finished):
                    calls = () if native else tuple(reader.calls)
                    yield Finished(response=self._whole(request, event.response, "".join(said), calls))
                elif not isinstance(event, TextChunk):
                    yield event

    def _whole(
        self, request: ChatRequest, response: ChatResponse, text: str, calls: tuple[ToolCall, ...]
    ) -> ChatResponse:
        """The response with the calls that its text held.

        Raises:
            EmptyAnswer: It held only calls, and none was allowed.
        """
        if not calls:
            return response
        if request.options.tool_choice == "none":
            if not text.strip():
                empty = empty_answer(self.name, model=request.model)
                empty.usage = response.usage
                raise empty
            return replace(response, text=text)
        log.info("calls in text", extra={"provider": self.name, "model": request.model, "calls": len(calls)})
        stop = "tool_calls" if response.stop == "end" else response.stop
        return replace(response, text=text, tool_calls=calls, stop=stop)

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of `model` apart from text tools."""
        return self._inner.capabilities(model)

    async def models(self) -> Sequence[ModelInfo]:
        """The models on offer."""
        return await self._inner.models()

    async def aclose(self) -> None:
        """Release what the inner provider holds."""
        await self._inner.aclose()


def _offered(request: ChatRequest) -> Sequence[ToolSpec]:
    """The tools that the choice of the request leaves."""
    choice = request.options.tool_choice
    return (
        [tool for tool in request.tools if tool.name == choice.name] if isinstance(choice, OneTool) else request.tools
    )


# ------------------------------------------------------------------ the file


def _kept(file: Path, *, now: float) -> dict[tuple[str, str], float]:
    """The models and times of the last days in a file; empty if it is damaged."""
    try:
        rows: JsonValue = json.loads(read_plain_file(file, limit=FILE_LIMIT))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        log.warning("tool modes not readable", extra={"path": str(file), "reason": str(error)})
        return {}
    if not isinstance(rows, list):
        return {}
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        match row:
            case [str(provider), str(model), int(since) | float(since)] if now - VALIDITY < since <= now:
                found[provider, model] = float(since)
            case _:
                pass
    return _bounded(found)


def _keep(file: Path, since: dict[tuple[str, str], float], *, now: float) -> dict[tuple[str, str], float]:
    """Write the entries, merged with those of other processes; returns all of them."""
    make_private(file.parent)
    with only_writer(file):
        together = _bounded({**_kept(file, now=now), **since})
        rows = [[provider, model, moment] for (provider, model), moment in together.items()]
        put_in_place(file, json.dumps(rows))
    return together


def _bounded(since: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    return dict(sorted(since.items(), key=lambda item: item[1])[-MOST_REMEMBERED:])
