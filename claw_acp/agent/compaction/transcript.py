"""Messages as text for people and for search: what was said whole, calls and results in short."""

from collections.abc import Iterator, Sequence
from typing import Final

from claw_acp.core.messages import Message

LONGEST_CALL: Final = 300  # characters of a call's arguments
LONGEST_RESULT: Final = 400  # characters of a result: files and pages can be read again
_NAMES: Final = {"user": "User", "assistant": "Assistant"}


def pieces(messages: Sequence[Message], *, most: int) -> Sequence[str]:
    """The messages as texts of at most `most` characters, cut between two lines where that is possible."""
    found: list[str] = []
    text = ""
    for line in _lines(messages):
        if text and len(text) + len(line) >= most:
            found.append(text)
            text = ""
        text = f"{text}\n{line}" if text else line
        while len(text) > most:
            found.append(text[:most])
            text = text[most:]
    return [*found, text] if text else found


def _lines(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        text = message.text.strip()
        if message.role == "tool":
            yield f"{'Error' if message.failed else 'Result'}: {_clipped(text, LONGEST_RESULT)}"
            continue
        if text:
            yield f"{_NAMES.get(message.role, message.role)}: {text}"
        for call in message.tool_calls:
            yield f"Call: {call.name} {_clipped(call.arguments, LONGEST_CALL)}"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
