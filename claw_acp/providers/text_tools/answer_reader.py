"""Finds the tool calls in the text of an answer, and removes them from the text that is shown.

Text is shown as it arrives, but for the beginning of a line that may become a call. From the first call on everything
waits for the end of the answer: whether a stretch is a call can depend on what follows it. So the result cannot depend
on where the stream was cut, markup never flashes, and every character is looked at a bounded number of times.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.messages import ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.call_places import CallPlaces
from claw_acp.providers.text_tools.forms import END_MARKS, FORMS, LONGEST_HEAD, Body, Form
from claw_acp.providers.text_tools.found_call import Section
from claw_acp.providers.text_tools.json_calls import skip_blank
from claw_acp.providers.text_tools.offered_tools import OfferedTools
from claw_acp.providers.text_tools.tagged_calls import LEFT_OVER

INDENT: Final = 3  # spaces; with more a line is code in Markdown
AMBIGUOUS: Final = (
    "Behind this call stand closing tags that belong to none, so an argument seems to hold the tag that ends it, and "
    "where it ends cannot be told. Nothing was done. Write the call as JSON in <tool_call> tags instead."
)
DOUBTFUL: Final = (
    "A call before this one cannot be read, and this one may be meant as a part of it, so nothing was done. Send it "
    "again."
)
_INVENTED: Final = ("<tool_result", "<tool_response", "<function_result")
_BY_OPENER: Final = {opener: form for form in FORMS for opener in form.openers}
_OPENER: Final = re.compile("|".join(map(re.escape, sorted(_BY_OPENER, key=len, reverse=True))))
_END_MARK: Final = re.compile("|".join(map(re.escape, END_MARKS)))
_BEGINNINGS: Final = frozenset(mark[:length] for mark in _BY_OPENER for length in range(1, len(mark)))
_FIRST: Final = frozenset(mark[0] for mark in _BY_OPENER)
_SPECIAL: Final = re.compile("[\n`<\\[\u25c1]")
_LONGEST: Final = max(map(len, _BY_OPENER))


class AnswerReader:
    """Reads one answer. `calls` is complete after `finish`.

    Args:
        tools: The tools on offer.
        strictly: The model was not told to call tools in text, so only a call that is whole and fits its tool is one.
        new_id: Returns the id of a call.
    """

    def __init__(self, tools: Sequence[ToolSpec], *, strictly: bool, new_id: Callable[[], str]) -> None:
        self.calls: list[ToolCall] = []
        self._offered = OfferedTools(tools)
        self._strictly = strictly
        self._new_id = new_id
        self._places = CallPlaces()
        self._text = ""  # what came and is not decided
        self._held: list[str] | None = None  # everything from the first call on
        self._begun = False  # something but blanks came
        self._gap = ""  # blank lines at the start or after a call, shown only if text follows
        self._raw: int | None = None  # the first call whose values are delimited by tags alone
        self._closers: set[str] = set()  # the marks that ended their sections
        self._behind: list[str] = []  # the text behind the first of them
        self._after_call = False  # nothing but blanks came since the last call
        self._doubtful = False  # a call that cannot be read came; what follows may be meant as a part of it
        self._over = False

    def feed(self, text: str) -> str:
        """Take the next piece; returns the text that can be shown by now."""
        if self._held is not None:
            self._held.append(text)
            return ""
        if not self._text and self._begun and self._places.ordinary and _SPECIAL.search(text) is None:
            return text  # nearly every piece, so the rest of this class costs little
        return self._read(self._text + text, final=False)

    def finish(self) -> str:
        """End the answer; returns the rest of its text."""
        text = self._read(self._rest(), final=True)
        if self._raw is not None and self._left_over():
            self.calls[self._raw :] = [replace(call, problem=AMBIGUOUS) for call in self.calls[self._raw :]]
        return text if self.calls else text + self._gap

    def release(self) -> str:
        """End the answer without looking for calls: all of its text that was not shown yet."""
        return self._gap + self._rest()

    def _left_over(self) -> bool:
        """True if closing tags stand behind calls whose values end with such."""
        behind = "".join(self._behind)
        return LEFT_OVER.search(behind) is not None or any(closer in behind for closer in self._closers)

    def _rest(self) -> str:
        return self._text if self._held is None else "".join(self._held)

    def _read(self, text: str, *, final: bool) -> str:
        shown: list[str] = []
        at = 0
        while at < len(text) and not self._over:
            end = self._call(text, at, shown, final=final) if self._places.open else at
            if end == at:
                end = self._places.next_piece(text, at, final=final)
                if end is not None:
                    shown.append(self._show(text[at:end]))
            if end is None:
                break
            at = end
        self._text = text[at:]
        return "".join(shown)

    def _show(self, text: str) -> str:
        if self._raw is not None:
            self._behind.append(text)
        if not text.strip() and (self._after_call or not self._begun):
            self._gap += text
            return ""
        gap, self._gap = self._gap, ""
        self._begun, self._after_call = True, False
        return gap + text

    # ------------------------------------------------------------------ calls

    def _call(self, text: str, at: int, shown: list[str], *, final: bool) -> int | None:
        """The position after the calls that begin here; `at` when none does; None when more is needed to tell."""
        start = at + len(text[at : at + INDENT + 1]) - len(text[at : at + INDENT + 1].lstrip(" "))
        if start == len(text) and not final:
            return None
        if start - at > INDENT or text[start : start + 1] not in _FIRST:
            return at
        if self.calls and text.startswith(_INVENTED, start):
            self._over = True  # it makes up what came of its calls, and all that follows rests on that
            return len(text)
        mark = _END_MARK.match(text, start) if self._after_call else None
        if mark is not None:
            self._behind += [] if self._raw is None else [mark[0]]
            return mark.end()
        found = self._begins(text, start, final=final)
        if isinstance(found, bool):
            return at if found else None
        if not final:
            self._held = [text[at:]]
            return len(text)
        form, body, behind = found
        section = body.read(text, behind, form, self._offered)
        whole = form.place == "whole"
        if section.end <= start or (whole and not self._is_whole(section, text)):
            return at
        strictly = self._strictly or whole or form.cautious
        self._take(section, text[at : section.end], shown, strictly=strictly)
        return section.end

    def _begins(self, text: str, start: int, *, final: bool) -> tuple[Form, Body, int] | bool:
        """The form of a call that begins here, its body, and where that begins; else True if surely none does."""
        if not final and text[start : start + _LONGEST] in _BEGINNINGS:
            return False
        opener = _OPENER.match(text, start)
        if opener is None:
            return True
        form = _BY_OPENER[opener[0]]
        if form.place != "line" and (self._begun or self.calls):
            return True
        behind = start if form.keeps else opener.end()
        for body in form.bodies:
            head = body.head.match(text, behind, behind + LONGEST_HEAD)
            if head is not None and self._may_be(head.groupdict()):
                return form, body, behind
        return final or len(text) - behind >= LONGEST_HEAD

    def _may_be(self, names: Mapping[str, str | None]) -> bool:
        name = names.get("known") or (names.get("name") if self._strictly else None)
        return name is None or self._offered.get_tool(name) is not None

    def _is_whole(self, section: Section, text: str) -> bool:
        """True if an answer consists of whole calls with names and arguments."""
        end = section.end
        while (mark := _END_MARK.match(text, skip_blank(text, end))) is not None:
            end = mark.end()
        return skip_blank(text, end) == len(text) and not any(call.broken or call.lone for call in section.calls)

    def _take(self, section: Section, written: str, shown: list[str], *, strictly: bool) -> None:
        """Add the calls of a section, or show it as text if they are none."""
        calls = [self._offered.tool_call(found, strictly=strictly, new_id=self._new_id) for found in section.calls]
        good = [call for call in calls if call is not None]
        if self._doubtful:
            good = [] if strictly else [replace(call, problem=call.problem or DOUBTFUL) for call in good]
        accepted = bool(calls) and len(good) == len(calls)
        if not accepted:
            shown.append(self._show(written))
        if section.raw:
            self._raw = len(self.calls) if self._raw is None else self._raw
            self._closers |= set(section.closers)
        self._doubtful = self._doubtful or any(call.broken for call in section.calls)
        if accepted:
            self.calls += good
            self._gap, self._begun, self._after_call = "", True, True
            self._places.after_call()
        else:
            self._places.after_text(line_ended=written.endswith("\n"))
