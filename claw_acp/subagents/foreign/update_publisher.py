"""Publishes the updates of an agent that is another program as events of the session of its task."""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from claw_acp.agent.results import bounded_content
from claw_acp.contracts.bounded import bounded_parts
from claw_acp.core.clock import Clock
from claw_acp.core.events import (
    FINAL,
    DiffContent,
    Location,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    PlanEntry,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolContent,
    ToolStatus,
    UsageChanged,
)
from claw_acp.core.ids import new_id
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart, Usage
from claw_acp.core.redaction import Redactor, StreamedRedaction
from claw_acp.schema import updates
from claw_acp.schema.content import TextContent
from claw_acp.schema.plans import Plan
from claw_acp.schema.tool_call import Content, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallUpdate
from claw_acp.schema.updates import ContentChunk, SessionUpdate, UsageUpdate
from claw_acp.session.session import Session
from claw_acp.tools.display import shortened

MOST_TEXT: Final = 2_000_000  # characters of its messages; the rest is not kept
MOST_CALLS: Final = 5_000  # of its own that are shown
MOST_STEPS: Final = 200  # of its plan
LONGEST_ARGUMENTS: Final = 32_768  # characters; longer ones are not kept
_LONGEST_TITLE: Final = 200
_CUT: Final = "\n\n[It said more, which was not kept.]"


