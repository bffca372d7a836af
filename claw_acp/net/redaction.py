"""Keeps keys out of words that other programs wrote and people will read."""

import re
from collections.abc import Sequence

MASK = "***"
SHORTEST_SECRET = 8  # characters; placeholders such as `none` or `ollama` are no secrets and occur in honest text

_KEY_SHAPES = re.compile(
    r"\b(?:sk|rk|pk|xai|nvapi|pplx)-[\w*-]{8,}"
    r"|\b(?:gsk|gh[opsu]|github_pat)_[\w*]{8,}"
    r"|\bxox[abp]-[\w*-]{8,}"
    r"|\bAIza[\w*-]{8,}"
    r"|(?<=\bBearer )[^\s\"']{8,}"
)


def masked(text: str, *, secrets: Sequence[str] = ()) -> str:
    """The text with the given secrets, and whatever looks like an API key, replaced by `***`."""
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    return _KEY_SHAPES.sub(MASK, text)
