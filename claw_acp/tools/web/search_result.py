"""One result of a search of the web."""

from typing import Final, Self

from claw_acp.core.value import Value

LONGEST_TITLE: Final = 200
LONGEST_TEXT: Final = 600  # characters of what a service quotes from a page
LONGEST_ADDRESS: Final = 2_000


class SearchResult(Value):
    """A page that a service found."""

    url: str
    title: str
    text: str

    @classmethod
    def of(cls, url: str, *, title: str, text: str) -> Self | None:
        """A result, its texts on one line and bounded; None if it is no page of the web."""
        if not url.startswith(("http://", "https://")) or len(url) > LONGEST_ADDRESS or not url.isprintable():
            return None
        return cls(url=url, title=_bounded(title, LONGEST_TITLE) or url, text=_bounded(text, LONGEST_TEXT))


def _bounded(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
