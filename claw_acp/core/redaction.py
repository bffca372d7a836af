"""Removal of credentials from text before a model, a log, a journal or a client gets it.

Ordinary text is returned as the same object. At most four first characters of a credential stay, so that a person can
tell which one it was. The time is in proportion to the text, whatever it holds.
"""

from collections.abc import Iterable, Iterator

from claw_acp.core.key_shapes import key_spans
from claw_acp.core.known_secrets import KnownSecrets
from claw_acp.core.named_secrets import named_spans
from claw_acp.core.private_keys import private_key_spans

REDACTED = "[redacted]"

_KEPT = 4
_LOOKED_BACK = 600  # characters at the end of a text that may go on
_RANDOM = "q7Zt0YvX3mKp5RwLd7NcHb2JgFsEaU8iO6oPlM4kQj1WnB9tVyCxRzDf8GhSeTuI"
_CONTINUATIONS = (
    *(_RANDOM + end for end in ("", '"', "'", "`", "</")),
    "0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2,
    "7QK2ZP0XW9MT4RB6",
    "7QK2ZP0XW9MT4RB6" * 4,
)
"""Possible continuations: random letters, and what ends a value."""
_SHOWN_PART = 4  # of a value shorter than 16 characters, at most a quarter stays


def redact(text: str) -> str:
    """`text` without credentials. The same object when there are none."""
    return _without(text, _shaped(text))


class Redactor:
    """`redact`, and removal of known secrets wherever they appear.

    Args:
        known: The session's actual keys; see `KnownSecrets`.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = KnownSecrets(known)

    def __call__(self, text: str) -> str:
        """`text` without known secrets and without anything that looks like a credential."""
        return redact(self.without_known(text))

    def without_known(self, text: str) -> str:
        """`text` without known secrets alone."""
        return _without(text, [(start, end, _KEPT) for start, end in self._known.spans(text)])

    def unfinished(self, text: str) -> str:
        """The same for a text that may go on: an end that may be the beginning of a secret is removed as well."""
        end = text[-_LOOKED_BACK:]
        spans = ((start, stop) for more in _CONTINUATIONS for start, stop, _ in _shaped(end + more))
        open_at = min((start for start, stop in spans if start < len(end) < stop), default=None)
        if open_at is None:
            return self(text)
        start = len(text) - len(end) + open_at
        return self(text[:start]) + text[start : start + _kept(len(text) - start)] + REDACTED

    def streamed(self) -> "StreamedRedaction":
        """The redaction of known secrets for a text that arrives in pieces."""
        return StreamedRedaction(self._known)


class StreamedRedaction:
    """Removes known secrets from a text that arrives in pieces, also where a secret is split.

    A piece is passed on at once, except an end that may be the beginning of a secret: those characters wait for the
    next piece. The first characters of a secret may be out before it is recognised, as many as stay of it anyway.
    """

    def __init__(self, known: KnownSecrets) -> None:
        self._known = known
        self._beginnings = tuple(dict.fromkeys(form[:_KEPT] for form in known.forms))
        self._before = ""  # what was passed on last, shorter than a beginning
        self._held = ""
        self.changed = False
        """True if anything was removed."""

    def feed(self, piece: str) -> str:
        """Take a piece and return the text that can be passed on."""
        if not self._beginnings:
            return piece
        text = self._before + self._held + piece
        if not self._held and not any(beginning in text for beginning in self._beginnings):
            self._before = text[1 - _KEPT :]
            return piece
        out = len(self._before)
        clean = _without(text, [(start, end, _KEPT) for start, end in self._known.spans(text)])
        self.changed = self.changed or clean is not text
        held = 0 if clean is not text and clean.endswith(REDACTED) else self._unfinished(clean)
        held = min(held, len(clean) - out)  # the rest of it is out already
        passed = clean[: len(clean) - held]
        self._held = clean[len(clean) - held :]
        self._before = passed[1 - _KEPT :]
        return passed[out:]

    def close(self) -> str:
        """Return the text held back, at the end of the stream."""
        held, self._held, self._before = self._held, "", ""
        return held

    def _unfinished(self, text: str) -> int:
        """The number of characters at the end that may be the beginning of a secret."""
        longest = 0
        for form in self._known.forms:
            at = text.find(form[:_KEPT], max(0, len(text) - len(form) + 1))
            while at >= 0:
                if form.startswith(text[at:]):
                    longest = max(longest, len(text) - at)
                    break
                at = text.find(form[:_KEPT], at + 1)
        return longest


def _shaped(text: str) -> Iterator[tuple[int, int, int]]:
    """The spans that look like a credential, with the number of characters to keep of each."""
    for start, end in key_spans(text):
        yield start, end, _kept(end - start)
    for start, end in private_key_spans(text):
        yield start, end, 0
    for start, end in named_spans(text):
        yield start, end, _kept(end - start)


def _kept(length: int) -> int:
    return min(_KEPT, length // _SHOWN_PART)


def _without(text: str, spans: Iterable[tuple[int, int, int]]) -> str:
    """The text with each span, and those overlapping it, replaced."""
    pieces: list[str] = []
    done = 0
    for start, end, kept in sorted(spans):
        if start >= done:
            pieces += (text[done : start + kept], REDACTED)
        done = max(done, end)
    return "".join((*pieces, text[done:])) if pieces else text
