"""The form in which keys and texts are kept: one that Markdown gives back exactly."""

from typing import Final

from claw_acp.contracts.memory import MemoryEntry
from claw_acp.core.value import replace
from claw_acp.store.failures import StoreRefused

MOST_CONTENT: Final = 32_000  # characters
MOST_KEY: Final = 120
_BREAKS: Final = dict.fromkeys(map(ord, "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), "\n")
_CONTROLS: Final = {code: None for code in (*range(32), 127) if code not in {9, 10}}


def normalized(entry: MemoryEntry) -> MemoryEntry:
    """The entry as it can be kept.

    Raises:
        StoreRefused: It says nothing, or too much.
    """
    key = " ".join(one_line(entry.key).replace("*", " ").split())[:MOST_KEY].strip()
    content = _tidy(entry.content)
    if not key or not content:
        raise StoreRefused("a memory needs a key, which names its subject, and a text; one of them is empty")
    if len(content) > MOST_CONTENT:
        raise StoreRefused(
            f"a memory of {len(content):,} characters is too long; remember what matters in at most {MOST_CONTENT:,}"
        )
    importance = None if entry.importance is None else min(1.0, max(0.0, entry.importance))
    return replace(
        entry,
        key=key,
        content=content,
        category=one_line(entry.category) or "other",
        namespace=one_line(entry.namespace) or "default",
        importance=importance,
    )


def is_storable(key: str, content: str) -> bool:
    """Return whether `normalized` takes an entry with these texts."""
    return bool(_tidy(key.replace("*", " "))) and 0 < len(_tidy(content)) <= MOST_CONTENT


def one_line(text: str) -> str:
    """A text without line breaks and control characters, as names are kept."""
    return " ".join(_tidy(text).split("\n"))


def _tidy(text: str) -> str:
    plain = text.replace("\r\n", "\n").translate(_BREAKS).translate(_CONTROLS)
    sound = plain.encode(errors="replace").decode()
    lines = [line.rstrip() for line in sound.split("\n")]
    return "\n".join(lines).strip()