class UpdatePublisher:
    """Publishes the updates of one program.

    Args:
        session: The session of its task.
        name: The program's name.
        redactor: Removes keys.
        clock: Makes ids.

    Attributes:
        dollars: The cost so far, as far as the program tells it.
    """

    def __init__(self, session: Session, *, name: str, redactor: Redactor, clock: Clock) -> None:
        self._session = session
        self._name = name
        self._redactor = redactor
        self._clock = clock
        self._message: str | None = None
        self._theirs: str | None = None  # the program's id of that message
        self._redacted: StreamedRedaction = redactor.streamed()
        self._calls: dict[str, str] = {}  # the program's ids -> ours
        self._open: set[str] = set()
        self._said = 0
        self.dollars = 0.0

    async def asking(self) -> str:
        """The message that a call belongs to, which may go on after it."""
        return self._message or await self._begin()

    async def hear(self, update: SessionUpdate) -> None:
        """Publish an update."""
        match update:
            case ContentChunk(
                session_update="agent_message_chunk" | "agent_thought_chunk", content=TextContent(text=text)
            ):
                await self._say(update, text)
            case ToolCall() | updates.ToolCallUpdated():
                await self._call(update)
            case Plan():
                await self._session.publish(PlanChanged(item=self._session.id, entries=tuple(self._steps(update))))
            case UsageUpdate():
                await self._use(update)
            case updates.Notice(title=title):
                notice = Notice(item=new_id("ntc", clock=self._clock), severity="info", title=self._line(title))
                await self._session.broadcast(notice)
            case _:
                pass

    async def end(self, status: ToolStatus) -> None:
        """Publish the rest: what of the last text was held back, and the end of calls that have none."""
        await self._finish()
        for item in sorted(self._open):
            reason = TextPart(text="The agent ended before this did.")
            await self._session.publish(ToolCallChanged(item=item, status=status, output=(reason,)), committed=False)
        self._open.clear()

    # ------------------------------------------------------------------ text

    async def _begin(self) -> str:
        self._message = new_id("msg", clock=self._clock)
        self._redacted = self._redactor.streamed()
        await self._session.publish(MessageStarted(item=self._message, role="assistant"))
        return self._message

    async def _finish(self) -> None:
        """End the present message."""
        message, self._message, self._theirs = self._message, None, None
        rest = self._redacted.close() if message is not None else ""
        if message is not None and rest:
            await self._session.publish(TextDelta(item=message, text=rest))

    async def _say(self, chunk: ContentChunk, text: str) -> None:
        room = MOST_TEXT - self._said
        if room <= 0:
            return
        self._said += len(text)
        if chunk.message_id is not None and self._theirs not in {None, chunk.message_id}:
            await self._finish()
        message = self._message or await self._begin()
        self._theirs = chunk.message_id
        text = text if len(text) <= room else f"{text[:room]}{_CUT}"
        if chunk.session_update == "agent_thought_chunk":
            await self._session.publish(ThoughtDelta(item=message, text=self._redactor(text)))
        elif shown := self._redacted.feed(text):
            await self._session.publish(TextDelta(item=message, text=shown))

    # ------------------------------------------------------------------ its own calls

    async def _call(self, call: ToolCall | ToolCallUpdate) -> None:
        """Show a call that the program runs itself."""
        item = self._calls.get(call.tool_call_id)
        change = ToolCallChanged(
            title=None if not call.title else self._line(call.title),
            kind=call.kind,
            status=call.status,
            locations=None if call.locations is None else tuple(map(_place, call.locations[:100])),
            content=None if call.content is None else bounded_content([*self._content(call.content)]),
        )
        await (self._announce(call, change) if item is None else self._change(item, change))

    async def _announce(self, call: ToolCall | ToolCallUpdate, change: ToolCallChanged) -> None:
        if len(self._calls) >= MOST_CALLS:
            return
        item = self._calls[call.tool_call_id] = new_id("call", clock=self._clock)
        self._open.add(item)
        arguments = self._arguments(call.raw_input)
        name = self._line(call.name or call.kind or "step")
        announced = ToolCallChanged(
            item=item, message=await self.asking(), name=name, title=change.title or name, kind=change.kind or "other",
            status="pending", arguments=arguments, raw_input=json.loads(arguments),
        )  # fmt: skip
        await self._session.publish(announced)
        await self._finish()  # what it says after a step of its own is another message
        await self._change(item, change)

    async def _change(self, item: str, change: ToolCallChanged) -> None:
        if item not in self._open:
            return  # what has ended stays as it was
        status, output = change.status, None
        if status in FINAL:
            self._open.discard(item)
            output = bounded_parts([part.part for part in change.content or () if isinstance(part, PartContent)])
        await self._session.publish(
            ToolCallChanged(
                item=item, title=change.title, kind=change.kind, status=None if status == "pending" else status,
                locations=change.locations, content=change.content, output=output,
            )
        )  # fmt: skip

    def _arguments(self, raw: JsonValue) -> str:
        text = json.dumps(raw) if isinstance(raw, dict) else "{}"
        return self._redactor.without_known(text) if len(text) <= LONGEST_ARGUMENTS else "{}"

    def _content(self, content: Iterable[ToolCallContent]) -> Iterator[ToolContent]:
        for item in content:
            match item:
                case Content(content=TextContent(text=text)):
                    yield PartContent(part=TextPart(text=self._redactor(text)))
                case Diff():
                    yield DiffContent(path=item.path, old_text=item.old_text, new_text=item.new_text)
                case _:
                    pass

    def _line(self, text: str) -> str:
        return shortened(self._redactor(text), most=_LONGEST_TITLE)

    # ------------------------------------------------------------------ the rest

    def _steps(self, plan: Plan) -> Iterator[PlanEntry]:
        for entry in plan.entries[:MOST_STEPS]:
            yield PlanEntry(content=self._line(entry.content), priority=entry.priority, status=entry.status)

    async def _use(self, update: UsageUpdate) -> None:
        cost = update.cost
        if cost is None or cost.currency != "USD" or not self.dollars <= cost.amount <= 1_000_000:
            return
        self.dollars = cost.amount
        event = UsageChanged(
            item=self._session.id, used=update.used, size=update.size, request=Usage(), model=f"agent/{self._name}",
            total=self.dollars,
        )  # fmt: skip
        await self._session.publish(event, committed=False)


def _place(location: ToolCallLocation) -> Location:
    return Location(path=location.path, line=location.line)
