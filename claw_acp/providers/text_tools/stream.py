"""Finds the tool calls in the text of a streamed answer, and removes them from the visible text.

A call begins where a marker begins a line and a JSON object follows it. Everywhere else a marker is only text: within a
sentence, in a block of code (fenced, or indented by more than three spaces), in thinking. So an answer that explains
how calls are written calls nothing. Only possible markers and the calls themselves are held back.
"""

import re
from collections.abc import Callable
from typing import Final

from claw_acp.core.messages import ToolCall
from claw_acp.core.value import Value
from claw_acp.providers.text_tools.calls import read_calls

LONGEST_GAP = 200  # characters between a marker and its object, or of the first line of a block of code
LONGEST_READ = 4096  # characters read at once: each line costs a copy of what is behind it
INDENT = 3  # spaces; with more a line is code in Markdown


class _Marker(Value):
    opening: str
    closings: tuple[str, ...]


_TAGS = ("tool_call", "toolcall", "tool-call")
_CLOSING_TAGS = tuple(f"</{tag}>" for tag in _TAGS)
_MARKERS: Final = (
    *(_Marker(opening=f"<{tag}>", closings=_CLOSING_TAGS) for tag in _TAGS),
    *(_Marker(opening=f"```{tag}", closings=("```",)) for tag in _TAGS),
    _Marker(opening="\u25c1", closings=("\u25b7",)),
)
_INVENTED = "<tool_result"
_FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})(.*)", re.DOTALL)
_THINK = re.compile(r"<(/?)think>")
_TAIL = len("</think>") - 1
_STOPS: Final = re.compile(r'["<`\u25b7]')
_IN_STRING: Final = re.compile(r'["\\]')


