"""A session as a document: Markdown for people, JSON for programs. Both can be written as UTF-8."""

import difflib
import html
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, assert_never, cast

from claw_acp.core.clock import iso_time
from claw_acp.core.events import (
    CommandContent,
    DiffContent,
    Event,
    MessageStarted,
    Notice,
    PartContent,
    PlanChanged,
    StateChanged,
    TerminalContent,
    TextDelta,
    ThoughtDelta,
    ToolCallChanged,
    ToolContent,
)
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import AudioPart, ContentPart, ImagePart, LinkPart, ResourcePart, TextPart
from claw_acp.core.redaction import redact
from claw_acp.core.value import as_dict, replace
from claw_acp.session.codec import as_json
from claw_acp.session.record import SessionRecord
from claw_acp.session.turns import without_undone
from claw_acp.store.database import storable

_DIFF_LIMIT: Final = 4000  # lines of both sides; comparing more takes seconds
_MARKS: Final = {"completed": "✓", "failed": "✗", "cancelled": "✗", "in_progress": "…", "pending": "…"}
_STEP_MARKS: Final = {"completed": "[x]", "in_progress": "[ ] *(now)*", "pending": "[ ]"}


def to_json(record: SessionRecord, events: Iterable[Event]) -> str:
    """`{"session": {...}, "events": [{"seq", "type", "item", ...}, ...]}`, as strict JSON without credentials."""
    listed: list[dict[str, JsonValue]] = []
    for event in events:
        kind, body = as_json(event)
        listed.append({"seq": event.seq, "type": kind, "item": event.item} | body)
    document = _clean({"session": as_dict(record), "events": listed})
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    return text if storable(text) else json.dumps(document, indent=2, allow_nan=False) + "\n"


def to_markdown(record: SessionRecord, events: Iterable[Event]) -> str:
    """The conversation to read, without undone turns and credentials; output and diffs of tools are folded away."""
    transcript = _Transcript()
    for event in without_undone(tuple(events)):
        transcript.apply(event)
    heading = (
        f"# {_line(record.title or 'Untitled session')}\n\n"
        f"- session: `{record.id}`\n- directory: `{record.cwd}`\n- model: `{record.model}`, mode: `{record.mode}`\n"
        f"- started {iso_time(record.created_at)}, last changed {iso_time(record.updated_at)}"
    )
    blocks = [heading, *(text for block in transcript.blocks if (text := block.markdown()))]
    return redact("\n\n".join(blocks) + "\n").encode(errors="replace").decode()


# ------------------------------------------------------------------ blocks of a document


@dataclass(slots=True)
class _Message:
    """One message, or the part of one before a tool call came between."""

    heading: str
    parts: tuple[ContentPart, ...] = ()
    model_parts: tuple[ContentPart, ...] = ()
    text: list[str] = field(default_factory=list[str])
    thought: list[str] = field(default_factory=list[str])

    def markdown(self) -> str:
        said = [_part(part) for part in self.parts] + ["".join(self.text).strip()]
        thought = "".join(self.thought).strip()
        meaning = "\n\n".join(_part(part) for part in self.model_parts)
        blocks = [
            _folded("Thinking", thought) if thought else "",
            *said,
            _folded("What it stands for", meaning) if meaning else "",
        ]
        body = "\n\n".join(block for block in blocks if block)
        return f"## {self.heading}\n\n{body}" if body else ""


@dataclass(slots=True)
class _ToolCall:
    call: ToolCallChanged

    def change(self, event: ToolCallChanged) -> None:
        names = ("name", "title", "kind", "status", "arguments", "content", "output")
        news = {name: value for name in names if (value := getattr(event, name)) is not None}
        self.call = replace(self.call, **news)

    def markdown(self) -> str:
        call = self.call
        status = call.status or "pending"
        title = _line(call.title or call.name or "tool call")
        content: Sequence[ToolContent] = call.content or [PartContent(part=part) for part in call.output or ()]
        shown = [_fence(call.arguments, language="json")] if call.arguments else []
        shown += filter(None, (_tool_content(each) for each in content))
        return _folded(f"{_MARKS[status]} {title}", "\n\n".join(shown) or f"*{status}*")


