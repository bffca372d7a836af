"""Splitting HTML into tags and text, in linear time for any input.

Not `html.parser`: over broken markup some Python versions let it run for minutes, inside one regular expression that
stops the whole program, or fail an assertion. Pages are written by strangers, so neither may happen. Every pattern here
is possessive or anchored, and every search that can reach the end of the page without success is made once.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from claw_acp.core.value import Value


class StartTag(Value):
    """The start of an element; names are lower-case."""

    name: str
    attributes: Mapping[str, str]


class EndTag(Value):
    """The end of an element."""

    name: str


class Text(Value):
    """Characters between tags, entities resolved."""

    text: str


Token: TypeAlias = StartTag | EndTag | Text

_NAME = re.compile(r"[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = re.compile(r"""[\s/]*+([^\s/>=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+))?+""")
_SEPARATOR = re.compile(r"[\s/]*+")
_UNREAD: Final = {
    "script": re.compile(r"</script", re.IGNORECASE),
    "style": re.compile(r"</style", re.IGNORECASE),
}
"""Elements whose content is no markup and is left out."""


def tokens(page: str) -> Iterator[Token]:
    """The tags and texts of a page, without comments, declarations, scripts and styles."""
    return _Scanner(page).tokens()


def plain_text(page: str) -> str:
    """The texts of a page without its tags."""
    return "".join(token.text for token in tokens(page) if isinstance(token, Text))


class _Scanner:
    def __init__(self, page: str) -> None:
        self._page = page
        self._at = 0
        self._missing: set[str] = set()  # endings that do not come any more

    def tokens(self) -> Iterator[Token]:
        page = self._page
        while self._at < len(page):
            start = page.find("<", self._at)
            if start < 0:
                yield _text(page[self._at :])
                return
            if start > self._at:
                yield _text(page[self._at : start])
            self._at = start
            token = self._tag()
            if token is not None:
                yield token

    def _tag(self) -> Token | None:
        """The token that begins at the current `<`; None if it is left out."""
        page, start = self._page, self._at
        if page.startswith("<!--", start):
            self._skip("-->", opening=4)
            return None
        if page.startswith(("<!", "<?"), start):
            self._skip(">", opening=2)
            return None
        closing = page.startswith("</", start)
        name = _NAME.match(page, start + (2 if closing else 1))
        if name is None:
            self._at = start + 1
            return Text(text="<")
        self._at = name.end()
        tag = name[0].lower()
        attributes = self._attributes()
        if closing:
            return EndTag(name=tag)
        if tag in _UNREAD:
            end = _UNREAD[tag].search(page, self._at)
            self._at = len(page) if end is None else end.start()
        return StartTag(name=tag, attributes=attributes)

    def _skip(self, ending: str, *, opening: int) -> None:
        """Continue after `ending`; without one, the opening is skipped as if it were not there."""
        end = -1 if ending in self._missing else self._page.find(ending, self._at + opening)
        if end < 0:
            self._missing.add(ending)
            self._at += opening
        else:
            self._at = end + len(ending)

    def _attributes(self) -> dict[str, str]:
        """Read to the end of the tag; an unclosed tag takes the rest of the page, as in a browser."""
        found: dict[str, str] = {}
        page = self._page
        while self._at < len(page):
            attribute = _ATTRIBUTE.match(page, self._at)
            if attribute is not None:
                self._at = attribute.end()
                found.setdefault(attribute[1].lower(), _resolved((attribute[2] or "").strip("\"'")))
                continue
            separator = _SEPARATOR.match(page, self._at)
            self._at = separator.end() + 1 if separator else self._at + 1
            if page[self._at - 1 : self._at] == ">":
                break
        return found


def _text(raw: str) -> Text:
    return Text(text=_resolved(raw))


def _resolved(raw: str) -> str:
    try:
        return html.unescape(raw)
    except ValueError:  # a character number of thousands of digits
        return raw
