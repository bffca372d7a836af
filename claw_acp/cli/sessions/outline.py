"""The outline of a session: one line for each message or action."""

from collections.abc import Iterable

from claw_acp.core.events import Event, MessageStarted, Notice, StateChanged, TextDelta, ToolCallChanged
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.session.turns import without_undone

LONGEST_LINE = 100  # characters of each piece; `export` has the whole


def outline(events: Iterable[Event]) -> list[str]:
    """Lines such as `user: fix the test` and `tool: Read a.py (completed)`, in order.

    Undone turns are left out.
    """
    roles: dict[str, str] = {}
    texts: dict[str, str] = {}
    for event in without_undone(tuple(events)):
        match event:
            case MessageStarted(item=item, role=role, parts=parts):
                roles[item] = role
                texts[item] = " ".join(part.text for part in parts if isinstance(part, TextPart))
            case TextDelta(item=item, text=text):
                roles.setdefault(item, "assistant")
                texts[item] = texts.get(item, "") + text
            case ToolCallChanged(item=item, title=title, name=name, status=status):
                roles[item] = "tool"
                known, _, state = texts.get(item, "").rpartition(" (")
                texts[item] = f"{title or known or name} ({status or state.rstrip(')') or 'pending'})"
            case Notice(seq=seq, title=title):
                roles[key := f"notice {seq}"] = "notice"
                texts[key] = title
            case StateChanged(seq=seq, error=str(error)):
                roles[key := f"error {seq}"] = "error"
                texts[key] = error
            case _:
                pass  # thoughts, plans, usage: `export` has them
    return [f"{role}: {_one_line(texts[item])}" for item, role in roles.items() if texts[item].strip()]


def _one_line(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"
