"""A turn drawn in a terminal: text, thoughts, the plan, and a card for each tool call."""

import difflib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from claw_acp.cli.terminal.paint import Colour, Paint
from claw_acp.cli.terminal.paragraphs import Paragraphs
from claw_acp.core.printable import for_terminal
from claw_acp.schema.content import ContentBlock, TextContent
from claw_acp.schema.tool_call import Content, Diff, Terminal, ToolCall, ToolCallContent, ToolCallUpdate
from claw_acp.schema.updates import ContentChunk, Notice, Plan, SessionUpdate, ToolCallUpdated

MAX_WIDTH = 100
OUTPUT_LINES = 12  # of a command, from its end
DIFF_LINES = 60
HIDDEN = frozenset({"plan", "think"})  # tools whose effect is shown in another way
_VOICES: dict[str, tuple[str, Colour | None]] = {
    "user_message_chunk": ("» ", "bold"), "agent_message_chunk": ("", None), "agent_thought_chunk": ("· ", "dim"),
}  # fmt: skip
_MARKS: dict[str, tuple[str, Colour]] = {
    "completed": ("✓", "green"), "in_progress": ("→", "yellow"), "pending": ("◦", "dim"), "failed": ("✗", "red"),
}  # fmt: skip


@dataclass(slots=True)
class Card:
    """The known state of a tool call."""

    title: str
    name: str | None = None
    kind: str | None = None
    status: str = "pending"
    content: Sequence[ToolCallContent] = ()
    shown: set[str] = field(default_factory=set[str])

    @property
    def changed(self) -> tuple[str, ...]:
        """Paths that the call changes."""
        return tuple(item.path for item in self.content if isinstance(item, Diff))


