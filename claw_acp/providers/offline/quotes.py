"""Quoted pieces of a request, masked so that no quoted word is read as part of an instruction."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_QUOTED = re.compile(
    r"""
      ```[^\n`]*\n(?P<fence>.*?)```                         # a fenced block
    | `(?P<tick>[^`\n]+)`
    | "(?P<double>(?:[^"\\]|\\.)*)"
    | “(?P<curly>[^”]*)”
    | (?:(?<=\s)|^)'(?P<single>[^'\n]*)'(?=[\s,.;:!?)]|$)   # not an apostrophe
    | \[@?[^\]\n]*\]\((?P<link>file:[^)\s]+)\)              # how editors write a mention
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}

# Private-use characters around the number of a piece: nothing a person types.
OPEN, CLOSE = "\ue000", "\ue001"
ATOM = f"{OPEN}\\d+{CLOSE}"


@dataclass(frozen=True, slots=True)
class Masked:
    """A request with a numbered mark for each quoted piece."""

    text: str
    pieces: tuple[str, ...] = ()

    def restore(self, text: str) -> str:
        """`text`, stripped, with the quoted pieces restored exactly."""
        return re.sub(ATOM, lambda found: self.pieces[int(found.group()[1:-1])], text.strip())

    def replacing(self, pattern: re.Pattern[str], *, piece: str) -> "Masked":
        """The same with every match of `pattern` masked as the quoted `piece`."""
        mark = f"{OPEN}{len(self.pieces)}{CLOSE}"
        return Masked(pattern.sub(mark, self.text), (*self.pieces, piece))


def mask(text: str) -> Masked:
    """Mask the quoted pieces of `text`."""
    pieces: list[str] = []

    def take(found: re.Match[str]) -> str:
        kind = found.lastgroup or "tick"
        pieces.append(_meaning(kind, found.group(kind)))
        return f"{OPEN}{len(pieces) - 1}{CLOSE}"

    clean = text.replace(OPEN, "").replace(CLOSE, "")
    return Masked(_QUOTED.sub(take, clean), tuple(pieces))


def path_of(uri: str) -> str:
    """The path of a `file:` URI; any other text is returned unchanged."""
    return unquote(urlsplit(uri).path) if uri.startswith("file:") else uri


def _meaning(kind: str, piece: str) -> str:
    if kind == "link":
        return path_of(piece)
    if kind == "double":
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found.group(1), found.group()), piece)
    return piece
