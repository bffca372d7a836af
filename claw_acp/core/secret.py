"""A type for secrets: carried anywhere, printed nowhere."""

from collections.abc import Callable
from importlib import import_module
from typing import Final, final

_MASK: Final = "•••"


@final
class Secret:
    """A key or token. Every way of printing it shows `Secret(•••)`; only `reveal` returns it.

    Equality takes the same time for every wrong guess of one length. Pickling is refused, so that a secret cannot reach
    a file inside another object.
    """

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself: for the line that builds a request header, and nowhere else."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        same: Callable[[bytes, bytes], bool] = import_module("hmac").compare_digest  # with it comes a library of C
        return same(_octets(self._text), _octets(other.reveal()))

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __repr__(self) -> str:
        return f"Secret({_MASK})"

    def __reduce__(self) -> str:
        raise TypeError("a Secret cannot be pickled")


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
