"""The parts of a text that a model does not see and that must be kept: byte order mark and kind of line ends."""

import re
from typing import Literal

from claw_acp.core.value import Value

_BARE_FEED = re.compile(r"(?<!\r)\n")
BOM = "\ufeff"
"""The byte order mark of a text."""


class TextShape(Value):
    """The byte order mark and line ends to restore when the text is replaced."""

    bom: bool
    newline: Literal["\n", "\r\n"]

    @classmethod
    def of(cls, text: str) -> "TextShape":
        """The shape of an existing text; of mixed line ends, the more frequent."""
        carriage = text.count("\r\n")
        newline = "\r\n" if carriage > text.count("\n") - carriage else "\n"
        return cls(bom=text.startswith(BOM), newline=newline)

    def applied(self, text: str) -> str:
        """The text in this shape; a text with carriage returns of its own keeps its line ends."""
        body = text.removeprefix(BOM)
        if self.newline == "\r\n" and "\r" not in body:
            body = with_newline(body, "\r\n")
        return BOM + body if self.bom else body


def with_newline(text: str, newline: Literal["\n", "\r\n"]) -> str:
    """The text with uniform line ends."""
    return _BARE_FEED.sub("\r\n", text) if newline == "\r\n" else text.replace("\r\n", "\n")
