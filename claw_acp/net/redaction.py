"""Masking of keys in text of other programs, before people read it."""

import re
from collections import deque
from collections.abc import Iterator, Sequence

from claw_acp.core.known_secrets import KnownSecrets

MASK = "***"

_KEY_SHAPES = re.compile(
    r"\b(?:sk|rk|pk|xai|nvapi|pplx)-[\w*-]{8,}"
    r"|\b(?:gsk|gh[opsu]|github_pat)_[\w*]{8,}"
    r"|\bxox[abp]-[\w*-]{8,}"
    r"|\bAIza[\w*-]{8,}"
    r"|(?<=x-amz-security-token:)[^\s\"']{8,}"  # AWS shows the request that it would have signed
    r"|(?<=\bBearer )[^\s\"']{8,}"
)
_HIDING = ("x-amz-security-token:", "Bearer ")  # what stands before a key, and stays
_BEGINNINGS = (
    *("sk-", "rk-", "pk-", "xai-", "nvapi-", "pplx-", "gsk_", "gho_", "ghp_", "ghs_", "ghu_", "github_pat_"),
    *("xoxa-", "xoxb-", "xoxp-", "AIza"),
)


def masked(text: str, *, secrets: Sequence[str] = ()) -> str:
    """`text` with `***` in place of the given secrets, in all their forms, and of anything shaped like an API key."""
    for form in KnownSecrets(secrets).forms:
        text = text.replace(form, MASK)
    return _KEY_SHAPES.sub(MASK, text)


def masked_pieces(pieces: Sequence[bytes], *, secrets: Sequence[str] = ()) -> Sequence[bytes]:
    """The same for chunks of bytes; a secret may begin in one chunk and end in another.

    Secrets are found in all forms that `KnownSecrets` knows.
    """
    text = b"".join(pieces).decode("latin-1")
    spans = _merged(sorted({*_shaped(text), *_written(text, secrets=secrets)}))
    return list(_without(pieces, spans)) if spans else pieces


def _shaped(text: str) -> Iterator[tuple[int, int]]:
    """The spans shaped like a key. Looking for the beginnings first is 20 times as fast in megabytes of text."""
    starts = {at + len(before) for before in _HIDING for at in _places(text, before)}
    starts.update(at for beginning in _BEGINNINGS for at in _places(text, beginning))
    done = 0
    for at in sorted(starts):
        found = _KEY_SHAPES.match(text, at) if at >= done else None
        if found:
            yield found.span()
            done = found.end()


def _written(text: str, *, secrets: Sequence[str]) -> Iterator[tuple[int, int]]:
    for form in KnownSecrets(secrets).forms:
        coded = form.encode("utf-8", "replace").decode("latin-1")
        for at in _places(text, coded):
            yield at, at + len(coded)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _merged(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _without(pieces: Sequence[bytes], spans: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """The pieces without these spans of all of them together, in order; a mask stands where each begins."""
    offset = past = 0  # of all pieces: where this one begins, and what is dealt with
    waiting = deque(spans)
    for piece in pieces:
        end = offset + len(piece)
        kept: list[bytes] = []
        while waiting and waiting[0][0] < end:
            start, stop = waiting[0]
            kept.append(piece[past - offset : max(start, past) - offset])
            if start >= offset:
                kept.append(MASK.encode())
            past = min(stop, end)
            if stop > end:
                break  # the next piece goes on with it
            waiting.popleft()
        kept.append(piece[past - offset :])
        yield b"".join(kept)
        past = offset = end
