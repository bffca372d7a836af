"""The entries of a history: a user's message, or an assistant's with its calls and their results."""

from collections.abc import Set as AbstractSet
from typing import Final, TypeAlias

from claw_acp.contracts.bounded import shortened
from claw_acp.core.events import FINAL, Location, TextDelta, ThoughtDelta, ToolCallChanged, ToolKind
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import (
    AudioPart,
    ContentPart,
    FactsPart,
    ImagePart,
    Message,
    Reasoning,
    ResourcePart,
    TextPart,
    ToolCall,
)
from claw_acp.core.value import Record, Value, made_by

INTERRUPTED: Final = "The call was interrupted before it finished; it may have had effects."
NEVER_RAN: Final = "The call was interrupted before it began, so nothing was done."
NO_OUTPUT: Final = "The call finished without output."
ENDS: Final = 1_200  # characters that stay of a shortened result: the last of a large one name the file that has it all


class Call(Record):
    """A tool call as far as it is known. One without a name was never announced and is ignored."""

    id: str
    order: int  # the position of its assistant message
    name: str = ""
    arguments: str = "{}"
    extra: JsonObject | None = None
    begun: bool = False
    final: bool = False
    failed: bool = False
    output: tuple[ContentPart, ...] = ()
    kind: ToolKind | None = None
    places: tuple[Location, ...] = ()
    untrusted: bool = False  # its output was written by strangers

    def change(self, event: ToolCallChanged) -> None:
        """Apply an event of the call."""
        self.name = event.name or self.name
        self.arguments = self.arguments if event.arguments is None else event.arguments
        self.extra = self.extra if event.extra is None else event.extra
        self.begun = self.begun or event.status == "in_progress"
        self.kind = event.kind or self.kind
        self.places = self.places if event.locations is None else event.locations
        self.untrusted = self.untrusted or bool(event.sources)
        if event.status in FINAL:
            self.final = True
            self.failed = event.status != "completed"
            self.output = self.output if event.output is None else event.output

    def call(self) -> ToolCall:
        """The call, as the model made it."""
        return ToolCall(id=self.id, name=self.name, arguments=self.arguments, extra=self.extra)

    def result(self, call: ToolCall, *, short: bool = False) -> Message:
        """The result for the model; with `short`, only its ends."""
        if not self.final:
            return Message.tool(call, INTERRUPTED if self.begun else NEVER_RAN, failed=True)
        parts = _said(self.output) or (TextPart(text=NO_OUTPUT),)
        return Message.tool(call, *(ends_of(parts) if short else parts), failed=self.failed)


class UserEntry(Record):
    """A user's message."""

    id: str
    seq: int  # of its first event
    typed: tuple[ContentPart, ...]
    parts: tuple[ContentPart, ...]  # for models, where that is another text
    facts: str
    local_only: bool  # not for models

    def messages(self, short: AbstractSet[str] = frozenset()) -> tuple[Message, ...]:  # noqa: ARG002 - as below
        """The message for models; none if it is local, or empty."""
        parts = () if self.local_only else _said(self.parts)
        if parts and self.facts:
            parts = (FactsPart(text=f"{self.facts}\n\n"), *parts)
        return (Message(role="user", parts=parts),) if parts else ()


class AssistantEntry(Record):
    """An assistant's message, with its calls and their results."""

    id: str
    seq: int  # of its first event
    parts: tuple[ContentPart, ...] = ()
    text: list[str] = made_by(default_factory=list[str])
    thought: list[str] = made_by(default_factory=list[str])  # the block that is still open
    reasoning: list[Reasoning] = made_by(default_factory=list[Reasoning])  # closed blocks
    calls: dict[str, Call] = made_by(default_factory=dict[str, Call])  # by item
    finished: bool = False  # the model said all it wanted to
    local_only: bool = False  # not for models

    def grow(self, event: TextDelta | ThoughtDelta) -> None:
        """Apply a piece of text or thinking."""
        if isinstance(event, TextDelta):
            self.text.append(event.text)
            return
        self.thought.append(event.text)
        if event.signature is not None or event.redacted is not None or event.origin:
            text = "".join(self.thought)
            self.reasoning.append(
                Reasoning(text=text, signature=event.signature, redacted=event.redacted, origin=event.origin)
            )
            self.thought.clear()

    def settle(self) -> None:
        """Join the collected pieces into one text: hundreds of small strings take ten times its memory."""
        self.text[:] = ["".join(self.text)]
        self.thought[:] = ["".join(self.thought)] if self.thought else []

    def messages(self, short: AbstractSet[str] = frozenset()) -> tuple[Message, ...]:
        """The message and the results of its calls for models; of the results in `short`, only the ends."""
        known = [call for call in self.calls.values() if call.name]
        calls = tuple(call.call() for call in known)
        parts = _said((*self.parts, TextPart(text="".join(self.text))))
        if self.local_only or not (parts or calls):
            return ()
        said = Message(role="assistant", parts=parts, tool_calls=calls, reasoning=self._thoughts())
        results = (call.result(asked, short=call.id in short) for call, asked in zip(known, calls, strict=True))
        return (said, *results)

    def _thoughts(self) -> tuple[Reasoning, ...]:
        """The thinking to send back.

        An open block counts only if the answer is complete: half a thought would pass as whole.
        """
        rest = "".join(self.thought)
        if rest and (self.finished or self.calls):
            return (*self.reasoning, Reasoning(text=rest))
        return tuple(self.reasoning)


Entry: TypeAlias = UserEntry | AssistantEntry


class HistoryItem(Value):
    """A message of the conversation with the results of its calls, for models; `turn` is its turn's id."""

    id: str
    turn: str
    messages: tuple[Message, ...]


class FileUse(Value):
    """A file that a tool call read (from `line` on) or changed."""

    path: str
    line: int | None
    changed: bool


def ends_of(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    """The ends of a result's text, without images and sound; a result that would not get shorter stays as it is."""
    text = "\n".join(part.text or "" for part in parts if isinstance(part, TextPart | ResourcePart))
    media = sum(isinstance(part, ImagePart | AudioPart) for part in parts)
    if len(text) > 2 * ENDS:
        text = shortened(text, room=ENDS)
    elif not media:
        return parts
    left_out = f"\n[{media} pictures or sounds of this old result are left out]" if media else ""
    return (TextPart(text=text + left_out),)


def _said(parts: tuple[ContentPart, ...]) -> tuple[ContentPart, ...]:
    """`parts` without blank text, which some vendors refuse."""
    return tuple([part for part in parts if not isinstance(part, TextPart) or part.text.strip()])
