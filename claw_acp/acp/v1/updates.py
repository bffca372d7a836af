"""Events as `session/update` payloads of protocol 1. Plain dictionaries: this is the streaming path.

Every frame of every test is validated against the official schema, so a mistake here fails the suite.
"""

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from claw_acp.acp import updates
from claw_acp.acp.content import content_block
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.updates import chunk, location, text_chunk, thought_id, usage_update, without_terminals
from claw_acp.contracts.command import Command
from claw_acp.core.events import (
    FINAL,
    AttemptsChanged,
    CommandContent,
    CommandsChanged,
    CompactionChanged,
    CompactionStatus,
    DiffContent,
    Event,
    FilesChanged,
    FilesRestored,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    SessionChanged,
    StateChanged,
    SubagentChanged,
    TerminalChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolContent,
    ToolStatus,
    TurnRewound,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.markdown import code_block
from claw_acp.core.value import replace

SHORTENED: Final = "Old tool results were shortened for the model, to make room; you still see them whole"
_COMPACTED: Final[Mapping[CompactionStatus, str]] = {
    "completed": "The conversation was summarized for the model, to make room; you still see all of it",
    "failed": "The conversation could not be summarized",
}


def render(event: Event, *, client: ClientCapabilities, replay: bool) -> JsonObject | None:
    """The update that shows an event, or None when this protocol has none for it."""
    match event:
        case TextDelta(item=item, text=text):
            return text_chunk("agent_message_chunk", item, text)
        case ThoughtDelta(item=item, text=text):
            return text_chunk("agent_thought_chunk", thought_id(item), text) if text else None
        case ToolCallChanged():
            return _tool_call(event, replay=replay)
        case PlanChanged():
            return _plan(event, client)
        case UsageChanged():
            return usage_update(event)
        case Notice():
            return None if replay else _notice(event, client)
        case CompactionChanged():
            return updates.compaction(event) if client.compaction else _compaction(event, client, replay=replay)
        # Programs in the background go on between turns, when nothing may be shown; subagents have views of their own.
        case (
            MessageStarted() | StateChanged() | SessionChanged() | CommandsChanged() | TerminalChanged()
            | TurnRewound() | FilesChanged() | FilesRestored() | AttemptsChanged() | SubagentChanged()
        ):  # fmt: skip
            return None
        case _:
            assert_never(event)


def user_message(event: MessageStarted) -> list[JsonObject]:
    """A prompt, one chunk for each of its parts; live clients know what they sent, only replays need it."""
    return [chunk("user_message_chunk", event.item, content_block(part)) for part in event.parts]


def commands_update(commands: Sequence[Command]) -> JsonObject:
    """All slash commands."""
    listed = [
        {"name": command.name, "description": command.description}
        | ({"input": {"hint": command.hint}} if command.hint else {})
        for command in commands
    ]
    return {"sessionUpdate": "available_commands_update", "availableCommands": listed}


def _notice(event: Notice, client: ClientCapabilities) -> JsonObject | None:
    if client.notices:
        return updates.notice(event)
    if event.severity == "error":
        return None  # the prompt's own answer carries it
    text = f"{event.title}: {event.description}" if event.description else event.title
    return text_chunk("agent_thought_chunk", event.item, f"{text}\n\n")  # many join the thoughts


def _compaction(event: CompactionChanged, client: ClientCapabilities, *, replay: bool) -> JsonObject | None:
    """The end of a compaction as a notice."""
    if replay or event.status not in _COMPACTED:
        return None
    title = _COMPACTED[event.status] if event.status == "failed" or event.summary else SHORTENED
    return _notice(Notice(item=event.item, severity="info", title=title, description=event.error), client)


def subagent_update(event: SubagentChanged) -> JsonObject:
    """The session of a subagent that is at work, or is no more."""
    reason: JsonObject = {} if event.stop is None else {"stopReason": event.stop}
    update: JsonObject = {
        "sessionUpdate": "subagent_update", "sessionId": event.item, "state": {"state": event.state, **reason},
    }  # fmt: skip
    texts = {"title": event.title, "description": event.description}
    return {**update, **{key: value for key, value in texts.items() if value is not None}}


def _plan(event: PlanChanged, client: ClientCapabilities) -> JsonObject:
    if not client.plans:
        return {"sessionUpdate": "plan", "entries": updates.steps(event)}
    if not event.entries:
        return {"sessionUpdate": "plan_removed", "planId": event.item}
    return updates.plan_update(event)


def _tool_call(event: ToolCallChanged, *, replay: bool) -> JsonObject | None:
    shown = without_terminals(event) if replay else event.content
    content = None if shown is None else [tool_content(item) for item in shown if not _is_blank(item)]
    if shown and not content:
        content = None  # a command that has not printed yet: what was shown before stays
    update: dict[str, JsonValue] = {
        "sessionUpdate": "tool_call_update" if event.name is None else "tool_call",
        "toolCallId": event.item,
    }
    optional: dict[str, JsonValue] = {
        "name": event.name,
        "title": event.title,
        "kind": event.kind,
        "status": "failed" if event.status == "cancelled" else event.status,  # protocol 1 has no word for it
        "locations": None if event.locations is None else [location(place) for place in event.locations],
        "content": content,
        "rawInput": event.raw_input,
        "rawOutput": event.raw_output,
    }
    update.update((key, value) for key, value in optional.items() if value is not None)
    return update if len(update) > 2 else None


class CallStatuses:
    """The statuses of the tool calls of a session that are not over.

    An update without a status makes some clients take the call for completed.
    """

    def __init__(self) -> None:
        self._known: dict[str, ToolStatus] = {}

    def render(self, event: ToolCallChanged, *, client: ClientCapabilities, replay: bool) -> JsonObject | None:
        """The update for a change, with the call's status; None if it changes nothing that is shown."""
        if not replay and event.name is not None and event.item in self._known:
            event = replace(event, name=None)  # announced while the model was still writing it
        update = render(event, client=client, replay=replay)
        status = event.status or self._known.get(event.item, "in_progress")
        if status in FINAL:
            self._known.pop(event.item, None)
        else:
            self._known[event.item] = status
        return update if update is None or event.status else {**update, "status": status}


def _is_blank(item: ToolContent) -> bool:
    return isinstance(item, CommandContent) and not item.text


def tool_content(item: ToolContent) -> JsonObject:
    """The JSON object for an item that a tool call shows."""
    match item:
        case PartContent(part=part):
            return {"type": "content", "content": content_block(part)}
        case DiffContent(path=path, old_text=old, new_text=new):
            return {"type": "diff", "path": path, "newText": new or ""} | ({} if old is None else {"oldText": old})
        case TerminalContent(terminal_id=terminal_id):
            return {"type": "terminal", "terminalId": terminal_id}
        case CommandContent(text=text):
            return {"type": "content", "content": {"type": "text", "text": code_block(text)}}
        case _:
            assert_never(item)
