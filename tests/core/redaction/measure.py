"""Counts misses and false alarms, class by class."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.core.redaction.harmless import harmless
from tests.core.redaction.keys import whole_keys, windows
from tests.core.redaction.secrets import all_named_secrets, vendor_secrets

Clean = Callable[[str], str]
_SHOWN = 8  # characters of a secret that may stay, at its beginning
_PIECE = 10  # a piece of a secret this long is a leak


def survives(secret: str, cleaned: str) -> bool:
    """Whether more than the beginning of a secret is still there."""
    rest = secret[min(_SHOWN, len(secret) // 2) :]
    size = min(_PIECE, len(rest))
    return any(rest[at : at + size] in cleaned for at in range(len(rest) - size + 1))


def misses(clean: Clean) -> list[tuple[str, str]]:
    """Class and text of each secret that is still there."""
    found = [
        (kind, text)
        for kind, text, secret in (*vendor_secrets(), *all_named_secrets())
        if survives(secret, clean(text))
    ]
    for kind, text, lines in (*whole_keys(), *windows()):
        cleaned = clean(text)
        if any(survives(line, cleaned) for line in lines):
            found.append((kind, text))
    return found


def false_alarms(clean: Clean) -> list[tuple[str, str]]:
    """Class and text of each harmless text that does not come back as it was."""
    return [(kind, text) for kind, text in harmless() if clean(text) != text]


def sizes() -> tuple[int, int]:
    """How many secrets and how many harmless texts there are."""
    secrets = sum(1 for group in (vendor_secrets(), all_named_secrets(), whole_keys(), windows()) for _ in group)
    return secrets, sum(1 for _ in harmless())


def per_class(found: Sequence[tuple[str, str]]) -> str:
    """`kind 3, other 1`."""
    return ", ".join(f"{kind} {count}" for kind, count in Counter(kind for kind, _ in found).most_common()) or "none"
