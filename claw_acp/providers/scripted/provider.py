"""A play-back model for tests: answers come from a script file (`claw_acp.providers.scripted.script` has the format).

The turn to play follows from the conversation alone, so a provider may serve many sessions at once, and a process that
was killed in the middle of a turn goes on at the place that the journal shows.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from claw_acp.contracts.provider import (
    CallChunk,
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
from claw_acp.core.errors import ConfigError, ProviderTimeout, RequestRejected
from claw_acp.core.messages import FactsPart, Message, ModelStop, Reasoning, ToolCall, Usage
from claw_acp.core.value import Value
from claw_acp.providers.scripted.script import CallStep, ErrorStep, Step, Turn, load_script

WAIT_LIMIT = 30.0  # seconds a `wait_for` step waits; longer than any sane test, shorter than its time limit
WAIT_POLL = 0.005  # seconds between looks
SEEN_LIMIT = 300  # characters of a message quoted in a failed `expect`


@dataclass(slots=True)
class _Answer:
    """The part of a turn that was played so far."""

    text: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    usage: Usage | None = None
    stop: ModelStop | None = None

    def response(self) -> ChatResponse:
        thinking = "".join(self.thoughts)
        return ChatResponse(
            text="".join(self.text),
            tool_calls=tuple(self.calls),
            reasoning=(Reasoning(text=thinking),) if thinking else (),
            usage=self.usage,
            stop=self.stop or ("tool_calls" if self.calls else "end"),
        )


class _Cue(Value):
    """The turn to play and its number, which makes call ids unique in the conversation."""

    turn: Turn
    number: int


class ScriptedProvider(Provider):
    """Plays a script back. The only state is the number of failures of each `error` step with `times`."""

    def __init__(self, setup: ProviderSetup) -> None:
        """Read the script.

        Raises:
            ConfigError: None is named, or the file is not a script.
        """
        if setup.script is None:
            raise ConfigError(f'[providers.{setup.name}] plays a script; name it: script = "PATH"')
        self.name = setup.name
        self._script = load_script(setup.script)
        self._failures: Counter[int] = Counter()  # by identity: equal steps at two places count apart

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Play the next turn in one piece."""
        async with aclosing(self.stream(request)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return event.response
        raise RequestRejected("the script ended without an answer", provider=self.name)  # pragma: no cover

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Play the next turn step by step.

        Raises:
            ProviderError: The script has an error here, has ended, or expected another text.
        """
        cue = self._cue(request.messages)
        answer = _Answer()
        for step in cue.turn.steps:
            for event in _spoken(step, answer=answer):
                yield event
                await anyio.lowlevel.checkpoint()
            if step.call and step.call.wait_for:
                index, text = len(answer.calls), step.call.arguments_text
                yield CallChunk(index=index, name=step.call.name)
                yield CallChunk(index=index, name=step.call.name, arguments=text[:-1])
                await self._wait_for(self._script.folder / step.call.wait_for)
                yield CallChunk(index=index, name=step.call.name, arguments=text[-1:])
            await self._act(step, cue=cue, answer=answer, messages=request.messages)
        yield Finished(response=answer.response())

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities declared by the script."""
        del model
        return self._script.capabilities.to_capabilities()

    async def models(self) -> Sequence[ModelInfo]:
        """The models the script names."""
        return tuple(ModelInfo(id=model) for model in self._script.models)

    def _cue(self, messages: Sequence[Message]) -> _Cue:
        """Choose the turn: walk the conversation and count the answers given for each kind of user message."""
        turns = self._unconditional()
        matched: Sequence[Turn] = ()
        in_order = since_user = total = 0
        for message in messages:
            if message.role == "user":
                matched, since_user = self._matching(message.text), 0
            elif message.role == "assistant":
                total += 1
                since_user += 1
                in_order += not matched
        chosen, position = (matched, since_user) if matched else (turns, in_order)
        if self._script.loop and chosen:
            position %= len(chosen)
        if position >= len(chosen):
            said = next((m.text for m in reversed(messages) if m.role == "user"), "")
            raise RequestRejected(
                f"the script is over: it has {len(chosen)} turn(s) for this conversation, and request "
                f"{position + 1} came (last user message: {said[:SEEN_LIMIT]!r})",
                provider=self.name,
            )
        return _Cue(turn=chosen[position], number=total)

    def _unconditional(self) -> Sequence[Turn]:
        return [turn for turn in self._script.turns if turn.when is None]

    def _matching(self, text: str) -> Sequence[Turn]:
        return [turn for turn in self._script.turns if turn.when is not None and turn.when.search(text)]

    async def _act(self, step: Step, *, cue: _Cue, answer: _Answer, messages: Sequence[Message]) -> None:
        if step.call:
            answer.calls.append(_call(step.call, number=cue.number, index=len(answer.calls)))
        if step.usage:
            answer.usage = step.usage.to_usage()
        if step.stop:
            answer.stop = step.stop
        if step.expect:
            self._expect(step.expect.contains, messages)
        if step.wait_for:
            await self._wait_for(self._script.folder / step.wait_for)
        if step.error:
            self._fail(step.error)

    def _expect(self, text: str, messages: Sequence[Message]) -> None:
        heard = next((m for m in reversed(messages) if m.role in {"user", "tool"}), None)
        seen = heard.text if heard else ""
        facts = "".join(part.text for part in heard.parts if isinstance(part, FactsPart)) if heard else ""
        if text not in facts + seen:
            raise RequestRejected(
                f"the script expected the last message to contain {text!r}, but saw {seen[:SEEN_LIMIT]!r}",
                provider=self.name,
            )

    async def _wait_for(self, path: Path) -> None:
        with anyio.move_on_after(WAIT_LIMIT):
            while not await anyio.Path(path).exists():  # noqa: ASYNC110 - another process makes the file
                await anyio.sleep(WAIT_POLL)
            return
        raise ProviderTimeout(f"the script waited {WAIT_LIMIT:.0f} s for {path}, which never came", provider=self.name)

    def _fail(self, step: ErrorStep) -> None:
        if step.times is not None:
            if self._failures[id(step)] >= step.times:
                return
            self._failures[id(step)] += 1
        raise step.to_error(provider=self.name)


def _spoken(step: Step, *, answer: _Answer) -> Iterator[StreamEvent]:
    for text in _chunks(step.text):
        answer.text.append(text)
        yield TextChunk(text=text)
    for text in _chunks(step.thought):
        answer.thoughts.append(text)
        yield ThoughtChunk(text=text)


def _chunks(value: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else value


def _call(step: CallStep, *, number: int, index: int) -> ToolCall:
    return ToolCall(id=step.id or f"scripted-{number}-{index}", name=step.name, arguments=step.arguments_text)
