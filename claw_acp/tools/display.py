"""Formatting of paths, amounts and long text for people and models."""

from pathlib import Path

from claw_acp.contracts.workspace import Workspace
from claw_acp.core.events import PartContent
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart

MAX_SHOWN_TEXT = 4_000  # characters of a result that a person sees in the panel; the model gets all of it


def shown_path(path: Path, *, workspace: Workspace) -> str:
    """The path in a form that a model may use again: relative if inside the session's directory, else absolute."""
    base = workspace.roots[0]
    return printable(str(path.relative_to(base)) if path.is_relative_to(base) else str(path))


def within(shown: str) -> str:
    """` in src` for a title; empty for the session's own directory."""
    return "" if shown == "." else f" in {shown}"


def shortened(text: str, *, most: int = 80) -> str:
    """One line of at most `most` characters, for a title."""
    line = printable(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def printable(name: str) -> str:
    """A file name on one line: control characters and bytes that are not UTF-8 become replacement characters."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name)


def byte_size(count: int) -> str:
    """`340 B`, `1.2 KB`, `5.0 MB`."""
    if count < 1000:
        return f"{count} B"
    size = float(count)
    for unit in ("KB", "MB", "GB"):
        size /= 1000
        if size < 999.95:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def amount(count: int, unit: str) -> str:
    """`1 line`, `2 lines`, `3,000 matches`, `2 entries`, `2 days`."""
    if count == 1:
        return f"1 {unit}"
    if unit.endswith("y") and unit[-2] not in "aeiou":
        return f"{count:,} {unit[:-1]}ies"
    return f"{count:,} {unit}{'es' if unit.endswith('ch') else 's'}"


def fenced(text: str) -> PartContent:
    """Text as a Markdown code block, which keeps its shape in an editor; long text is cut at a line."""
    if len(text) > MAX_SHOWN_TEXT:
        head = text[:MAX_SHOWN_TEXT].rpartition("\n")[0] or text[:MAX_SHOWN_TEXT]
        hidden = text.count("\n", len(head))
        text = f"{head}\n… {amount(hidden, 'more line')}" if hidden else f"{head}…"
    return PartContent(part=TextPart(text=code_block(text)))
