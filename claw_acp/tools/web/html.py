"""HTML converted to text for a model: headings, links, lists, tables and code in Markdown, the rest unchanged."""

import re
from collections.abc import Mapping
from typing import Final, assert_never
from urllib.parse import urljoin

from claw_acp.tools.web.markup import EndTag, StartTag, Text, tokens

_SILENT: Final = frozenset({"template", "svg", "noscript", "iframe", "object", "head", "select"})
_ASIDE: Final = frozenset({"nav"})
_BLOCKS: Final = (
    *("address", "article", "aside", "blockquote", "body", "dd", "details", "dialog", "div", "dl", "dt", "fieldset"),
    *("figcaption", "figure", "footer", "form", "header", "html", "main", "p", "section", "summary", "table", "title"),
)
_HEADINGS: Final = {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
_BEFORE: Final = {
    **dict.fromkeys(_BLOCKS, "\n\n"),
    **_HEADINGS,
    "br": "\n",
    "hr": "\n\n---\n\n",
}
_AFTER: Final = {**dict.fromkeys((*_BLOCKS, *_HEADINGS), "\n\n")}
_CODE: Final = frozenset({"code", "kbd", "samp"})
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_BLANK_LINES = re.compile(r"\n{3,}")

MAX_SILENCE: Final = 256  # levels of left out elements that are counted
MAX_DEPTH: Final = 32  # levels of list indentation that are shown


def html_to_text(html: str, *, base_url: str) -> str:
    """The readable text of a page. Links become absolute. Scripts, styles and navigation are left out.

    A page with unclosed elements, so that all of it would count as navigation, is read with its navigation.
    """
    return _read(html, base_url, _SILENT | _ASIDE) or _read(html, base_url, _SILENT - {"head"})


def _read(html: str, base_url: str, skipped: frozenset[str]) -> str:
    reader = _Reader(base_url=base_url, skipped=skipped)
    for token in tokens(html):
        match token:
            case StartTag():
                reader.starts(token)
            case EndTag(name=name):
                reader.ends(name)
            case Text(text=text):
                reader.says(text)
            case _:
                assert_never(token)
    return reader.text()


class _Reader:
    def __init__(self, *, base_url: str, skipped: frozenset[str]) -> None:
        self._base = base_url
        self._skipped = skipped
        self._out: list[str] = []  # no empty pieces: the last one tells where we stand
        self._silence: list[str] = []  # open elements whose content is left out
        self._link: tuple[str, int] | None = None  # target, and where in the output its text begins
        self._lists: list[int | None] = []  # the next number, None for bullets
        self._preformatted = 0
        self._title = False

    def text(self) -> str:
        """The collected text, without more than one blank line in a row."""
        lines = (line.rstrip() for line in "".join(self._out).split("\n"))
        return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()

    def starts(self, tag: StartTag) -> None:
        """Handle the start of an element."""
        self._title = tag.name == "title"
        if tag.name in self._skipped and len(self._silence) < MAX_SILENCE:
            self._silence.append(tag.name)
        if not self._silence:
            self._open(tag.name, tag.attributes)

    def ends(self, name: str) -> None:
        """Handle the end of an element; unmatched ends are ignored."""
        self._title = False
        if not self._silence:
            self._close(name)
        elif name in self._silence:
            while self._silence.pop() != name:
                pass

    def says(self, text: str) -> None:
        """Handle text between elements; a title is a heading even in the head."""
        if self._title and "head" in self._silence:
            self._emit(f"# {_SPACE.sub(' ', text).strip()}\n\n")
        elif not self._silence:
            self._emit(text if self._preformatted else self._flowing(text))

    def _emit(self, text: str) -> None:
        if text:
            self._out.append(text)

    def _flowing(self, text: str) -> str:
        text = _SPACE.sub(" ", text)
        return text.lstrip(" ") if self._at_start() else text

    def _at_start(self) -> bool:
        return not self._out or self._out[-1].endswith(("\n", " "))

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        match tag:
            case "pre":
                self._preformatted += 1
                self._emit("\n\n```\n")
            case "a":
                self._end_link()  # links do not nest
                self._link = (attributes.get("href", ""), len(self._out))
            case "img":
                self._image(attributes.get("alt", ""))
            case "ul" | "ol":
                self._lists.append(1 if tag == "ol" else None)
                self._emit("" if len(self._lists) > 1 else "\n\n")
            case "li":
                self._item()
            case "tr":
                self._new_line()
            case "td" | "th":
                self._emit("| " if self._at_start() else " | ")
            case _:
                self._emit(self._code_mark(tag) or _BEFORE.get(tag, ""))

    def _close(self, tag: str) -> None:
        match tag:
            case "pre" if self._preformatted:
                self._preformatted -= 1
                self._emit("\n```\n\n")
            case "a":
                self._end_link()
            case "ul" | "ol" if self._lists:
                self._lists.pop()
                if self._lists:
                    self._new_line()
                else:
                    self._emit("\n\n")
            case _:
                self._emit(self._code_mark(tag) or _AFTER.get(tag, ""))

    def _code_mark(self, tag: str) -> str:
        return "`" if tag in _CODE and not self._preformatted else ""

    def _new_line(self) -> None:
        if self._out and not self._out[-1].endswith("\n"):
            self._out.append("\n")

    def _item(self) -> None:
        depth = min(max(len(self._lists) - 1, 0), MAX_DEPTH)
        number = self._lists[-1] if self._lists else None
        self._new_line()
        if number is None:
            self._emit(f"{'  ' * depth}- ")
        else:
            self._emit(f"{'  ' * depth}{number}. ")
            self._lists[-1] = number + 1

    def _image(self, description: str) -> None:
        if description.strip():
            self._emit(f"[image: {_SPACE.sub(' ', description).strip()}]")

    def _end_link(self) -> None:
        if self._link is None:
            return
        (href, start), self._link = self._link, None
        label = "".join(self._out[start:])
        target = _absolute(self._base, href)
        if target and label.strip() and "\n" not in label.strip():
            lead = label[: len(label) - len(label.lstrip())]
            trail = label[len(label.rstrip()) :]
            self._out[start:] = [f"{lead}[{label.strip()}]({target}){trail}"]


def _absolute(base: str, href: str) -> str:
    """A link's target, empty if it cannot be fetched."""
    href = "".join(href.split())
    if not href or href.startswith("#"):
        return ""
    try:
        target = urljoin(base, href)
    except ValueError:  # a bracket that opens no IPv6 address
        return ""
    return target if target.startswith(("http://", "https://")) else ""
