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

MOST_ESCAPED: Final = 3  # times that a text may have been escaped for HTML

_NUMBERS = re.compile(r"^(?:[ \t]{0,16}(?:[\w./-]{1,300}[:-])?\d+(?:\u2192|[:-] ?))+", re.MULTILINE)
_UNSTABLE = re.compile(r"[\s\"'\\>|+\-#*/`]+")
"""What differs between a text and a quotation of it: spaces, escapes, and marks at the beginning of its lines."""
_ESCAPE = re.compile(r"\\++(?:u([0-9a-fA-F]{4})|[nrt])?")
_WORD = re.compile(r"\w+")


def given_texts(request: ChatRequest) -> Iterator[str]:
    """The texts of a request that are not the model's own: results, messages of the person, descriptions of tools."""
    for message in request.messages:
        if message.role != "assistant":
            for part in message.parts:
                if isinstance(part, TextPart | ResourcePart) and part.text:
                    yield part.text
    for tool in request.tools:
        yield tool.description


def is_quoted(written: Sequence[str], given: Iterable[str]) -> bool:
    """True if one of the written texts stands in one that was given, however it is marked or escaped there."""
    looked_for = [(_longest_word(text), plain) for text in written if (plain := _plain(text))]
    for text in given if looked_for else ():
        likely = [plain for word, plain in looked_for if word in text or "&" in text or "\\u" in text]
        if likely:
            whole = _plain(text)
            if any(plain in whole for plain in likely):
                return True
    return False


def _longest_word(text: str) -> str:
    """The longest word of a text but the last, which may be cut: most other texts lack it, and need no closer look."""
    return max(_WORD.findall(text)[:-1], key=len, default="")


def _plain(text: str) -> str:
    for _ in range(MOST_ESCAPED if "&" in text else 0):
        text = unescape(text)
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    return _UNSTABLE.sub("", _NUMBERS.sub("", text))


def _unescaped(escape: "re.Match[str]") -> str:
    return chr(int(escape[1], 16)) if escape[1] else "\n"
