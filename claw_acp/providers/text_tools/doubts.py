"""Reasons not to run the calls of an answer that lie outside of them: what stands around them, and where they are from.

One doubt is about all calls of the answer, for what makes one of them a quotation may have made the others.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from claw_acp.core.messages import ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.found_call import LONGEST_WRITTEN, Section
from claw_acp.providers.text_tools.quotations import is_quoted
from claw_acp.providers.text_tools.tagged_calls import LEFT_OVER

AMBIGUOUS: Final = (
    "Behind this call stand closing tags that belong to none, so an argument seems to hold the tag that ends it, and "
    "where it ends cannot be told. Nothing was done. Write the call as JSON in <tool_call> tags instead."
)
CUT: Final = (
    "The answer was cut off behind this call, and an argument may hold the tag that seems to end it. Nothing was done. "
    "Send the call again."
)
ENCLOSED: Final = (
    "`{}` stands behind this call and closes what began before it, so it was taken for a part of that. Nothing was "
    "done. Send the call again, on lines of its own."
)
QUOTED: Final = (
    "A call of this answer stands word for word in what you were given, so it was taken for a quotation. Nothing was "
    "done. Write quotations in a block of code; if you mean the call, write its arguments before its name."
)
_TAG: Final = re.compile(
    r"<(/?)([A-Za-z][\w:.-]*)[^<>\n]{0,200}>|\[/think\]|\u25c1/think\u25b7|<\|end_thinking\|>", re.IGNORECASE
)
_OPENED: Final = re.compile(
    r"<(?:\uff5cDSML\uff5c ?|antml:)?(?:parameter|function|invoke)\b|<arg_value>|<\|open\|>argument"
)
_OF_ANSWERS: Final = frozenset(
    ("answer", "assistant", "final", "final_answer", "response", "s", "tool_call", "tool_calls", "function_calls")
)
"""Elements in which models put their whole answer, and what they close twice."""


class Doubts:
    """What is known of the calls of one answer.

    Args:
        given: Returns the texts that the model was given.
    """

    def __init__(self, given: Callable[[], Iterator[str]]) -> None:
        self._given = given
        self._calls = 0
        self._raw: int | None = None  # the first call whose values are delimited by tags alone
        self._closers: set[str] = set()  # the marks that ended the sections of such
        self._behind: list[str] = []  # the texts behind calls
        self._behind_raw: list[str] = []  # and those behind the first of such
        self._written: list[str] = []  # what would be in a text that the calls are from
        self._broken_behind_raw = False
        self._raw_ends = False  # such a call is the last thing so far

    @property
    def prose(self) -> bool:
        """True if something else stands behind a call."""
        return any(text.strip() for text in self._behind)

    def add(self, section: Section, *, written: str, opener: str, accepted: bool) -> None:
        """Note a section as it was written, which became calls or stayed text; `opener` begins its first call."""
        if section.raw:
            self._raw = self._calls if self._raw is None else self._raw
            self._closers |= set(section.closers)
        self._raw_ends = section.raw
        unsure = self._raw is not None and self._raw < self._calls
        self._broken_behind_raw = self._broken_behind_raw or (unsure and any(call.broken for call in section.calls))
        for number, call in enumerate(section.calls if accepted else ()):
            begins = "" if number else opener
            self._written.append(begins + call.written if call.written else written[:LONGEST_WRITTEN])
            if call.opening and (number or unsure):
                self._written.append(begins + call.opening)  # its value may end with what follows the given text
        self._calls += len(section.calls) if accepted else 0

    def add_mark(self, mark: str) -> None:
        """Note a mark behind a call that says nothing by itself."""
        if self._raw is not None:
            self._behind_raw.append(mark)

    def add_dropped(self, text: str) -> None:
        """Note that the rest of the answer is dropped, in which a value may go on: then more is closed than opened."""
        if len(LEFT_OVER.findall(text)) > len(_OPENED.findall(text)) or any(
            text.count(closer) > text.count(closer.replace("</", "<", 1)) for closer in self._closers
        ):
            self.add_mark(text)

    def add_text(self, text: str) -> None:
        """Note that a text stands there."""
        self._raw_ends = self._raw_ends and not text.strip()
        if self._calls:
            self._behind.append(text)
        if self._raw is not None:
            self._behind_raw.append(text)

    @property
    def ambiguous(self) -> bool:
        """True if closing tags stand behind calls whose values end with such, or a call that cannot be read."""
        behind = "".join(self._behind_raw)
        left_over = LEFT_OVER.search(behind) is not None or any(closer in behind for closer in self._closers)
        return left_over or self._broken_behind_raw

    @property
    def quoted(self) -> bool:
        """True if one of the calls stands in a text that the model was given."""
        return is_quoted(self._written, self._given())

    def judged(self, calls: Sequence[ToolCall], *, cut: bool) -> list[ToolCall]:
        """The calls, with the problems that they have; `cut` if the answer was cut off."""
        start, problem = 0, ""
        if self.ambiguous:
            start, problem = self._raw or 0, AMBIGUOUS
        elif self.quoted:
            problem = QUOTED
        elif closer := _unopened("".join(self._behind)):
            problem = ENCLOSED.format(closer)
        elif cut and self._raw_ends:
            start, problem = self._raw or 0, CUT
        return [*calls[:start], *(replace(call, problem=call.problem or problem) for call in calls[start:])]


def _unopened(text: str) -> str:
    """The first closing tag of an element that began before the text, or of a thought; empty if there is none."""
    opened: list[str] = []
    for tag in _TAG.finditer(text):
        name = (tag[2] or "").lower()
        if name and not tag[1]:
            opened.append(name)
        elif name in opened:
            del opened[opened.index(name) :]
        elif name not in _OF_ANSWERS:
            return tag[0]
    return ""
