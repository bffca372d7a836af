"""Finds the tool calls in the text of an answer, and removes them from the text that is shown.

Text is shown as it arrives, but for the beginning of a line that may become a call. From the first call on everything
waits for the end of the answer: whether a stretch is a call can depend on what follows it. So the result cannot depend
on where the stream was cut, markup never flashes, and every character is looked at a bounded number of times.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.messages import ToolCall
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.call_places import CallPlaces
from claw_acp.providers.text_tools.doubts import Doubts
from claw_acp.providers.text_tools.forms import END_MARKS, ENDS_OF_ANSWERS, FORMS, LONGEST_HEAD, Body, Form
from claw_acp.providers.text_tools.found_call import MOST_CALLS, Section
from claw_acp.providers.text_tools.json_calls import skip_blank
from claw_acp.providers.text_tools.offered_tools import OfferedTools

INDENT: Final = 3  # spaces; with more a line is code in Markdown
MOST_STEPS: Final = 50_000  # lines and marks that are looked at; no answer has so many, and what follows them is text
LONGEST_READ: Final = 2_000_000  # characters; a longer answer is text, and so are its calls
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
        strictly: The model was not told to call tools in text, so only a call that is whole, fits its tool and has
            nothing but calls behind it is one.
        new_id: Returns the id of a call.
        given: Returns the texts that the model was given: a call that stands there is a quotation.
    """

    def __init__(
        self,
        tools: Sequence[ToolSpec],
        *,
        strictly: bool,
        new_id: Callable[[], str],
        given: Callable[[], Iterator[str]] = lambda: iter(()),
    ) -> None:
        self.calls: list[ToolCall] = []
        self._offered = OfferedTools(tools)
        self._strictly = strictly
        self._new_id = new_id
        self._places = CallPlaces()
        self._doubts = Doubts(given)
        self._text = ""  # what came and is not decided
        self._held: list[str] | None = None  # everything from the first call on
        self._size = 0
        self._steps = 0
        self._begun = False  # something but blanks came
        self._gap: list[str] = []  # blank lines at the start or after a call, shown only if text follows
        self._after_call = False  # nothing but blanks came since the last call
        self._doubtful = False  # a call that cannot be read came; what follows may be meant as a part of it
        self._over = False  # the model makes up what came of its calls, so the rest is nothing
        self._given_up = False  # the rest is text

    def feed(self, text: str) -> str:
        """Take the next piece; returns the text that can be shown by now."""
        if self._given_up:
            return text
        self._size += len(text)
        if self._size > LONGEST_READ:
            return self._give_up(self.release() + text)
        if self._held is not None:
            self._held.append(text)
            return ""
        if not self._text and self._begun and self._places.ordinary and _SPECIAL.search(text) is None:
            return text  # nearly every piece, so the rest of this class costs little
        return self._read(self._text + text, final=False)

    def finish(self, *, cut: bool = False) -> str:
        """End the answer; returns the rest of its text.

        Args:
            cut: The answer was cut off.
        """
        whole = self.release()
        text = self._read(self._rest(), final=True)
        if not self.calls:
            return text + "".join(self._gap)
        doubts = self._doubts
        if self._strictly and not doubts.ambiguous and (doubts.prose or doubts.quoted):
            self.calls.clear()
            return whole
        self.calls = doubts.judged(self.calls, cut=cut)
        return text

    def release(self) -> str:
        """All of the answer's text that was not shown yet."""
        return "".join(self._gap) + self._rest()

    def _rest(self) -> str:
        return self._text if self._held is None else "".join(self._held)

    def _give_up(self, text: str) -> str:
        self._given_up, self._text, self._held, self._gap = True, "", None, []
        return text

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
            self._steps += 1
            if self._steps > MOST_STEPS or len(self.calls) > MOST_CALLS:
                shown.append(self._show(text[at:]))
                return self._give_up("".join(shown))
        self._text = text[at:]
        return "".join(shown)

    def _show(self, text: str) -> str:
        self._doubts.add_text(text)
        if not text.strip() and (self._after_call or not self._begun):
            self._gap.append(text)
            return ""
        gap, self._gap = self._gap, []
        self._begun, self._after_call = True, False
        return "".join((*gap, text))

    # ------------------------------------------------------------------ calls

    def _call(self, text: str, at: int, shown: list[str], *, final: bool) -> int | None:
        """The position after the calls that begin here; `at` when none does; None when more is needed to tell."""
        start = at + len(text[at : at + INDENT + 1]) - len(text[at : at + INDENT + 1].lstrip(" "))
        if start == len(text) and not final:
            return None
        if start - at > INDENT or text[start : start + 1] not in _FIRST:
            return at
        if self._after_call and (mark := _END_MARK.match(text, start)) is not None:
            return self._mark(text, mark)
        if self.calls and text.startswith(_INVENTED, start):
            return self._drop(text, start)  # it makes up what came of its calls, and all that follows rests on that
        found = self._begins(text, start, final=final)
        if isinstance(found, bool):
            return at if found else None
        if not final:
            self._held = [text[at:]]
            return len(text)
        return self._section(text, at, start, found, shown)

    def _section(self, text: str, at: int, start: int, found: tuple[Form, Body, int], shown: list[str]) -> int:
        """The position after the calls that begin here; `at` when there are none."""
        form, body, behind = found
        section = body.read(text, behind, form, self._offered)
        whole = form.place == "whole"
        if section.end <= start or (whole and not self._is_whole(section, text)):
            return at
        strictly = self._strictly or whole or form.cautious
        opener = "" if form.keeps else text[start:behind]
        self._take(section, text[at : section.end], shown, strictly=strictly, opener=opener)
        return section.end

    def _mark(self, text: str, mark: "re.Match[str]") -> int:
        if mark[0] in ENDS_OF_ANSWERS:
            return self._drop(text, mark.start())
        self._doubts.add_mark(mark[0])
        return mark.end()

    def _drop(self, text: str, at: int) -> int:
        self._over = True
        self._doubts.add_dropped(text[at:])
        return len(text)

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

    def _take(self, section: Section, written: str, shown: list[str], *, strictly: bool, opener: str) -> None:
        """Add the calls of a section, or show it as text if they are none."""
        calls = [self._offered.tool_call(found, strictly=strictly, new_id=self._new_id) for found in section.calls]
        good = [call for call in calls if call is not None]
        if self._doubtful:
            good = [] if strictly else [replace(call, problem=call.problem or DOUBTFUL) for call in good]
        accepted = bool(calls) and len(good) == len(calls)
        self._doubts.add(section, written=written, opener=opener, accepted=accepted)
        self._doubtful = self._doubtful or any(call.broken for call in section.calls)
        if accepted:
            self.calls += good
            self._gap, self._begun, self._after_call = [], True, True
            self._places.after_call()
        else:
            shown.append(self._show(written))
            self._places.after_text(line_ended=written.endswith("\n"))
