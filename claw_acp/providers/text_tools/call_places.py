"""Where in an answer a call may stand: where a line begins, outside of everything that only shows text.

Such are blocks of code, also within lists and quotes; inline code that goes on over a line break; thinking; and HTML
elements, comments and tool results that quote. In doubt a place is none: a call that is missed stays on the screen.
"""

import re
from functools import lru_cache
from typing import Final

LONGEST_START: Final = 256  # characters of a line that are waited for
INDENT: Final = 3  # columns; a fence that is indented by more does not end a block of code
_THOUGHTS: Final = ("think", "thinking", "thought", "reasoning", "seed:think")
_QUOTING: Final = (
    "blockquote", "code", "content", "document", "example", "examples", "file", "file_content", "function_result",
    "function_results", "output", "pre", "quote", "result", "samp", "stdout", "textarea", "tool_response",
    "tool_result",
)  # fmt: skip
_CONTAINERS = re.compile(r"(?:[ \t>]|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*")
_FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")
_ELEMENT = re.compile(rf"<(?:!--|({'|'.join(_QUOTING)})(?=[\s>]))", re.IGNORECASE | re.ASCII)
_THOUGHT = re.compile(rf"<({'|'.join(_THOUGHTS)})>", re.IGNORECASE | re.ASCII)
_TICKS = re.compile("`+")


def _beginnings(*marks: str) -> frozenset[str]:
    return frozenset(mark[:length] for mark in marks for length in range(1, len(mark)))


_ELEMENT_BEGINNINGS: Final = _beginnings("<!--", *(f"<{name}>" for name in _QUOTING))
_THOUGHT_BEGINNINGS: Final = _beginnings(*(f"<{name}>" for name in _THOUGHTS))


class CallPlaces:
    """Follows the text of an answer, piece by piece."""

    def __init__(self) -> None:
        self._line_starts = True
        self._fence = ""
        self._fence_indent = 0
        self._fence_quoted = False
        self._inside = ""  # the name of an element that quotes, or of thinking
        self._span = 0  # backticks of the inline code that is open
        self._ticks = 0  # backticks at the end of the text so far

    @property
    def open(self) -> bool:
        """True if a call may begin here."""
        return self._line_starts and not (self._fence or self._inside or self._span)

    def after_call(self) -> None:
        """Note that a call ended here: another one may follow at once."""
        self._line_starts, self._span, self._ticks = True, 0, 0

    def after_text(self, *, line_ended: bool) -> None:
        """Note that something that looked like a call was text."""
        self._line_starts, self._span, self._ticks = line_ended, 0, 0

    def next_piece(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of the next piece of text, which holds no call; None when more is needed to tell."""
        if self._inside:
            return self._within_element(text, at, final=final)
        if self._line_starts:
            end = self._line_start(text, at, final=final)
            if end != 0:
                return end
        return self._within_line(text, at, final=final)

    # ------------------------------------------------------------------ the beginning of a line

    def _line_start(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of a piece that begins or ends something; 0 when the line is ordinary; None when more is needed."""
        containers = _CONTAINERS.match(text, at, at + LONGEST_START)
        start = containers.end() if containers else at
        if start == len(text) and start - at < LONGEST_START and not final:
            return None
        if text.startswith("\n", start):
            self._span = self._ticks = 0  # inline code ends with its paragraph
            return start + 1
        before = text[at:start]
        if self._fence_quoted and ">" not in before:
            self._fence, self._fence_quoted = "", False  # the quote that held the block is over
        if text.startswith(self._fence[:1] or ("`", "~"), start):
            return self._fence_line(text, start, before, final=final)
        if text.startswith("<", start) and not self._fence:
            return self._element(text, start, final=final)
        return 0

    def _fence_line(self, text: str, start: int, before: str, *, final: bool) -> int | None:
        newline = text.find("\n", start, start + LONGEST_START)
        if newline < 0 and len(text) - start < LONGEST_START and not final:
            return None
        end = min(len(text), start + LONGEST_START) if newline < 0 else newline + 1
        line, indent = text[start:end].rstrip(), len(before.replace(">", "").expandtabs(4))
        fence = _FENCE.match(line)
        if self._fence:
            ends = len(line) >= len(self._fence) and not line.strip(self._fence[0])
            plain = not before.strip(" \t>" if self._fence_quoted else " \t")
            if not (ends and plain and indent <= self._fence_indent + INDENT):
                return 0
            self._fence, self._fence_quoted = "", False
        elif fence is None:
            return 0
        else:
            self._fence, self._fence_quoted, self._fence_indent = fence[1] or fence[2], ">" in before, indent
        self._line_starts = newline >= 0
        return end

    def _element(self, text: str, start: int, *, final: bool) -> int | None:
        if not final and text[start : start + 32].lower() in _ELEMENT_BEGINNINGS:
            return None
        element = _ELEMENT.match(text, start)
        if element is None:
            return 0
        self._line_starts, self._inside = False, (element[1] or "!").lower()
        return element.end()

    # ------------------------------------------------------------------ the rest of it

    def _within_element(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of a piece of what an element quotes, or of a thought."""
        close, beginnings = _closing(self._inside)
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        closed = close.search(text, at, end)
        if closed is not None:
            self._line_starts = self._inside in _THOUGHTS
            self._inside = ""
            self._span = self._ticks = 0
            return closed.end()
        if newline < 0 and not final:
            end = _undecided(text, at, beginnings)
        return end if end > at else None

    def _within_line(self, text: str, at: int, *, final: bool) -> int | None:
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        if self._fence:
            self._line_starts = newline >= 0
            return end
        thought = _THOUGHT.search(text, at, end)
        if thought is not None:
            self._count_ticks(text, at, thought.start())
            if not (self._span or self._ticks):
                self._inside = thought[1].lower()
            self._count_ticks(text, thought.start(), thought.end())
            self._line_starts = False
            return thought.end()
        if newline < 0 and not final:
            end = _undecided(text, at, _THOUGHT_BEGINNINGS)
        if end == at:
            return None
        self._line_starts = text[end - 1] == "\n"
        self._count_ticks(text, at, end)
        return end

    def _count_ticks(self, text: str, at: int, end: int) -> None:
        """Follow inline code: it is open between two runs of as many backticks."""
        last = at
        for run in _TICKS.finditer(text, at, end):
            if run.start() > last:
                self._close_run()
            self._ticks += run.end() - run.start()
            last = run.end()
        if end > last:
            self._close_run()

    def _close_run(self) -> None:
        run, self._ticks = self._ticks, 0
        if not self._span:
            self._span = run
        elif run == self._span:
            self._span = 0


@lru_cache(maxsize=64)
def _closing(name: str) -> tuple["re.Pattern[str]", frozenset[str]]:
    mark = "-->" if name == "!" else f"</{name}>"
    return re.compile(re.escape(mark), re.IGNORECASE | re.ASCII), _beginnings(mark)


def _undecided(text: str, at: int, beginnings: frozenset[str]) -> int:
    """The place from which on the text may be the beginning of a mark."""
    longest = max(map(len, beginnings))
    for place in range(max(at, len(text) - longest), len(text)):
        if text[place] in "<-" and text[place:].lower() in beginnings:
            return place
    return len(text)
