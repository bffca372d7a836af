"""Surrogate pairs that a model server split: JSON writes characters beyond U+FFFF as pairs of escapes."""


class Pairs:
    """Pieces of one text: the first half of a pair waits for the second; a half without its other becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """The new complete part of the text."""
        if not self._held and text.isascii():  # which costs nothing, and most pieces are
            return text
        text = self._held + text
        self._held = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        return mended(text[:-1] if self._held else text)

    def finish(self) -> str:
        """The end of the text."""
        held, self._held = self._held, ""
        return "\ufffd" if held else ""


def mended(text: str) -> str:
    """The text with its pairs joined, and U+FFFD for halves; the same object if there are none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
