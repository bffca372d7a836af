"""Where in an answer a call may stand: where a line begins, outside of everything that only shows text.

Such are blocks of code, also within lists and quotes; inline code that goes on over a line break; thinking; and HTML
elements, comments and tool results that quote. In doubt a place is none: a call that is missed stays on the screen.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

_ORDINARY: Final = -1
LONGEST_START: Final = 256  # characters of a line that are waited for
INDENT: Final = 3  # columns; a fence that is indented by more does not end a block of code
_NAMES_OF_THOUGHT: Final = ("think", "thinking", "thought", "reasoning", "seed:think")
_THOUGHTS: Final[dict[str, str]] = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES_OF_THOUGHT},
    "[think]": "[/think]",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
}
_NEVER: Final = "</end of the answer>"
_ENDS: Final = dict.fromkeys(
    (
        "<|im_end|>", "<|im_start|>user", "<|im_start|>tool", "<|eot_id|>", "<|start_header_id|>user", "<|endoftext|>",
        "<|end_of_text|>", "<end_of_turn>", "<start_of_turn>user", "<|user|>", "<|observation|>", "[inst]",
        "<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5cuser\uff5c>",
    ),
    _NEVER,
)  # fmt: skip
"""Marks between the parts of a conversation: behind one, a model plays somebody else."""
_HTML: Final[dict[str, str]] = {
    "<!--": "-->",
    **{f"<{name}": f"</{name}>" for name in ("blockquote", "code", "pre", "samp", "textarea", "xmp")},
}
_QUOTING: Final[Mapping[str, str]] = _HTML | {
    f"<{name}": f"</{name}>"
    for name in (
        "content", "document", "example", "examples", "file", "file_content", "function_result", "function_results",
        "output", "quote", "result", "stdout", "tool_response", "tool_result",
    )
}  # fmt: skip
_INSIDE: Final = _THOUGHTS | _HTML | _ENDS
_CONTAINERS = re.compile(r"(?:[ \t>]|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*")
_FENCE = re.compile(r"(`{3,})[^`\n]*$|(~{3,})")


def _openings(marks: Iterable[str]) -> "re.Pattern[str]":
    """A pattern for marks; behind the name of an element a space or `>` follows."""
    each = (re.escape(mark) + (r"(?=[\s>])" if mark[-1].isalpha() else "") for mark in marks)
    return re.compile("|".join(each), re.IGNORECASE | re.ASCII)


_ELEMENT = _openings(_QUOTING)
_WITHIN_LINE = _openings([*_THOUGHTS, *_HTML, *_ENDS])
_TICKS = re.compile("`+")


def _beginnings(*marks: str) -> frozenset[str]:
    """What may become one of the marks; the name of an element is complete with what follows it."""
    whole = (mark + ">" if mark[-1].isalpha() else mark for mark in marks)
    return frozenset(mark[:length] for mark in whole for length in range(1, len(mark)))


_ELEMENT_BEGINNINGS: Final = _beginnings(*_QUOTING)
_LINE_BEGINNINGS: Final = _beginnings(*_THOUGHTS, *_HTML, *_ENDS)
_FIRST: Final = frozenset(mark[0] for mark in (*_LINE_BEGINNINGS, *_QUOTING.values(), *_THOUGHTS.values()))


class CallPlaces:
    """Follows the text of an answer, piece by piece."""

    def __init__(self) -> None:
        self._line_starts = True
        self._fence = ""
        self._fence_indent = 0
        self._fence_quoted = False
        self._fence_listed = False
        self._inside = ""  # the mark that ends an element that quotes, or a thought
        self._span = 0  # backticks of the inline code that is open
        self._ticks = 0  # backticks at the end of the text so far

    @property
    def open(self) -> bool:
        """True if a call may begin here."""
        return self._line_starts and not (self._fence or self._inside or self._span)

    @property
    def ordinary(self) -> bool:
        """True within a line of which only a mark, a backtick or its end can make something else."""
        return not (self._line_starts or self._inside or self._ticks)

    def after_call(self) -> None:
        """Note that a call ended here: another one may follow at once."""
        self._line_starts, self._span, self._ticks = True, 0, 0

    def after_text(self, *, line_ended: bool) -> None:
        """Note that something that looked like a call was text."""
        self._line_starts, self._span, self._ticks = line_ended, 0, 0

    def next_piece(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of the next piece of text, which holds no call; None when more is needed to tell.

        An empty piece means that something is over here, so that a call may begin.
        """
        if self._inside:
            return self._within_element(text, at, final=final)
        if self._line_starts:
            end = self._line_start(text, at, final=final)
            if end != _ORDINARY:
                return end
        return self._within_line(text, at, final=final)

    # ------------------------------------------------------------------ the beginning of a line

    def _line_start(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of a piece that begins or ends something, else _ORDINARY; None when more is needed."""
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
            return at
        if text.startswith(self._fence[:1] or ("`", "~"), start):
            return self._fence_line(text, start, before, final=final)
        if text.startswith("<", start) and not self._fence:
            return self._element(text, start, final=final)
        return _ORDINARY

    def _fence_line(self, text: str, start: int, before: str, *, final: bool) -> int | None:
        newline = text.find("\n", start, start + LONGEST_START)
        if newline < 0 and len(text) - start < LONGEST_START and not final:
            return None
        end = min(len(text), start + LONGEST_START) if newline < 0 else newline + 1
        line, indent = text[start:end].rstrip(), len(before.replace(">", "").expandtabs(4))
        fence = _FENCE.match(line)
        if self._fence and fence is not None and self._fence_listed and indent < self._fence_indent:
            self._fence, self._fence_listed, self._fence_indent = (
                fence[1] or fence[2],
                False,
                indent,
            )  # the list is over
        elif self._fence:
            ends = len(line) >= len(self._fence) and not line.strip(self._fence[0])
            plain = not before.strip(" \t>" if self._fence_quoted else " \t")
            if not (ends and plain and indent <= self._fence_indent + INDENT):
                return _ORDINARY
            self._fence, self._fence_quoted = "", False
        elif fence is None:
            return _ORDINARY
        else:
            self._fence, self._fence_quoted, self._fence_indent = fence[1] or fence[2], ">" in before, indent
            self._fence_listed = bool(before.strip(" \t>"))
        self._line_starts = newline >= 0
        return end

    def _element(self, text: str, start: int, *, final: bool) -> int | None:
        if not final and text[start : start + LONGEST_START].lower() in _ELEMENT_BEGINNINGS:
            return None
        element = _ELEMENT.match(text, start)
        if element is None:
            return _ORDINARY
        self._line_starts, self._inside = False, _QUOTING[element[0].lower()]
        return element.end()

    # ------------------------------------------------------------------ the rest of it

    def _within_element(self, text: str, at: int, *, final: bool) -> int | None:
        """The end of a piece of what an element quotes, or of a thought."""
        close, beginnings = _closing(self._inside)
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        closed = close.search(text, at, end)
        if closed is not None:
            self._line_starts = self._inside in _THOUGHTS.values()
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
        mark = _WITHIN_LINE.search(text, at, end)
        if mark is not None:
            self._count_ticks(text, at, mark.start())
            if not (self._span or self._ticks):
                self._inside = _INSIDE[mark[0].lower()]
            self._count_ticks(text, mark.start(), mark.end())
            self._line_starts = False
            return mark.end()
        if newline < 0 and not final:
            end = _undecided(text, at, _LINE_BEGINNINGS)
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
def _closing(mark: str) -> tuple["re.Pattern[str]", frozenset[str]]:
    pattern = "(?!)" if mark == _NEVER else re.escape(mark)
    return re.compile(pattern, re.IGNORECASE | re.ASCII), _beginnings(mark)


def _undecided(text: str, at: int, beginnings: frozenset[str]) -> int:
    """The place from which on the text may be the beginning of a mark."""
    longest = max(map(len, beginnings))
    for place in range(max(at, len(text) - longest), len(text)):
        if text[place] in _FIRST and text[place:].lower() in beginnings:
            return place
    return len(text)
