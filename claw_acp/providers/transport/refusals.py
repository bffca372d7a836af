"""Refusals of a model service: status, headers and text, as one of the errors of the core.

The text is the vendor's own, from the error bodies of the OpenAI and Anthropic families and of compatible servers,
without keys and cut to a readable length. Error events inside a stream pass here too, so a refusal reads the same
wherever it happened.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime

from claw_acp.core.clock import Clock
from claw_acp.core.errors import ProviderError
from claw_acp.core.json_value import JsonValue
from claw_acp.core.value import Value
from claw_acp.net.redaction import masked
from claw_acp.providers.transport.refusal_meaning import LIMITED, UNKNOWN_MODEL, Meaning, meaning_of

RETRY_AFTER_CAP = 60.0  # seconds; nobody sits longer before an editor
WORDS_LIMIT = 500  # characters of the vendor's text that people see
TOO_MANY = 429  # HTTP status: too many requests

_WORDS_AT = ("message", "Message", "detail", "msg")

_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


class Refusal(Value):
    """A refused request: HTTP status, the vendor's message, its error codes (type and code), seconds to wait.

    `paced` means that the body itself asks for a retry, so that waiting helps, whatever it says about a quota.
    """

    status: int
    words: str = ""
    kind: str = ""
    retry_after: float | None = None
    paced: bool = False


def read_refusal(
    status: int, *, headers: Mapping[str, str], body: bytes, clock: Clock, secrets: Sequence[str] = ()
) -> Refusal:
    """Parse an error reply. `headers` must be case-insensitive or lower-case."""
    text = body.decode("utf-8", "replace")
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        words, kind = ("" if "<html" in text[:1000].lower() else text), ""
        value = None
    else:
        words, kind = _said(value)
    kind = f"{kind} {headers.get('x-amzn-errortype', '').partition(':')[0]}".strip()  # where AWS says it
    delay = _asked_delay(value)
    header_delay = retry_after(headers, clock=clock)
    return Refusal(
        status=status,
        words=_readable(words, secrets=secrets),
        kind=kind,
        retry_after=delay if header_delay is None else header_delay,
        paced=status == TOO_MANY and delay is not None,
    )


def refusal_in_reply(error: JsonValue, *, secrets: Sequence[str] = ()) -> Refusal:
    """Parse an error inside a reply with a successful status; its text replaces the status."""
    words, kind = _said({"error": error})
    statuses = (_status_of(word) for word in kind.split())
    status = next((status for status in statuses if status is not None), 500)
    delay = _asked_delay({"error": error})
    return Refusal(
        status=status,
        words=_readable(words, secrets=secrets),
        kind=kind,
        retry_after=delay,
        paced=status == TOO_MANY and delay is not None,
    )


def retry_after(headers: Mapping[str, str], *, clock: Clock) -> float | None:
    """Seconds the server asked us to wait, at most `RETRY_AFTER_CAP`; None without a clear value.

    OpenAI's `x-ratelimit-reset-*` is no such request: it is the time until the whole limit is free again
    (https://platform.openai.com/docs/guides/rate-limits).
    """
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


def refusal_error(refusal: Refusal, *, provider: str, model: str = "") -> ProviderError:
    """The error for a refusal, with a sentence on what happened and one on what to do."""
    meaning = _meaning(refusal)
    happened, where = meaning.happened, f"HTTP {refusal.status}"
    if model and meaning is UNKNOWN_MODEL:
        happened = f"does not know the model {model}"
    elif model:
        where = f"{model}, {where}"
    said = f": {refusal.words}" if refusal.words else ""
    stop = "" if said.endswith((".", "!", "?")) else "."
    return meaning.error(
        f"{provider} {happened} ({where}){said}{stop} {meaning.advice}",
        provider=provider,
        model=model,
        status=refusal.status,
        retry_after=refusal.retry_after,
    )


def _meaning(refusal: Refusal) -> Meaning:
    if refusal.paced:
        return LIMITED
    return meaning_of(refusal.status, f"{refusal.kind} {refusal.words}")


_STATUS_OF_WORD = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
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
    if "image" in word and "server" not in word:  # OpenAI has a dozen words for an image that it cannot use
        return 400
    return _STATUS_OF_WORD.get(word)


def _said(value: JsonValue) -> tuple[str, str]:
    """The message and the error codes of an error body of any known shape."""
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
    words = next(
        (text for key in ("message", "Message", "detail", "msg") if isinstance(text := value.get(key), str)), ""
    )
    filtered = _filtered(value)
    if filtered:
        words = f"{words} (filtered: {', '.join(filtered)})"
    return words, " ".join(str(value[key]) for key in ("type", "code", "status") if value.get(key) is not None)


def _filtered(error: Mapping[str, JsonValue]) -> list[str]:
    """Findings of Azure's content filter, from the `innererror` of its refusal."""
    inner = error.get("innererror")
    result = inner.get("content_filter_result") if isinstance(inner, Mapping) else None
    if not isinstance(result, Mapping):
        return []
    return [name for name, found in result.items() if isinstance(found, Mapping) and found.get("filtered") is True]


def _asked_delay(value: JsonValue) -> float | None:
    """Seconds to wait in Google's `RetryInfo`, from the details of an error, at most `RETRY_AFTER_CAP`."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = value[0] if value else None
    error = value.get("error") if isinstance(value, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    if not isinstance(details, Sequence) or isinstance(details, str):
        return None
    if "PerDay" in json.dumps(details):  # the quota of a day is spent, whatever delay stands beside it
        return None
    delays = (detail.get("retryDelay") for detail in details if isinstance(detail, Mapping))
    texts = (_SECONDS.fullmatch(delay) for delay in delays if isinstance(delay, str))
    return next((min(float(text[1]), RETRY_AFTER_CAP) for text in texts if text), None)


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
