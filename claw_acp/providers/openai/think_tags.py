"""Thinking inside the text: `<think>…</think>` at the beginning of an answer.

Servers that do not parse the tags of a model's template leave it there (vLLM without a reasoning parser, llama.cpp with
`--reasoning-format none`, many small services). Tags anywhere else are part of the answer.
"""

from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


class ThinkTags:
    """Separates thinking from text in the pieces of an answer.

    Once `done`, everything that follows is text.
    """

    def __init__(self) -> None:
        self.done = False
        self._held = ""  # may be the beginning of a tag, or blank
        self._thinking = False
        self._thought = False

    def feed(self, text: str) -> tuple[str, str]:
        """The thinking and the text in `text`; a piece that may be part of a tag is held back."""
        self._held += text
        if self._thinking:
            thought = self._think()
            return thought, "" if self._thinking else self._after()
        if self._thought:
            return "", self._after()
        return self._begin()

    def finish(self) -> tuple[str, str]:
        """Thinking and text that were held back. Unclosed thinking stays thinking."""
        held, self._held = self._held, ""
        self.done = True
        if self._thinking:
            return held, ""
        return "", "" if self._thought else held

    def _begin(self) -> tuple[str, str]:
        beginning = self._held.lstrip()
        if beginning.startswith(OPEN):
            self._held = beginning[len(OPEN) :]
            self._thinking = True
            return self.feed("")
        if OPEN.startswith(beginning):  # also while there is nothing but blanks
            return "", ""
        return self.finish()

    def _think(self) -> str:
        """Everything before the closing tag, except an end that may be its beginning."""
        thought, tag, rest = self._held.partition(CLOSE)
        if tag:
            self._held = rest
            self._thinking, self._thought = False, True
            return thought
        kept = next((size for size in range(len(CLOSE) - 1, 0, -1) if self._held.endswith(CLOSE[:size])), 0)
        cut = len(self._held) - kept
        thought, self._held = self._held[:cut], self._held[cut:]
        return thought

    def _after(self) -> str:
        """The text after the closing tag, without the blank lines between."""
        text, self._held = self._held.lstrip(), ""
        self.done = bool(text)
        return text
