"""What a model service means when it refuses: its status, headers and words, as one of the errors of the core.

The words are the vendor's own, found in the error bodies of the OpenAI and Anthropic families and of the servers that
imitate them, without keys and cut to a readable length. Error events inside a stream pass here too, so a refusal
reads the same wherever it happened.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

from claw_acp.core.clock import Clock
from claw_acp.core.errors import (
    ContextTooLong,
    ModelNotFound,
    ProviderAuthFailed,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RateLimited,
    RequestRejected,
)
from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.net.redaction import masked

RETRY_AFTER_CAP = 60.0  # seconds; nobody sits longer before an editor
WORDS_LIMIT = 500  # characters of the vendor's text that people see

_CONTEXT = re.compile(
    r"context.?length|context.?window|context.?size|context.?limit|maximum context|(?:prompt|input|request) is too long"
    r"|too many (?:input )?tokens|reduce the length|exceed_context|max_prompt_tokens|input length and",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient.?(?:quota|balance|credit|fund)|billing|credit balance|current quota|quota.?exceeded|out of credit"
    r"|payment required",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|not a valid model|unknown model|model\b.{0,120}(?:not found|does(?: not|n't) exist)",
    re.IGNORECASE | re.DOTALL,
)


class Refusal(Value):
    """A refused request: HTTP status, the vendor's message, its machine words (type and code), seconds to wait."""

    status: int
    words: str = ""
    kind: str = ""
    retry_after: float | None = None


def read_refusal(
    status: int, *, headers: Mapping[str, str], body: bytes, clock: Clock, secrets: Sequence[str] = ()
) -> Refusal:
    """Understand an error reply. `headers` must be case-insensitive or lower-case."""
    text = body.decode("utf-8", "replace")
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        words, kind = ("" if "<html" in text[:1000].lower() else text), ""
    else:
        words, kind = _said(value)
    return Refusal(
        status=status,
        words=_readable(words, secrets=secrets),
        kind=kind,
        retry_after=retry_after(headers, clock=clock),
    )


def refusal_in_reply(error: JsonValue, *, secrets: Sequence[str] = ()) -> Refusal:
    """Understand an error that came inside a reply whose own status was a success; its words stand for a status."""
    words, kind = _said({"error": error})
    statuses = (_status_of(word) for word in kind.split())
    status = next((status for status in statuses if status is not None), 500)
    return Refusal(status=status, words=_readable(words, secrets=secrets), kind=kind)


def retry_after(headers: Mapping[str, str], *, clock: Clock) -> float | None:
    """Seconds the server asked us to wait, at most `RETRY_AFTER_CAP`; None if it did not say, or not clearly."""
    seconds = _number(headers.get("retry-after-ms"), scale=0.001)
    if seconds is None:
        text = headers.get("retry-after")
        seconds = _number(text, scale=1.0)
        if seconds is None and text:
            try:
                date = parsedate_to_datetime(text)
            except ValueError:
                return None
            seconds = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - clock.now()
    return None if seconds is None else min(max(seconds, 0.0), RETRY_AFTER_CAP)


def refusal_error(refusal: Refusal, *, provider: str) -> ProviderError:
    """The error a refusal stands for, with a sentence on what happened and one on what to do."""
    kind, happened, advice = _meaning(refusal)
    said = f": {refusal.words}" if refusal.words else ""
    stop = "" if said.endswith((".", "!", "?")) else "."
    return kind(
        f"{provider} {happened} (HTTP {refusal.status}){said}{stop} {advice}",
        provider=provider,
        status=refusal.status,
        retry_after=refusal.retry_after,
    )


def _meaning(refusal: Refusal) -> tuple[type[ProviderError], str, str]:
    said = f"{refusal.kind} {refusal.words}"
    if 400 <= refusal.status < 500:
        for pattern, statuses, meaning in _BY_WORDS:
            if refusal.status in statuses and pattern.search(said):
                return meaning
    if refusal.status in _BY_STATUS:
        return _BY_STATUS[refusal.status]
    if refusal.status >= 500:
        return _FAILED
    if 300 <= refusal.status < 400:
        return RequestRejected, "answered with a redirect", "Set base_url to the address it leads to."
    return RequestRejected, "rejected the request", "Change what the message names, or choose another model."


_AUTH = (ProviderAuthFailed, "refused the API key", "Check the key configured for this provider.")
_BUSY = (RateLimited, "is limiting requests", "Wait a moment and send the prompt again.")
_SPENT = (
    QuotaExceeded,
    "has no credit left for this account",
    "Add credit or raise the limit with the vendor, or choose another model.",
)
_TOO_LONG = (
    ContextTooLong,
    "says the conversation is too long for the model",
    "Shorten or compact it, or start a new session.",
)
_NO_MODEL = (ModelNotFound, "does not know this model", "Choose another model, or check its name in the configuration.")
_FAILED = (ProviderUnavailable, "failed on its side", "Try again in a moment.")
_NO_PATH = (RequestRejected, "has nothing at this address", "Check base_url in the configuration.")

_BY_WORDS = (
    (_CONTEXT, (400, 413, 422), _TOO_LONG),
    (_QUOTA, (400, 403, 429), _SPENT),
    (_UNKNOWN_MODEL, (400, 403, 404, 422), _NO_MODEL),
    (re.compile(r"\bmodel\b", re.IGNORECASE), (404,), _NO_MODEL),
)
_BY_STATUS = {
    401: _AUTH,
    402: _SPENT,
    403: _AUTH,
    404: _NO_PATH,
    408: _FAILED,
    409: _FAILED,
    413: _TOO_LONG,
    429: _BUSY,
}


_STATUS_OF_WORD = {
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def _status_of(word: str) -> int | None:
    if word.isdecimal() and 400 <= int(word) < 600:
        return int(word)
    return _STATUS_OF_WORD.get(word)


def _said(value: JsonValue) -> tuple[str, str]:
    """The message and the machine words of an error body of any known shape."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None  # Google's OpenAI-compatible service wraps errors in a list
    if isinstance(value, str):
        return value, ""
    if not isinstance(value, Mapping):
        return "", ""
    error = value.get("error")
    if isinstance(error, Mapping):
        value = error
    elif isinstance(error, str):
        return error, ""
    words = next((text for key in ("message", "detail", "msg") if isinstance(text := value.get(key), str)), "")
    return words, " ".join(str(value[key]) for key in ("type", "code", "status") if value.get(key) is not None)


def _readable(words: str, *, secrets: Sequence[str]) -> str:
    """One line, no keys, at most `WORDS_LIMIT` characters."""
    line = " ".join(masked(words, secrets=secrets).split())
    return line if len(line) <= WORDS_LIMIT else line[: WORDS_LIMIT - 1] + "…"


def _number(text: str | None, *, scale: float) -> float | None:
    try:
        seconds = float(text or "") * scale
    except ValueError:
        return None
    return seconds if seconds == seconds else None  # noqa: PLR0124 - NaN is the number that differs from itself
