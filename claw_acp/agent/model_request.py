"""One streamed request to a model, rendered as events."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import assert_never

from claw_acp.agent.billing import Billing
from claw_acp.agent.call_drafts import MOST_CALLS, CallDrafts
from claw_acp.agent.streamed_answer import StreamedAnswer
from claw_acp.contracts.content_support import supported_messages
from claw_acp.contracts.provider import (
    TOOL_CHOICE,
    CallChunk,
    Capabilities,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    Provider,
    Remark,
    Retrying,
    Spent,
    Switched,
    TextChunk,
    ThoughtChunk,
    ToolChoice,
    ToolSpec,
)
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ProviderError, StreamInterrupted
from claw_acp.core.events import MessageStarted, Notice, NoticeTopic, UsageChanged
from claw_acp.core.ids import new_id
from claw_acp.core.messages import Message, ToolCall, Usage
from claw_acp.core.redaction import Redactor
from claw_acp.core.value import replace
from claw_acp.registry.foreign_code import is_cancellation
from claw_acp.session.session import Session


class ModelRequester:
    """Asks one model in one session, for one turn.

    Args:
        session: Receives the answers.
        provider: The provider to ask.
        model: For `ChatRequest.model`.
        billing: Admits every request, and records its cost.
        options: Read again for each request: a person may change them meanwhile.
        drafts: Shows calls that are still being written.
        capabilities: The current capabilities of the model; None: those that the provider states.
        notice: A notice about the choice of model, shown with the first request.
        redactor: Removes known keys from the model's output.
        clock: Time for ids.
    """

    def __init__(
        self,
        session: Session,
        *,
        provider: Provider,
        model: str,
        billing: Billing,
        options: Callable[[], ChatOptions],
        drafts: CallDrafts,
        clock: Clock,
        capabilities: Callable[[], Capabilities] | None = None,
        notice: str | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self._session = session
        self._provider = provider
        self._model = model
        self._billing = billing
        self._options = options
        self._drafts = drafts
        self._clock = clock
        self._capabilities = capabilities or partial(provider.capabilities, model)
        self._notice = notice
        self._redactor = redactor or Redactor()
        self._told: set[tuple[str, str]] = set()
        self._begun = False  # whether an attempt began to answer that is not billed yet
        self._aside: ChatResponse | None = None  # the last answer aside that is not reported yet
        self._asking = ""  # who is asked now, if that is another than the model: `provider/model`

    async def ask(
        self, messages: Sequence[Message], *, tools: Sequence[ToolSpec], tool_choice: ToolChoice = "auto"
    ) -> tuple[str, ChatResponse]:
        """Stream one answer into the session.

        Returns:
            The id of the assistant message, and the response with the vendor's call ids replaced by our own.

        Raises:
            BudgetReached: The request may exceed a budget, also at a fallback model, and no person allowed that.
            ProviderError: The request failed; what was already visible stays in the session.
        """
        await self._introduce()
        wanted = tool_choice if tool_choice == "none" else TOOL_CHOICE.get() or tool_choice
        options = replace(self._options(), tool_choice=wanted)
        seen = supported_messages(messages, capabilities=self._capabilities())
        request = ChatRequest(model=self._model, messages=seen, tools=tools, options=options, on_first_byte=self._begin)
        await self._billing.admit(request)
        message_id = new_id("msg", clock=self._clock)
        await self._session.publish(MessageStarted(item=message_id, role="assistant"))
        self._begun, self._asking = False, ""
        try:
            response = await self._stream(message_id, request)
        except BaseException as error:
            self._settle(error.usage if isinstance(error, ProviderError) else None)
            with self._session.cleanup_scope():
                await self._drafts.cut_off("cancelled" if is_cancellation(error) else "failed")
            raise
        finally:
            self._billing.end()
        usage = await self._report_usage(message_id, response)
        calls = tuple(self._own(call, index=index) for index, call in enumerate(_bounded(response.tool_calls)))
        await self._drafts.cut_off("failed")
        return message_id, ChatResponse(
            text=response.text, tool_calls=calls, reasoning=response.reasoning, usage=usage, stop=response.stop
        )

    async def _stream(self, message_id: str, request: ChatRequest) -> ChatResponse:
        answer = StreamedAnswer(self._session, message=message_id, redactor=self._redactor)
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                match event:
                    case TextChunk(text=text):
                        self._begun = True
                        await answer.say(text)
                    case ThoughtChunk():
                        self._begun = True
                        await answer.think(event)
                    case CallChunk():
                        await self._grow(event, message=message_id, choice=request.options.tool_choice)
                    case Retrying() | Switched():
                        await answer.end()
                        await self._drafts.cut_off("failed")
                        await self._note(event)
                    case Remark() | Spent():
                        await self._note(event)
                    case Finished(response=response):
                        await answer.end()
                        return response
                    case _:
                        assert_never(event)
        raise self._unfinished()

    async def ask_aside(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec],
        tool_choice: ToolChoice,
        show: Callable[[str], Awaitable[None]] | None = None,
    ) -> ChatResponse:
        """An answer that is no part of the conversation; `show` gets its text piece by piece.

        Calls in it are not run. `aside_usage` reports what it took.

        Raises:
            BudgetReached: As in `ask`.
            ProviderError: The request failed.
        """
        self._aside = None
        options = replace(self._options(), tool_choice=tool_choice)
        seen = supported_messages(messages, capabilities=self._capabilities())
        request = ChatRequest(model=self._model, messages=seen, tools=tools, options=options, on_first_byte=self._begin)
        await self._billing.admit(request)
        self._begun, self._asking = False, ""
        try:
            text, self._aside = await self._listen(request, show)
        except BaseException as error:
            self._settle(error.usage if isinstance(error, ProviderError) else None)
            raise
        finally:
            self._billing.end()
        self._billing.charge(self._aside.usage, model=self._aside.answered_by)
        return replace(self._aside, text=text)

    async def _listen(
        self, request: ChatRequest, show: Callable[[str], Awaitable[None]] | None
    ) -> tuple[str, ChatResponse]:
        clean, pieces = self._redactor.streamed(), list[str]()
        async with aclosing(self._provider.stream(request)) as events:
            async for event in events:
                match event:
                    case TextChunk(text=text):
                        self._begun = True
                        pieces.append(clean.feed(text))
                        if show is not None:
                            await show(pieces[-1])
                    case ThoughtChunk() | CallChunk():
                        self._begun = True
                    case Finished(response=response):
                        return "".join((*pieces, clean.close())), response
                    case _:
                        await self._note(event)
        raise self._unfinished()

    @property
    def window(self) -> int:
        """The context window of the model in tokens; 0 when it is not known."""
        return self._capabilities().context_window

    def for_model(
        self, name: str, *, provider: Provider, options: Callable[[], ChatOptions], redactor: Redactor
    ) -> "ModelRequester":
        """The same for another model (`provider/model`), which is asked in between and is billed to this turn."""
        return ModelRequester(
            self._session,
            provider=provider,
            model=name.partition("/")[2],
            billing=self._billing.for_model(name),
            options=options,
            drafts=self._drafts,
            redactor=redactor,
            clock=self._clock,
        )

    def aside_usage(self, item: str, *, used: int, size: int) -> UsageChanged | None:
        """The report of the last answer aside, as of `item`; None if there is none.

        The context has `used` of `size` tokens.
        """
        aside, self._aside = self._aside, None
        if aside is None or aside.usage is None:
            return None
        event = self._billing.usage_event(item, aside.usage, model=aside.answered_by, size=size)
        return replace(event, used=used)

    async def _note(self, event: Retrying | Switched | Remark | Spent) -> None:
        """Bill and show an event that is about the request, and not of its answer."""
        match event:
            case Retrying(reason=reason, delay=delay):
                self._settle()
                when = f"in {delay:.1f} s" if delay else "at once"
                await self._warn(f"Trying again {when}", reason, topic="retry")
            case Switched(reason=reason, to=to):
                self._settle()
                self._asking = to
                await self._warn_once(f"{to} answers instead", reason)
                await self._billing.admit_other(to)
            case Remark(text=text):
                await self._warn(text)
            case Spent(model=model, usage=usage):
                self._begun = False
                self._billing.charge(usage, model=model)
            case _:
                assert_never(event)

    def _unfinished(self) -> StreamInterrupted:
        return StreamInterrupted(
            f"{self._provider.name} ended its answer without saying that it was done; send the prompt again",
            provider=self._provider.name,
        )

    async def _grow(self, piece: CallChunk, *, message: str, choice: ToolChoice) -> None:
        """Show a call as it is written, unless it will not be run."""
        self._begun = True
        if choice != "none":
            await self._drafts.grow(piece, message=message)

    def _begin(self) -> None:
        self._begun = True

    def _settle(self, usage: Usage | None = None) -> None:
        """Bill an abandoned attempt that had begun to answer, or reported its usage."""
        if self._begun or usage is not None:
            self._begun = False
            self._billing.charge(usage, model=self._asking)

    async def _introduce(self) -> None:
        notice, self._notice = self._notice, None
        if notice is not None:
            notice_id = new_id("ntc", clock=self._clock)
            await self._session.publish(Notice(item=notice_id, severity="info", title=notice, topic="switch"))

    async def _warn_once(self, title: str, reason: str) -> None:
        """Show a notice at most once in the turn."""
        if (title, reason) not in self._told:
            self._told.add((title, reason))
            await self._warn(title, reason, topic="switch")

    async def _warn(self, title: str, reason: str | None = None, *, topic: NoticeTopic | None = None) -> None:
        notice_id = new_id("ntc", clock=self._clock)
        notice = Notice(item=notice_id, severity="warning", title=title, description=reason, topic=topic)
        await self._session.publish(notice)

    async def _report_usage(self, message_id: str, response: ChatResponse) -> Usage | None:
        """Publish the request's usage, and return it including abandoned attempts."""
        self._billing.charge(response.usage, model=response.answered_by)
        if response.usage is not None:
            event = self._billing.usage_event(message_id, response.usage, model=response.answered_by, size=self.window)
            await self._session.publish(event)
        return self._billing.taken

    def _own(self, call: ToolCall, *, index: int) -> ToolCall:
        call_id = self._drafts.claim(index, name=call.name)
        return replace(call, id=call_id)


def _bounded(calls: Sequence[ToolCall]) -> Sequence[ToolCall]:
    """The calls of an answer, at most so many; the first that is too much tells the model of the others."""
    if len(calls) <= MOST_CALLS:
        return calls
    problem = (
        f"One answer may hold at most {MOST_CALLS} calls, so this one was not run, and neither were the "
        f"{len(calls) - MOST_CALLS - 1:,} behind it. Make them in further answers if they are still needed."
    )
    return (*calls[:MOST_CALLS], replace(calls[MOST_CALLS], problem=problem))