class LiveView:
    """Draws updates as they come. `cards` holds every tool call by id."""

    def __init__(self, out: TextIO, *, paint: Paint, base: Path) -> None:
        self.cards: dict[str, Card] = {}
        self.terminal_text: Callable[[str], str] = lambda _: ""
        self._out = out
        self._paint = paint
        self._base = base
        self._width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
        self._flow: Paragraphs | None = None
        self._section: str | None = None
        self._plan: tuple[tuple[str, str], ...] = ()
        self._latest: Card | None = None

    def draw(self, update: SessionUpdate) -> None:
        """Show one update."""
        match update:
            case ContentChunk(session_update=kind, content=TextContent(text=text)):
                self._say(kind, text)
            case ToolCall():
                self._open(update)
            case ToolCallUpdated():
                self.patch(update)
            case Plan(entries=entries):
                self._draw_plan(tuple((for_terminal(entry.content), entry.status) for entry in entries))
            case Notice(title=title, description=description):
                self.section("notice")
                self.line(for_terminal(f"{title}: {description}" if description else title), colour="yellow")
            case _:
                pass

    def section(self, name: str | None) -> None:
        """End the current output; a blank line separates output of another kind."""
        if self._flow is not None:
            self._flow.end()
            self._flow = None
        if self._section is not None and name != self._section:
            self._out.write("\n")
        self._section = name

    def line(self, text: str, *, colour: Colour | None = None, indent: int = 2) -> None:
        """Write a whole line."""
        painted = self._paint(text, colour) if colour else text
        self._out.write(f"{' ' * indent}{painted}\n" if text else "\n")
        self._out.flush()

    def mark(self, held: bool, text: str) -> None:  # noqa: FBT001 - the mark is the argument
        """Write a line after a tick or a cross."""
        mark, colour = _MARKS["completed" if held else "failed"]
        self.line(f"{self._paint(mark, colour)} {text}")

    def end(self) -> None:
        """Finish the output of the turn."""
        self.section(None)

    # ------------------------------------------------------------------ text

    def _say(self, kind: str, text: str) -> None:
        if self._section != kind or self._flow is None:
            self.section(kind)
            lead, colour = _VOICES[kind]
            self._flow = Paragraphs(self._out, paint=self._paint, width=self._width, colour=colour, lead=lead)
        self._flow.feed(for_terminal(text))

    # ------------------------------------------------------------------ plan

    def _draw_plan(self, entries: tuple[tuple[str, str], ...]) -> None:
        if entries == self._plan:
            return
        self._plan = entries
        self.section("plan")
        for content, status in entries:
            mark, colour = _MARKS[status]
            words = content if status == "in_progress" else self._paint(content, "dim")
            self.line(f"{self._paint(mark, colour)} {words}")

    # ------------------------------------------------------------------ tool calls

    def _open(self, call: ToolCall) -> None:
        card = Card(title=for_terminal(call.title), name=call.name)
        self.cards[call.tool_call_id] = card
        self._merge(card, call)

    def _reveal(self, card: Card) -> None:
        """Draw the head of a card once something happens to the call; announced calls may still wait."""
        if card is self._latest or "head" in card.shown:
            return
        card.shown.add("head")
        self.section(None if self._section == "tool" else "tool")
        self._section = "tool"
        self.line(f"{self._paint('▸', 'yellow')} {self._paint(card.title, 'bold')}")
        self._latest = card

    def patch(self, update: ToolCallUpdate) -> None:
        """Apply a change of a call, from an update or a question."""
        card = self.cards.get(update.tool_call_id)
        if card is not None:
            card.title = for_terminal(update.title or "") or card.title
            self._merge(card, update)
            if card.name not in HIDDEN:
                self._reveal(card)

    def said(self, call_id: str, texts: Iterable[str]) -> None:
        """Record texts about a call that were shown already, so that they are not shown again at its end."""
        if card := self.cards.get(call_id):
            card.shown.update(line for text in texts for line in text.split("\n"))

    def _merge(self, card: Card, news: ToolCall | ToolCallUpdate) -> None:
        card.kind = news.kind or card.kind
        if news.content is not None:
            card.content = news.content
        before, card.status = card.status, news.status or card.status
        if card.name in HIDDEN:
            return
        if card.status != "pending":
            self._reveal(card)
        self._draw_diffs(card)
        if card.status != before and card.status in {"completed", "failed"}:
            self._close(card)

    def _close(self, card: Card) -> None:
        if card.kind == "execute" or card.status == "failed":
            for line in (line for line in self._output(card) if line not in card.shown):
                self.line(for_terminal(f"│ {line}"), colour="dim", indent=4)
        mark, colour = _MARKS[card.status]
        word = "done" if card.status == "completed" else "failed"
        self.line(f"{self._paint(mark, colour)} {word if card is self._latest else card.title}", indent=4)

    def _draw_diffs(self, card: Card) -> None:
        for item in card.content:
            if isinstance(item, Diff) and item.path not in card.shown:
                self._reveal(card)
                card.shown.add(item.path)
                for text, colour in _diff_lines(item, name=self._name(item.path)):
                    self.line(for_terminal(text), colour=colour, indent=4)

    def _output(self, card: Card) -> list[str]:
        texts = [self.terminal_text(item.terminal_id) for item in card.content if isinstance(item, Terminal)]
        texts += [_plain(item.content) for item in card.content if isinstance(item, Content)]
        lines = [line for text in texts for line in text.split("\n") if line.strip() and not line.startswith("```")]
        left = len(lines) - OUTPUT_LINES
        return [f"… {left} lines above", *lines[-OUTPUT_LINES:]] if left > 0 else lines

    def _name(self, path: str) -> str:
        return str(Path(path).relative_to(self._base)) if Path(path).is_relative_to(self._base) else path


def _plain(block: ContentBlock) -> str:
    return block.text if isinstance(block, TextContent) else f"[{block.type}]"


def _diff_lines(diff: Diff, *, name: str) -> Iterator[tuple[str, Colour | None]]:
    old = "" if diff.old_text is None else diff.old_text
    before, after = ("/dev/null" if diff.old_text is None else f"a/{name}"), f"b/{name}"
    lines = list(difflib.unified_diff(old.splitlines(), diff.new_text.splitlines(), before, after, n=2, lineterm=""))
    colours: dict[str, Colour] = {"+": "green", "-": "red", "@": "dim"}
    for number, line in enumerate(lines[:DIFF_LINES]):
        yield line, "bold" if number < 2 else colours.get(line[:1])
    if len(lines) > DIFF_LINES:
        yield f"… {len(lines) - DIFF_LINES} more lines", "dim"
