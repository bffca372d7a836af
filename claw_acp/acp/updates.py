"""The `session/update` payloads that both protocols share. Plain dictionaries: they are streamed."""

from claw_acp.contracts.provider import UNKNOWN_WINDOW
from claw_acp.core.events import (
    CompactionChanged,
    Location,
    Notice,
    PartContent,
    PlanChanged,
    TerminalContent,
    ToolCallChanged,
    ToolContent,
    UsageChanged,
)
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Usage

META_ASSUMED = "claw-acp/windowAssumed"
META_SANDBOX = "claw-acp/sandbox"
"""In the `_meta` of a session: the sandbox of its commands; `none`: none works here; `off`: none is wanted."""


def sandbox_meta(name: str) -> JsonObject:
    """The `_meta` that names the sandbox of a session's commands; nothing while that is not known."""
    return {"_meta": {META_SANDBOX: name}} if name else {}


def thought_id(message: str) -> str:
    """The id of the thinking before a message: for clients a message of its own, created again in each replay."""
    return f"tht_{message.removeprefix('msg_')}"


def text_chunk(kind: str, message_id: str, text: str) -> JsonObject:
    """A piece of text of a message or a thought."""
    return {"sessionUpdate": kind, "messageId": message_id, "content": {"type": "text", "text": text}}


def chunk(kind: str, message_id: str, content: JsonObject) -> JsonObject:
    """A content block of a message or a thought."""
    return {"sessionUpdate": kind, "messageId": message_id, "content": content}


def usage_update(event: UsageChanged) -> JsonObject:
    """The context in use, and the cost of the session.

    An unknown window is assumed, and marked as such: clients that show a percentage need one.
    """
    size = event.size or max(UNKNOWN_WINDOW, event.used)
    update: JsonObject = {"sessionUpdate": "usage_update", "used": event.used, "size": size}
    if not event.size:
        update = {**update, "_meta": {META_ASSUMED: True}}
    return {**update, "cost": {"amount": event.total, "currency": "USD"}} if event.total is not None else update


def token_counts(usage: Usage) -> JsonObject:
    """The token counts of a turn."""
    counts: dict[str, JsonValue] = {
        "totalTokens": usage.input_tokens + usage.output_tokens,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
    }
    optional = {
        "thoughtTokens": usage.thought_tokens,
        "cachedReadTokens": usage.cached_read_tokens,
        "cachedWriteTokens": usage.cached_write_tokens,
    }
    return counts | {name: count for name, count in optional.items() if count}


def plan_update(event: PlanChanged) -> JsonObject:
    """A plan that has an id."""
    return {"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": event.item, "entries": steps(event)}}


def steps(event: PlanChanged) -> list[JsonObject]:
    """All steps of a plan."""
    return [{"content": step.content, "priority": step.priority, "status": step.status} for step in event.entries]


def notice(event: Notice) -> JsonObject:
    """A notice that is not part of the conversation."""
    update: JsonObject = {"sessionUpdate": "notice", "severity": event.severity, "title": event.title}
    return {**update, "description": event.description} if event.description else update


def compaction(event: CompactionChanged) -> JsonObject:
    """The start, growth, change or end of a compaction."""
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


def location(place: Location) -> JsonObject:
    """A place in a file."""
    return {"path": place.path} | ({} if place.line is None else {"line": place.line})


def without_terminals(event: ToolCallChanged) -> tuple[ToolContent, ...] | None:
    """The content of a call whose terminal was another client's: instead of it the output, once that is known."""
    if event.content is None or not any(isinstance(item, TerminalContent) for item in event.content):
        return event.content
    others = tuple(item for item in event.content if not isinstance(item, TerminalContent))
    return (*others, *(PartContent(part=part) for part in event.output or ()))
