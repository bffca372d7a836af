"""Events as stateless `session/update` payloads of protocol 2."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from claw_acp.acp import updates
from claw_acp.acp.content import content_block
from claw_acp.acp.updates import text_chunk, thought_id, token_counts, usage_update
from claw_acp.contracts.command import Command
from claw_acp.core.events import (
    CompactionChanged,
    Event,
    MessageStarted,
    Notice,
    PlanChanged,
    StateChanged,
    TextDelta,
    ThoughtDelta,
    TurnState,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.rpc.message import INTERNAL_ERROR

State = Literal["running", "requires_action", "idle"]
STATES: Final[Mapping[TurnState, State]] = {"running": "running", "waiting": "requires_action", "idle": "idle"}


def render(event: Event) -> JsonObject | None:
    """The update that shows a live event; None when it is shown in another way, or not at all."""
    match event:
        case TextDelta(item=item, text=text):
            return text_chunk("agent_message_chunk", item, text) if text else None
        case ThoughtDelta(item=item, text=text):
            return text_chunk("agent_thought_chunk", thought_id(item), text) if text else None
        case MessageStarted():
            return _started(event)
        case PlanChanged():
            return updates.plan_update(event)
        case UsageChanged():
            return usage_update(event)
        case Notice():
            return updates.notice(event)
        case CompactionChanged():
            return updates.compaction(event)
        case _:
            return None


def render_past(event: Event) -> JsonObject | None:
    """The same for past events: whole messages, which replace what a client has of them."""
    match event:
        case TextDelta(item=item, text=text):
            return _message("agent_message", item, (TextPart(text=text),)) if text else None
        case ThoughtDelta(item=item, text=text):
            return _message("agent_thought", thought_id(item), (TextPart(text=text),)) if text else None
        case Notice():
            return None
        case _:
            return render(event)


def _started(event: MessageStarted) -> JsonObject | None:
    if event.role == "user":
        return _message("user_message", event.item, event.parts)
    return _message("agent_message", event.item, event.parts) if event.parts else None  # the first chunk begins it


def end_of_turn(event: StateChanged) -> JsonObject:
    """The reason a turn ended and its usage, if known."""
    usage: JsonObject = {} if event.usage is None else {"usage": token_counts(event.usage)}
    if event.error is not None:
        code = INTERNAL_ERROR if event.code is None else event.code
        return {"stopReason": "error", "error": {"code": code, "message": event.error}, **usage}
    return usage if event.stop is None else {"stopReason": event.stop, **usage}


def available_commands(commands: Sequence[Command]) -> list[JsonObject]:
    """All slash commands, each name once."""
    listed: dict[str, JsonObject] = {}
    for command in commands:
        shown: JsonObject = {"type": "command", "name": command.name, "description": command.description}
        hint: JsonObject = {"input": {"type": "text", "hint": command.hint}} if command.hint else {}
        listed.setdefault(command.name, {**shown, **hint})
    return list(listed.values())


def _message(kind: str, message_id: str, parts: Sequence[ContentPart]) -> JsonObject:
    return {"sessionUpdate": kind, "messageId": message_id, "content": [content_block(part) for part in parts]}
