"""Keeps keys out of words that other programs wrote and people will read."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from urllib.parse import quote

MASK = "***"
SHORTEST_SECRET = 8  # characters; placeholders such as `none` or `ollama` are no secrets and occur in honest text

_KEY_SHAPES = re.compile(
    r"\b(?:sk|rk|pk|xai|nvapi|pplx)-[\w*-]{8,}"
    r"|\b(?:gsk|gh[opsu]|github_pat)_[\w*]{8,}"
    r"|\bxox[abp]-[\w*-]{8,}"
    r"|\bAIza[\w*-]{8,}"
    r"|(?<=x-amz-security-token:)[^\s\"']{8,}"  # AWS shows the request that it would have signed
    r"|(?<=\bBearer )[^\s\"']{8,}"
)


def masked(text: str, *, secrets: Sequence[str] = ()) -> str:
    """The text with the given secrets, and whatever looks like an API key, replaced by `***`."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    return _KEY_SHAPES.sub(MASK, text)


def masked_pieces(pieces: Sequence[bytes], *, secrets: Sequence[str] = ()) -> Sequence[bytes]:
    """The same for bytes that came in pieces, also where a secret began in one and ended in another.

    Secrets are found as JSON and addresses write them, too, and in base64.
    """
    text = b"".join(pieces).decode("latin-1")
    written = {form for secret in secrets if len(secret) >= SHORTEST_SECRET for form in _forms(secret)}
    shapes = [_KEY_SHAPES, *(re.compile(re.escape(form)) for form in written)]
    spans = _merged(sorted(found.span() for shape in shapes for found in shape.finditer(text)))
    return list(_without(pieces, spans)) if spans else pieces


def _merged(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _forms(secret: str) -> Iterator[str]:
    """The ways a secret is written in bytes, as latin-1."""
    for form in (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
    ):
        yield form.encode("utf-8", "replace").decode("latin-1")
    yield b64encode(secret.encode("utf-8", "replace")).decode().rstrip("=")


def _without(pieces: Sequence[bytes], spans: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """The pieces without these spans of all of them together, in order; a mask stands where each begins."""
    offset = past = 0  # of all pieces: where this one begins, and what is dealt with
    for piece in pieces:
        end = offset + len(piece)
        kept: list[bytes] = []
        for start, stop in spans:
            if stop > past and start < end:
                kept.append(piece[past - offset : max(start, past) - offset])
                if start >= offset:
                    kept.append(MASK.encode())
                past = min(stop, end)
        kept.append(piece[past - offset :])
        yield b"".join(kept)
        past = offset = end
