"""The calls that are found in text, before they are matched with the tools on offer."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value

UNNAMED: Final = "unnamed_call"
LONGEST_NAME: Final = 128  # characters; vendors take 64
MOST_CALLS: Final = 1_000  # of an answer; what follows them is text
LONGEST_WRITTEN: Final = 400  # characters of a call that are compared with what the model was given


class RawText(Value):
    """The text of an argument whose form says nothing about its type: the schema decides."""

    text: str


Argument: TypeAlias = "JsonValue | RawText"


class FoundCall(Value):
    """One call as it was written.

    A `broken` one cannot be read: `text` is what was written, `problem` tells the model why (empty: its arguments are
    no JSON, which every caller notices). `cut` means that its end is missing, `lone` that it says nothing of arguments.
    `written` is the beginning of its text, without what closes it; if tags delimit its values, `opening` is that up to
    the first of them.
    """

    name: str
    arguments: Mapping[str, Argument] = {}
    broken: bool = False
    cut: bool = False
    lone: bool = False
    problem: str = ""
    text: str = ""
    written: str = ""
    opening: str = ""


class Section(Value):
    """A stretch of an answer that holds calls, up to `end`.

    `raw` means that tags alone delimit its values. If the end of a value was within it, closing tags are left over
    behind the section: those of its form, and `closers`.
    """

    end: int
    calls: tuple[FoundCall, ...]
    raw: bool = False
    closers: tuple[str, ...] = ()


def usable_name(name: str | None) -> str:
    """The name, if it could be one of a tool; else a name that no tool has."""
    name = (name or "").strip()
    return name if name and len(name) <= LONGEST_NAME and name.isprintable() else UNNAMED


def unreadable(name: str | None, text: str, *, problem: str, cut: bool = False) -> FoundCall:
    """A call that begins as one and cannot be read as one."""
    return FoundCall(name=usable_name(name), broken=True, text=text.strip(), problem=problem, cut=cut)


def cut_off(name: str | None, text: str) -> FoundCall:
    """A call whose end is missing. It is never run: what is there may be the beginning of something else."""
    problem = f"This call of {usable_name(name)} has no end, so nothing was done. Send the whole call again."
    return unreadable(name, text, problem=problem, cut=True)