@dataclass(slots=True)
class _Plan:
    plan: PlanChanged

    def markdown(self) -> str:
        steps = [f"- {_STEP_MARKS[entry.status]} {_line(entry.content)}" for entry in self.plan.entries]
        return "\n".join(["**Plan**", "", *steps]) if steps else ""


@dataclass(slots=True)
class _Remark:
    severity: str
    text: str

    def markdown(self) -> str:
        return "\n".join(f"> {line}" for line in f"**{self.severity}:** {self.text}".split("\n"))


_Block: TypeAlias = _Message | _ToolCall | _Plan | _Remark


class _Transcript:
    """Events, folded into the blocks of a document."""

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self._calls: dict[str, _ToolCall] = {}
        self._plan: _Plan | None = None
        self._item: str | None = None  # the assistant message the last block belongs to

    def apply(self, event: Event) -> None:
        match event:
            case MessageStarted(role="user"):
                self._add(_Message("User", event.parts, model_parts=event.model_parts or ()))
            case MessageStarted():
                self._add(_Message("Assistant", event.parts), item=event.item)
            case TextDelta():
                self._speaking(event.item).text.append(event.text)
            case ThoughtDelta():
                self._speaking(event.item).thought.append(event.text)
            case ToolCallChanged():
                self._call(event)
            case PlanChanged():
                self._show_plan(event)
            case Notice():
                self._add(
                    _Remark(event.severity, event.title + (f"\n{event.description}" if event.description else ""))
                )
            case StateChanged(error=str() as error):
                self._add(_Remark("error", error))
            case _:
                pass

    def _add(self, block: _Block, *, item: str | None = None) -> None:
        self.blocks.append(block)
        self._item = item

    def _speaking(self, item: str) -> _Message:
        """The block to which the text of the assistant message `item` is added; a new one after anything else."""
        last = self.blocks[-1] if self.blocks else None
        if isinstance(last, _Message) and self._item == item:
            return last
        message = _Message("Assistant")
        self._add(message, item=item)
        return message

    def _call(self, event: ToolCallChanged) -> None:
        known = self._calls.get(event.item)
        if known is None:
            known = self._calls[event.item] = _ToolCall(event)
            self._add(known)
        known.change(event)

    def _show_plan(self, event: PlanChanged) -> None:
        if self._plan is None:
            self._plan = _Plan(event)
            self._add(self._plan)
        self._plan.plan = event


# ------------------------------------------------------------------ pieces of Markdown


def _tool_content(content: ToolContent) -> str:
    match content:
        case PartContent(part=TextPart(text=text)):
            return _fence(text)
        case PartContent(part=part):
            return _part(part)
        case DiffContent():
            return f"`{content.path}`\n\n{_fence(_diff(content), language='diff')}"
        case CommandContent(text=text):
            return _fence(text) if text else ""
        case TerminalContent():
            return "*(shown in the editor's terminal)*"
        case _:
            assert_never(content)


def _part(part: ContentPart) -> str:
    match part:
        case TextPart(text=text):
            return text.strip()
        case ImagePart() | AudioPart():
            return f"*({part.mime_type}, {len(part.data) * 3 // 4} bytes)*"
        case LinkPart():
            return f"[{_line(part.title or part.name)}](<{part.uri}>)"
        case ResourcePart(text=str() as text):
            return f"`{part.uri}`\n\n{_fence(text)}"
        case ResourcePart():
            return f"`{part.uri}`"
        case _:
            assert_never(part)


def _diff(change: DiffContent) -> str:
    old = change.old_text.split("\n") if change.old_text else []
    new = change.new_text.split("\n") if change.new_text else []
    if len(old) + len(new) > _DIFF_LIMIT:
        return f"(large change: {len(old)} lines before, {len(new)} after)"
    lines = list(difflib.unified_diff(old, new, lineterm=""))
    return "\n".join(lines[2:])  # without the two lines that name the files


def _fence(text: str, *, language: str = "") -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _folded(title: str, body: str) -> str:
    return f"<details>\n<summary>{html.escape(title, quote=False)}</summary>\n\n{body}\n\n</details>"


def _line(text: str) -> str:
    return " ".join(text.split())


def _clean(value: object) -> object:
    """`value` without credentials, and with what JSON lacks (NaN, infinities) as text."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, Sequence):
        return [_clean(each) for each in cast("Sequence[object]", value)]
    return value