class TextCallReader:
    """Reads one answer. `calls` is complete after `finish`; `new_id` returns their ids."""

    def __init__(self, *, new_id: Callable[[], str]) -> None:
        self.calls: list[ToolCall] = []
        self._new_id = new_id
        self._rest = ""  # what came and is not decided
        self._gap = ""  # blank lines at the start or after a call; shown only if text follows
        self._tail = ""  # the end of what was decided, as long as a tag may reach back into it
        self._line_starts = True
        self._blank = True  # nothing but calls and blanks since the last call
        self._thinking = False
        self._fence = ""
        self._call: _CallText | None = None
        self._over = False

    def feed(self, text: str) -> str:
        """Take the next piece; returns the visible text of it and of earlier ones."""
        if len(text) <= LONGEST_READ:
            return self._read(text, final=False)
        pieces = (text[start : start + LONGEST_READ] for start in range(0, len(text), LONGEST_READ))
        return "".join([self._read(piece, final=False) for piece in pieces])

    def finish(self) -> str:
        """End the answer: returns the rest of its text. A call without a closing marker counts if it is complete."""
        text = self._read("", final=True)
        if self._call is not None:
            self.calls += read_calls(self._call.ended(), new_id=self._new_id)
            self._call = None
        return text

    def _read(self, text: str, *, final: bool) -> str:
        self._rest = "" if self._over else self._rest + text
        shown: list[str] = []
        while self._rest and not self._over:
            piece = self._step(final=final)
            if piece is None:
                break
            shown.append(piece)
        return "".join(shown)

    def _step(self, *, final: bool) -> str | None:
        """Decide on the next part of the rest; returns its visible text, or None when more is needed."""
        if self._call is not None:
            return self._read_call(self._call)
        if self._line_starts and not self._thinking:
            return self._begin_line(final=final)
        return self._rest_of_line()

    def _read_call(self, call: "_CallText") -> str | None:
        self._rest = call.feed(self._rest)
        if not call.closed:
            return None
        self.calls += read_calls(call.ended(), new_id=self._new_id)
        self._call = None
        self._line_starts = self._blank = True
        return ""

    # ------------------------------------------------------------------ text

    def _rest_of_line(self) -> str:
        line, newline, self._rest = self._rest.partition("\n")
        return self._show(line + newline, line_starts=bool(newline))

    def _show(self, text: str, *, line_starts: bool) -> str:
        if not self._fence:
            for tag in _THINK.finditer(self._tail + text):
                self._thinking = not tag[1]
        self._tail = (self._tail + text)[-_TAIL:]
        self._line_starts = line_starts
        if self._blank and not self._thinking and not text.strip():
            self._gap += text
            return ""
        self._blank = False
        gap, self._gap = self._gap, ""
        return gap + text

    def _begin_line(self, *, final: bool) -> str | None:
        """Decide on the beginning of a line."""
        line = self._rest.lstrip(" ")
        if not line and len(self._rest) <= LONGEST_GAP and not final:
            return None
        if len(self._rest) - len(line) > INDENT:
            return self._rest_of_line()
        if self._fence:
            return self._in_fence(line, final=final)
        return self._marked(line, final=final)

    def _marked(self, line: str, *, final: bool) -> str | None:
        waiting = False
        for marker in _MARKERS:
            begins = _begins(line, marker)
            if begins is True:
                self._call = _CallText(marker)
                self._rest = line[len(marker.opening) :].lstrip()
                self._gap = ""
                return ""
            waiting = waiting or begins is None
        if self.calls and _INVENTED.startswith(line[: len(_INVENTED)]):
            if len(line) >= len(_INVENTED):
                self._over = True  # it makes up what came of its calls, and all that follows rests on that
                return ""
            waiting = True
        if waiting and not final:
            return None
        return self._fence_or_text(line, final=final)

    def _fence_or_text(self, line: str, *, final: bool) -> str | None:
        if not line.startswith(("`", "~")):
            return self._rest_of_line()
        whole = _first_line(line, final=final)
        if whole is None:
            return None
        fence = _FENCE.match(whole)
        if fence is not None:
            self._fence = fence[1]
        return self._rest_of_line()

    def _in_fence(self, line: str, *, final: bool) -> str | None:
        if line.startswith(self._fence[0]):
            whole = _first_line(line, final=final)
            if whole is None:
                return None
            bare = whole.rstrip()
            if len(bare) >= len(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
                self._line_starts = False
                return self._rest_of_line()
        return self._rest_of_line()


class _CallText:
    """The text of one call as it arrives. A closing marker within a JSON string does not end it."""

    def __init__(self, marker: _Marker) -> None:
        self.closed = False
        self._marker = marker
        self._taken: list[str] = []
        self._in_string = False

    def feed(self, text: str) -> str:
        """Take the part that belongs to the call; returns the text after it, or an undecided end."""
        start = 0
        while not self.closed:
            stop = (_IN_STRING if self._in_string else _STOPS).search(text, start)
            if stop is None:
                self._taken.append(text)
                return ""
            at = stop.start()
            end = self._passed(text, at)
            if end is None:
                self._taken.append(text[:at])
                return text[at:]
            if self.closed:
                self._taken.append(text[:at])
                return text[end:]
            start = end
        return text

    def ended(self) -> str:
        """The whole text between the markers."""
        return "".join(self._taken).strip()

    def _passed(self, text: str, at: int) -> int | None:
        """The place after the character that stopped the scan; None when more text is needed."""
        match text[at]:
            case "\\":
                return at + 2 if at + 1 < len(text) else None
            case '"':
                self._in_string = not self._in_string
                return at + 1
            case _:
                return self._closing(text, at)

    def _closing(self, text: str, at: int) -> int | None:
        here = text[at : at + max(map(len, self._marker.closings))]
        for closing in self._marker.closings:
            if here.startswith(closing):
                self.closed = True
                return at + len(closing)
        return None if any(closing.startswith(here) for closing in self._marker.closings) else at + 1


def _begins(line: str, marker: _Marker) -> bool | None:
    """True if a line begins with a marker followed by an object; None while it may."""
    if not line.startswith(marker.opening):
        return None if marker.opening.startswith(line) else False
    after = line[len(marker.opening) :]
    body = after.lstrip()
    if len(after) - len(body) > LONGEST_GAP:
        return False
    return body[0] == "{" if body else None


def _first_line(text: str, *, final: bool) -> str | None:
    """The first line, or the part of it that matters; None while it may go on."""
    line, newline, _ = text[: LONGEST_GAP + 1].partition("\n")
    return line if newline or final or len(line) > LONGEST_GAP else None
