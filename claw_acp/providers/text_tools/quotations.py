"""Tells a call that a model only repeats from one that it makes.

A file that shows a call gives no power to a model that repeats it without quotation marks, or writes it to another
file. So a call that stands in a tool's result or in a message of the person, in the same words, is a quotation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import Final

from claw_acp.contracts.provider import ChatRequest
from claw_acp.core.messages import ResourcePart, TextPart
from claw_acp.providers.text_tools.found_call import LONGEST_WRITTEN

MOST_ESCAPED: Final = 3  # times that a text may have been escaped for HTML

_NUMBERS = re.compile(r"^(?:[ \t]{0,16}(?:[\w./-]{1,300}[:-])?\d+(?:\u2192|[:-] ?))+", re.MULTILINE)
_UNSTABLE = re.compile(r"[\s\"'\\>|+\-#*/`]+")
"""What differs between a text and a quotation of it: spaces, escapes, and marks at the beginning of its lines."""
_CODE = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})")
_LINE_BREAK = re.compile(r"(?<!\\)\\++[nrt]")
_WORD = re.compile(r"\w{3,}")


def given_texts(request: ChatRequest) -> Iterator[str]:
    """The texts of a request that are not the model's own: results, messages of the person, descriptions of tools."""
    for message in request.messages:
        if message.role != "assistant":
            for part in message.parts:
                if isinstance(part, TextPart | ResourcePart) and part.text:
                    yield part.text
    for tool in request.tools:
        yield tool.description


def is_quoted(written: Iterable[str], given: Iterable[str]) -> bool:
    """True if one of the written texts stands in one that was given, however it is marked or escaped there."""
    looked_for = [_Sought(text) for text in map(_unescaped, written) if _plain(text)]
    return any(_holds(_unescaped(text), looked_for) for text in (given if looked_for else ()))


class _Sought:
    """A text that is looked for. Others that lack most of its words need no closer look."""

    def __init__(self, text: str) -> None:
        words = _WORD.findall(text)
        cut = len(text) >= LONGEST_WRITTEN  # perhaps within a word
        self._words = set(words[:-1] if cut else words)
        self.plain = _plain(text)

    def may_be_in(self, text: str) -> bool:
        """True if a text holds half of the words; a quotation on one line joins some of them."""
        return 2 * sum(word in text for word in self._words) >= len(self._words)


def _holds(text: str, looked_for: Sequence[_Sought]) -> bool:
    likely = [sought.plain for sought in looked_for if sought.may_be_in(text)]
    if not likely:
        return False
    whole = _plain(text)
    return any(plain in whole for plain in likely)


def _unescaped(text: str) -> str:
    for _ in range(MOST_ESCAPED if "&" in text else 0):
        text = unescape(text)
    return _CODE.sub(_character, text) if "\\u" in text else text


def _character(code: "re.Match[str]") -> str:
    return chr(int(code[1], 16))


def _plain(text: str) -> str:
    return _UNSTABLE.sub("", _NUMBERS.sub("", _LINE_BREAK.sub("\n", text)))
