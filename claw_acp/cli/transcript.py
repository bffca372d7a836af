"""A session as text: the events of its journal folded into messages and tool calls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from claw_acp.core.clock import iso_time
from claw_acp.core.events import Event, MessageStarted, Notice, PlanChanged, TextDelta, ThoughtDelta, ToolCallChanged
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.session.record import SessionRecord

Kind = Literal["user", "assistant", "tool", "plan", "notice"]


@dataclass(slots=True, kw_only=True)
class Entry:
    """One piece of a conversation; `id` is the journal's item."""

    kind: Kind
    id: str
    text: str = ""
    thought: str = ""
    title: str = ""
    status: str = ""
    arguments: str = ""
    output: str = ""


@dataclass(slots=True)
class _Folding:
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])

    def entry(self, item: str, *, kind: Kind) -> Entry:
        return self.entries.setdefault(item, Entry(kind=kind, id=item))

    def take(self, event: Event) -> None:
        match event:
            case MessageStarted(item=item, role=role, parts=parts):
                self.entry(item, kind=role).text += _text(parts)
            case TextDelta(item=item, text=text):
                self.entry(item, kind="assistant").text += text
            case ThoughtDelta(item=item, text=text):
                self.entry(item, kind="assistant").thought += text
            case ToolCallChanged():
                _patch(self.entry(event.item, kind="tool"), event)
            case PlanChanged(item=item, entries=steps):
                plan = self.entry(item or "plan", kind="plan")
                plan.text = "\n".join(
                    f"- [{'x' if step.status == 'completed' else ' '}] {step.content}" for step in steps
                )
            case Notice(item=item, seq=seq, title=title, description=description):
                notice = self.entry(item or f"notice {seq}", kind="notice")
                notice.text = f"{title}: {description}" if description else title
            case _:
                pass  # usage, state and session facts are not part of what was said


def fold(events: Iterable[Event]) -> list[Entry]:
    """The conversation, in the order in which its pieces began."""
    folding = _Folding()
    for event in events:
        folding.take(event)
    return list(folding.entries.values())


def as_markdown(record: SessionRecord, *, entries: Sequence[Entry]) -> str:
    """The conversation as a Markdown document."""
    head = [
        f"# {record.title or 'Untitled session'}",
        "",
        f"- session: `{record.id}`",
        f"- directory: `{record.cwd}`",
        f"- model: `{record.model}`",
        f"- begun: {iso_time(record.created_at)}",
        f"- last change: {iso_time(record.updated_at)}",
    ]
    return "\n".join([*head, *(_section(entry) for entry in entries)]) + "\n"


def _section(entry: Entry) -> str:
    match entry.kind:
        case "user" | "assistant":
            thought = "".join(f"> {line}\n" for line in entry.thought.splitlines())
            body = "\n".join(part for part in (thought, entry.text.strip()) if part)
            return f"\n## {entry.kind.capitalize()}\n\n{body}" if body else ""
        case "tool":
            parts = [f"\n### {entry.title} ({entry.status or 'unfinished'})"]
            if entry.arguments:
                parts.append(_fenced(entry.arguments, language="json"))
            if entry.output:
                parts.append(_fenced(entry.output, language=""))
            return "\n\n".join(parts)
        case "plan":
            return f"\n### Plan\n\n{entry.text}"
        case "notice":
            return f"\n> **{entry.text}**"


def _patch(entry: Entry, event: ToolCallChanged) -> None:
    entry.title = event.title or entry.title or event.name or ""
    entry.status = event.status or entry.status
    entry.arguments = event.arguments or entry.arguments
    if event.output is not None:
        entry.output = _text(event.output)


def _text(parts: Iterable[ContentPart]) -> str:
    return "\n".join(part.text if isinstance(part, TextPart) else f"[{type(part).__name__}]" for part in parts)


def _fenced(text: str, *, language: str) -> str:
    """A code block whose fence is longer than any run of backticks in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
