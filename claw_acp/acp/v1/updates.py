"""Events as `session/update` payloads of protocol 1. Plain dictionaries: this is the streaming path.

Every frame of every test is validated against the official schema, so a slip here fails the suite.
"""

from collections.abc import Sequence
from typing import assert_never

from claw_acp.acp.content import content_block
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.contracts.command import Command
from claw_acp.core.events import (
    CommandContent,
    CommandsChanged,
    CompactionChanged,
    DiffContent,
    Event,
    Location,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    SessionChanged,
    StateChanged,
    TerminalChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolContent,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject, JsonValue


def render(event: Event, *, client: ClientCapabilities, replay: bool) -> JsonObject | None:
    """The update that shows an event, or None when this protocol has none for it."""
    match event:
        case TextDelta(item=item, text=text):
            return _chunk("agent_message_chunk", item, {"type": "text", "text": text})
        case ThoughtDelta(item=item, text=text):
            return _chunk("agent_thought_chunk", item, {"type": "text", "text": text}) if text else None
        case ToolCallChanged():
            return _tool_call(event, replay=replay)
        case PlanChanged():
            return _plan(event, client)
        case UsageChanged(used=used, size=size):
            return {"sessionUpdate": "usage_update", "used": used, "size": size} if size else None
        case Notice():
            return None if replay else _notice(event, client)
        case CompactionChanged():
            return _compaction(event) if client.compaction else None
        case TerminalChanged() | MessageStarted() | StateChanged() | SessionChanged() | CommandsChanged():
            return None  # of programs in the background: they go on between turns, when nothing may be shown
        case _:
            assert_never(event)


def user_message(event: MessageStarted) -> list[JsonObject]:
    """A prompt, one chunk for each of its parts; live clients know what they sent, replay needs it."""
    return [_chunk("user_message_chunk", event.item, content_block(part)) for part in event.parts]


def commands_update(commands: Sequence[Command]) -> JsonObject:
    """The slash commands, all of them."""
    listed = [
        {"name": command.name, "description": command.description}
        | ({"input": {"hint": command.hint}} if command.hint else {})
        for command in commands
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}


def _chunk(kind: str, message_id: str, content: JsonObject) -> JsonObject:
    return {"sessionUpdate": kind, "messageId": message_id, "content": content}


def _notice(event: Notice, client: ClientCapabilities) -> JsonObject | None:
    if client.notices:
        update: dict[str, JsonValue] = {
            "sessionUpdate": "notice",
            "severity": event.severity,
            "title": event.title,
        }
        return update | ({"description": event.description} if event.description else {})
    if event.severity == "error":
        return None  # the prompt's own answer carries it
    text = f"{event.title}: {event.description}" if event.description else event.title
    return _chunk("agent_thought_chunk", event.item, {"type": "text", "text": f"{text}\n\n"})  # many join the thoughts


def _plan(event: PlanChanged, client: ClientCapabilities) -> JsonObject:
    steps = [{"content": step.content, "priority": step.priority, "status": step.status} for step in event.entries]
    if not client.plans:
        return {"sessionUpdate": "plan", "entries": steps}
    if not steps:
        return {"sessionUpdate": "plan_removed", "planId": event.item}
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": event.item, "entries": steps}}


def _compaction(event: CompactionChanged) -> JsonObject:
    if event.delta is not None:
        content: JsonObject = {"type": "text", "text": event.delta}
        return {"sessionUpdate": "compaction_summary_chunk", "compactionId": event.item, "content": content}
    update: dict[str, JsonValue] = {
        "sessionUpdate": "compaction_update",
        "compactionId": event.item,
        "status": event.status,
    }
    if event.summary is not None:
        update["summary"] = [{"type": "text", "text": event.summary}]
    return update | ({"error": event.error} if event.error else {})


def _tool_call(event: ToolCallChanged, *, replay: bool) -> JsonObject:
    content = _without_terminals(event) if replay else event.content
    update: dict[str, JsonValue] = {
        "sessionUpdate": "tool_call_update" if event.name is None else "tool_call",
        "toolCallId": event.item,
    }
    optional: dict[str, JsonValue] = {
        "name": event.name,
        "title": event.title,
        "kind": event.kind,
        "status": "failed" if event.status == "cancelled" else event.status,  # protocol 1 has no word for it
        "locations": None if event.locations is None else [_location(location) for location in event.locations],
        "content": None if content is None else [tool_content(item) for item in content],
        "rawInput": event.raw_input,
        "rawOutput": event.raw_output,
    }
    update.update((key, value) for key, value in optional.items() if value is not None)
    return update


def _without_terminals(event: ToolCallChanged) -> tuple[ToolContent, ...] | None:
    """What to show of a past call: its terminal is gone with the client that had it, its output is not."""
    if event.content is None or not any(isinstance(item, TerminalContent) for item in event.content):
        return event.content
    others = tuple(item for item in event.content if not isinstance(item, TerminalContent))
    return (*others, *(PartContent(part=part) for part in event.output or ()))


def _location(location: Location) -> JsonObject:
    return {"path": location.path} | ({} if location.line is None else {"line": location.line})


def tool_content(item: ToolContent) -> JsonObject:
    """What a tool call shows."""
    match item:
        case PartContent(part=part):
            return {"type": "content", "content": content_block(part)}
        case DiffContent(path=path, old_text=old, new_text=new):
            return {"type": "diff", "path": path, "newText": new} | ({} if old is None else {"oldText": old})
        case TerminalContent(terminal_id=terminal_id):
            return {"type": "terminal", "terminalId": terminal_id}
        case CommandContent(text=text):
            return {"type": "content", "content": {"type": "text", "text": _fenced(text)}}
        case _:
            assert_never(item)


def _fenced(text: str) -> str:
    """Text as a Markdown code block that keeps its shape in a panel."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
