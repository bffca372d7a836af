"""Tool calls in protocol 2: created and patched by id, their content sent in pieces."""

from typing import assert_never

from claw_acp.acp.content import content_block
from claw_acp.acp.updates import location, without_terminals
from claw_acp.acp.v2.git_patch import git_patch
from claw_acp.acp.v2.terminals import Terminals
from claw_acp.core.events import (
    FINAL,
    CommandContent,
    DiffContent,
    PartContent,
    TerminalContent,
    ToolCallChanged,
    ToolContent,
)
from claw_acp.core.json_value import JsonObject, JsonValue


class ToolCalls:
    """The tool calls of one session and their terminals, in the state known to one client."""

    def __init__(self) -> None:
        self.terminals = Terminals()
        self._content: dict[str, list[JsonObject]] = {}  # of calls that are not final
        self._cancellable: set[str] = set()

    def change(self, event: ToolCallChanged, *, cancellable: bool = False) -> list[JsonObject]:
        """The updates that show a change; terminals come before the call that refers to them.

        Args:
            event: The change.
            cancellable: Whether the call can be cancelled from now on, until it is final.
        """
        call_id, final = event.item, event.status in FINAL
        sent, content = self._render(event)
        before = self._content.get(call_id, [])
        patch: dict[str, JsonValue] = {
            "name": event.name,
            "title": event.title,
            "kind": event.kind,
            "status": event.status,
            "locations": None if event.locations is None else [location(place) for place in event.locations],
            "rawInput": event.raw_input,
            "rawOutput": event.raw_output,
        }
        patch = {key: value for key, value in patch.items() if value is not None}
        if content is not None and content != before:
            self._content[call_id] = content
            if before and content[: len(before)] == before:
                sent += [_chunk(call_id, item) for item in content[len(before) :]]
            else:
                patch["content"] = content
        patch |= self._capabilities(call_id, final=final, cancellable=cancellable)
        if final:
            self._content.pop(call_id, None)
        if patch:
            sent.append({"sessionUpdate": "tool_call_update", "toolCallId": call_id, **patch})
        return sent

    def _render(self, event: ToolCallChanged) -> tuple[list[JsonObject], list[JsonObject] | None]:
        """Updates of the terminals, and the current content; None if that is unchanged."""
        shown = without_terminals(event)
        if shown is None or (event.content and not shown):
            return [], None  # a terminal of another client, of which nothing is known yet
        drawn = [update for item in shown if isinstance(item, CommandContent) for update in self.terminals.draw(item)]
        return drawn, [tool_content(item) for item in shown]

    def _capabilities(self, call_id: str, *, final: bool, cancellable: bool) -> JsonObject:
        if final:
            known = call_id in self._cancellable
            self._cancellable.discard(call_id)
            return {"capabilities": None} if known else {}
        if not cancellable or call_id in self._cancellable:
            return {}
        self._cancellable.add(call_id)
        return {"capabilities": {"cancel": {}}}


def tool_content(item: ToolContent) -> JsonObject:
    """The JSON object for an item that a tool call shows."""
    match item:
        case PartContent(part=part):
            return {"type": "content", "content": content_block(part)}
        case DiffContent():
            return _diff(item)
        case TerminalContent(terminal_id=terminal_id) | CommandContent(terminal_id=terminal_id):
            return {"type": "terminal", "terminalId": terminal_id}
        case _:
            assert_never(item)


def _diff(change: DiffContent) -> JsonObject:
    operation = "add" if change.old_text is None else "delete" if change.new_text is None else "modify"
    changes: JsonValue = [{"operation": operation, "path": change.path, "fileType": "text"}]
    patch = git_patch(change.path, change.old_text, change.new_text)
    return {"type": "diff", "changes": changes} | ({"patch": {"format": "git_patch", "text": patch}} if patch else {})


def _chunk(call_id: str, item: JsonObject) -> JsonObject:
    return {"sessionUpdate": "tool_call_content_chunk", "toolCallId": call_id, "content": item}
