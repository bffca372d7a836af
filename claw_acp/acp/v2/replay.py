"""The final state of a conversation: every item once, where it first appeared."""

from collections.abc import Sequence

from claw_acp.core.events import (
    CompactionChanged,
    Event,
    MessageStarted,
    PlanChanged,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    UsageChanged,
)
from claw_acp.core.value import field_names, replace


def folded(events: Sequence[Event]) -> list[Event]:
    """The items of a journal, without transient events (states, notices, settings)."""
    items: dict[tuple[type, str], Event] = {}
    pieces: dict[tuple[type, str], list[str]] = {}
    for event in events:
        key = type(event), event.item
        match event:
            case TextDelta(text=text) | ThoughtDelta(text=text):
                items.setdefault(key, event)
                pieces.setdefault(key, []).append(text)
            case ToolCallChanged():
                items[key] = _patched(items.get(key), event)
            case CompactionChanged():
                items[key] = _grown(items.get(key), event)
            case UsageChanged():
                items.pop((UsageChanged, ""), None)
                items[UsageChanged, ""] = event  # only the last word counts
            case MessageStarted() | PlanChanged():
                items[key] = event
            case _:
                pass
    return [replace(item, text="".join(pieces[key])) if key in pieces else item for key, item in items.items()]


def _patched(item: Event | None, event: Event) -> Event:
    changes = {name: value for name in field_names(type(event)) if (value := getattr(event, name)) is not None}
    return event if item is None else replace(item, **changes)


def _grown(item: Event | None, event: CompactionChanged) -> Event:
    before = item.summary if isinstance(item, CompactionChanged) else None
    summary = event.summary if event.delta is None else (before or "") + event.delta
    return replace(_patched(item, event), summary=before if summary is None else summary, delta=None)
