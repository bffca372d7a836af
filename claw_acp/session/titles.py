"""The titles of sessions: given by people, or generated while no person has given one."""

from collections.abc import Sequence

from claw_acp.core.errors import InvalidRequest
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.session.record_rows import clean

OUR_LIMIT = 60  # characters of a title that we make
GIVEN_LIMIT = 200  # characters of a title that a person gives
FORK_MARK = " (fork)"


def title_of(prompt: Sequence[ContentPart]) -> str | None:
    """The first line of a prompt, cut at a word."""
    text = " ".join(part.text for part in prompt if isinstance(part, TextPart)).strip()
    line = text.splitlines()[0].strip() if text else ""
    if len(line) <= OUR_LIMIT:
        return line or None
    return line[: OUR_LIMIT - 1].rsplit(" ", 1)[0].rstrip() + "…"


def given_title(text: str) -> str:
    """A title as it is stored: one line without control characters, cut to `GIVEN_LIMIT`.

    Raises:
        InvalidRequest: No visible character is left.
    """
    line = " ".join("".join(" " if _is_control(each) else each for each in clean(text)).split())
    if not any(each.isprintable() for each in line):
        raise InvalidRequest("a title needs at least one character that can be seen")
    return line if len(line) <= GIVEN_LIMIT else line[: GIVEN_LIMIT - 1].rstrip() + "…"


def title_of_fork(title: str | None) -> str | None:
    """The title of a copy, derived from that of its source."""
    return title if title is None or title.endswith(FORK_MARK) else f"{title}{FORK_MARK}"


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f"
