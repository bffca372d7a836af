"""Secrets recognised by a name or a header before them: `password: ...`, `API_KEY=...`, `Bearer ...`.

Names are found with `str.find`, many times faster than one regular expression. The text read behind each name is
bounded, so that the time stays in proportion to the text.
"""

import re
from collections.abc import Iterator
from functools import cache

from claw_acp.core.value_shapes import JUDGED, entropy, is_path, is_wordy

_LEAST_LENGTH = 8
_LEAST_KINDS = 2  # of digits, letters, signs, mixed case
_LEAST_ENTROPY = 3.0  # bits a character: words and names stay below, random keys above
_PHRASE_WINDOW = 200  # characters before `password` in which a `.netrc` has said `machine` or `login`

_TELLS = ("pass", "pwd", "secret", "token", "credential", "key", "_pat", "auth")
_KEY_BEFORE = (
    r"(?:api|access|auth|private|encryption|encrypt|signing|sign|account|secret|master|app|application|session|storage"
    r"|shared|service|server|client|deploy|webhook|admin|jwt|hmac|cookie|subscription|license|licence|function|host"
    r"|user|developer|integration|project|ingest|functions|logged_in|secure|nonce)[_.-]?$"
)
_UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
_OPEN_KEYS = frozenset({
    "PUBLIC", "PUB", "PRIMARY", "FOREIGN", "SORT", "CACHE", "UNIQUE", "PARTITION", "HOT", "SHORTCUT", "OBJECT", "ID",
    "MAP", "PUBLISHABLE", "LOOKUP", "GROUP", "ROW", "HASH",
})  # fmt: skip
"""Words before `_KEY` that make the name harmless."""
_PASSING = tuple(
    word + sign
    for word in ("next", "page", "continuation", "change", "request", "action", "input", "output", "sync", "resume")
    for sign in ("", "_", "-")
)
"""Words before `token` that make it a position or a request marker."""
_NOT_A_VALUE_BEHIND = (
    r"(?i)(?:s?[_-]?(?:ids?|name|names|file|filename|path|dir|url|uri|type|count|length|len|size|limit|ttl|expiry|expires|"
    r"expiration|age|at|arn|version|policy|class|field|label|placeholder|hint|prefix|suffix|fingerprint|endpoint|usage|"
    r"rotation|manager|store|index|kind|format|required|regex|pattern|strategy|provider|ref|reference|algorithm|"
    r"alg|bits|digest|sha|checksum|used|budget|env|var|variable|holder|column|scopes?|hash|salt_rounds|rounds|page|link|reset|colou?r|minlength|maxlength)(?:[_-]?\d{1,3})?)$"
    r"|^(?:i[zs]|ary|board|frame|word|note|stroke|pad|ring|stone|code$|press|down|up$|map)"
)
_QUOTE = r"(?:\\{0,3}[\"'])?\]?"
_SEPARATOR = r"\s{0,8}(?::=|=>|==?|:)\s{0,8}|\s{0,4},\s{0,4}(?=\\{0,3}[\"'])"
_OPENING = r"\\{0,3}([\"'`])"
_UNQUOTED = r"[^\s\"'`,;(){}\[\]<>]{8,128}"
_SETTING = r"[^\s\"'`]{8,128}"  # of a line NAME=value: everything counts
_ITEM = r"[^<\s]{8,128}(?=</)"  # between the tags of an XML element
_PLACEHOLDERS = (
    "xxxx", "***", "...", "…", "your", "example", "changeme", "change-me", "change_me", "placeholder",
    "redacted", "dummy", "sample", "insert", "todo", "replace", "django-insecure",
    "process.env", "os.environ", "secrets.", "$(", "{{", "<%",
)  # fmt: skip
_PLACEHOLDER = (
    r"(?i)none|null|undefined|optional|required|string|boolean|(?:env|keyring|file|command|vault|secrets?|arn|ref|op):"
    r"|\$[A-Za-z_]\w*+$|%\w++%$|\$?\{\w++\}$|!\w|.{0,128}(?:%\(\w{1,64}\)s|\$\{[^}]{0,128}\})"
    r"|(?:password|passwd|passphrase|secret|token|admin|test|user|foo|bar|pass|key|value|qwerty)[_-]?\d{0,4}$"
)
_CODE = (
    r"(?:true|false)$|[A-Z_]*+$|[A-Za-z_]\w*+(?:\??\.\w++)++$|sha\d{1,3}-|[\d.,:_xT+-]*+$|\d{4}-\d\d-\d\d|[&*@]"
    r"|#[0-9a-f]{3,8}$|[a-z_]{1,24}=[a-z]"
)
_AUTHORIZATION = r"(?:bearer|basic|token|bot|apikey|digest)\s{1,4}([A-Za-z0-9._~+/=-]{8,}+)"
_COOKIES = r"[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
_COOKIE = r"[\w.-]{1,64}+=([^\s;\"',\\]*+);?\s{0,4}"
_JWK = r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,4}:\s{0,4}\"([\w-]{20,}+)\""
_LOGIN_OPTION = r"(?:-u|--user)[ =][\"']?[\w.@+-]{1,64}:([^\s\"'@/]{8,128})"


def named_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of values after a name or a header of a secret."""
    lowered = _lowered(text)
    for tell in _TELLS:
        if tell in lowered:
            yield from _values(text, lowered, tell)
    if "bearer" in lowered or ("auth" in lowered and "authorization" in lowered):
        yield from _headers(text, lowered)
    if "cookie" in lowered:
        yield from _cookies(text, lowered)
    if '"kty"' in text:
        yield from _judged(text, _JWK)
    if "-u" in text and ("curl" in lowered or "http" in lowered):
        yield from _judged(text, _LOGIN_OPTION)


def _lowered(text: str) -> str:
    """Lower case, of the same length."""
    return text.replace("\u0130", "i").lower()  # the one letter that becomes two


def _values(text: str, lowered: str, tell: str) -> Iterator[tuple[int, int]]:
    rest = _pattern(r"[\w-]*+")
    quotes = _NextQuotes(text)
    at = lowered.find(tell)
    while at >= 0:
        ending = rest.match(text, at + len(tell))
        assert ending is not None
        name_end = ending.end()
        after = name_end
        strength = _strength(text, lowered, tell, at=at, end=name_end)
        if strength is not None:
            span = _value(text, lowered, at=at, name_end=name_end, strength=strength, quotes=quotes)
            if span is not None:
                yield span
                after = span[1]
        at = lowered.find(tell, after)


def _strength(text: str, lowered: str, tell: str, *, at: int, end: int) -> str | None:
    """How strong an indication a name is: `password` covers any value, `secret` random ones; None: it is harmless."""
    rest = lowered[at + len(tell) : min(end, at + 64)]
    if tell in {"pass", "pwd"}:
        return _strength_of_password(lowered, rest, tell, at=at)
    if tell == "_pat":
        return "coded" if not rest and text[at : at + 4] == "_PAT" else None
    if tell == "auth":
        begins = at > 0 and lowered[at - 1] in "\"'_"
        return "coded" if begins and not rest else None
    if _pattern(_NOT_A_VALUE_BEHIND).search(rest):
        return None
    before = lowered[max(0, at - 14) : at]
    if tell == "token":
        return None if before.endswith(_PASSING) else "secret"
    if tell != "key":
        return None if before.endswith(":") and "arn:" in lowered[max(0, at - 90) : at] else "secret"
    if _pattern(_KEY_BEFORE).search(before):
        return "secret"
    return "long" if not rest and _is_setting(text[max(0, at - 42) : at]) else None


def _is_setting(before: str) -> bool:
    """Return whether a `KEY` that follows `before` ends a name such as `STRIPE_KEY`."""
    name = before[len(before.rstrip(_UPPER)) :]
    words = name.split("_")
    return len(words) > 1 and not words[-1] and words[-2] not in _OPEN_KEYS and name[:1].isalpha()


def _strength_of_password(lowered: str, rest: str, tell: str, *, at: int) -> str | None:
    if tell == "pwd" or rest.startswith(("word", "wd", "phrase")):
        behind = rest.removeprefix("word").removeprefix("wd").removeprefix("phrase")
        return None if _pattern(_NOT_A_VALUE_BEHIND).search(behind) and behind != "s" else "password"
    begins = at == 0 or lowered[at - 1] in "_-\"'{, \n\t"
    return "password" if begins and not rest else None


def _value(
    text: str, lowered: str, *, at: int, name_end: int, strength: str, quotes: "_NextQuotes"
) -> tuple[int, int] | None:
    """The span of the value of the name that ends here, if it looks like a secret in use."""
    place = _after_separator(text, lowered, at=at, name_end=name_end, strength=strength)
    if place is None:
        return None
    start, kind = place
    opening = _pattern(_OPENING).match(text, start)
    if opening is not None:
        start = opening.end()
        end = quotes.next(opening[1], start)
        if end is None or end - start > 8192:
            return None
        while end > start and text[end - 1] == "\\":
            end -= 1
        found = start, end
    else:
        shape = {"setting": _SETTING, "item": _ITEM}.get(kind, _UNQUOTED)
        match = _pattern(shape).match(text, start)
        if match is None:
            return None
        found = match.span()
    quoted = opening is not None or kind in {"item", "word"}
    if not is_secret(text[found[0] : found[1]], quoted=quoted, strength="long" if kind == "listed" else strength):
        return None
    if opening is None and found[1] - found[0] == JUDGED:
        more = _pattern(r"[^\s\"'`,;(){}\[\]<>]*+").match(text, found[1])
        found = found[0], more.end() if more else found[1]
    return found


def _after_separator(text: str, lowered: str, *, at: int, name_end: int, strength: str) -> tuple[int, str] | None:
    """The start of the value, and its notation: code, a setting, an XML element, or a plain word."""
    closing = _pattern(_QUOTE).match(text, name_end)
    end = closing.end() if closing else name_end
    separator = _pattern(_SEPARATOR).match(text, end)
    if separator is not None:
        if "," in separator[0]:  # a list of words, unless both are quoted
            return None if end == name_end or strength == "coded" else (separator.end(), "listed")
        if separator[0] == "=" and end == name_end and text[name_end - 1].isupper():
            return separator.end(), "setting"
        header = separator[0].startswith(":") and "-" in text[at - 1 : name_end]
        return separator.end(), "word" if header else "code"
    if text.startswith(">", name_end):
        return name_end + 1, "item"
    if name_end < len(text) and text[name_end] in " \t" and _is_spoken(text, lowered, at=at, end=name_end):
        return name_end + 1, "word"
    return None


def _is_spoken(text: str, lowered: str, *, at: int, end: int) -> bool:
    """Return whether only a space divides name and value: options (`--password X`), `.netrc`, SQL (`PASSWORD 'X'`)."""
    option = _pattern(r"(?<!\S)--[\w-]{0,24}$").search(text[max(0, at - 26) : at])
    if option is not None:
        return True
    if lowered[at:end] != "password":
        return False
    if text.startswith("'", end + 1):
        return True
    said = lowered[max(0, at - _PHRASE_WINDOW) : at]
    return "login " in said or "machine " in said


def _headers(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    scheme = _pattern(_AUTHORIZATION)
    for tell in ("bearer", "basic ", "authorization"):
        at = lowered.find(tell)
        while at >= 0:
            start = at
            if tell == "authorization":
                gap = _pattern(r"authorization\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?").match(lowered, at)
                start = gap.end() if gap else at
            found = scheme.match(lowered, start)
            after = at + len(tell)
            if found is not None:
                span = found.span(1)
                after = span[1]
                if is_secret(text[span[0] : span[1]], quoted=True, strength="header"):
                    yield span
            at = lowered.find(tell, after)


def _cookies(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    at = lowered.find("cookie")
    while at >= 0:
        after = at + len("cookie")
        begun = _pattern(_COOKIES).match(text, after)
        if begun is not None:
            after = begun.end()
            while found := _pattern(_COOKIE).match(text, after):
                after = found.end()
                if is_secret(found[1], quoted=True, strength="long"):
                    yield found.span(1)
        at = lowered.find("cookie", after)


def _judged(text: str, expression: str) -> Iterator[tuple[int, int]]:
    for found in _pattern(expression).finditer(text):
        if is_secret(found[1], quoted=True, strength="password"):
            yield found.span(1)


def is_secret(value: str, *, quoted: bool, strength: str = "secret") -> bool:
    """Return whether a value looks like a secret in use, rather than code, a placeholder or a description."""
    value = value[:JUDGED]
    if len(value) < _LEAST_LENGTH or " " in value or "[redacted]" in value:
        return False
    if not _is_random(value, quoted=quoted, strength=strength):
        return False
    if _is_placeholder(value) or (not quoted and _pattern(_CODE).match(value)):
        return False
    if is_path(value) or _is_made_of_words(value, strength=strength):
        return False
    return strength != "coded" or value.rstrip("=").replace("+", "").replace("/", "").isalnum()


def _is_random(value: str, *, quoted: bool, strength: str) -> bool:
    digits = any(letter.isdigit() for letter in value)
    letters = any(letter.isalpha() for letter in value)
    signs = not value.isalnum()
    mixed = value.lower() != value and value.upper() != value
    if not letters or digits + letters + signs + mixed < _LEAST_KINDS:
        return False
    if not digits and not (quoted or (strength == "password" and mixed and signs)):
        return False
    bits = entropy(value)
    if strength == "long":
        return digits and len(value) >= 16 and bits >= 3.4
    if strength == "coded":
        return (digits or mixed) and len(value) >= 12 and bits >= _LEAST_ENTROPY
    return bits >= _LEAST_ENTROPY or (quoted and digits and signs)


def _is_placeholder(value: str) -> bool:
    lowered = value.lower()
    return any(word in lowered for word in _PLACEHOLDERS) or _pattern(_PLACEHOLDER).match(value) is not None


def _is_made_of_words(value: str, *, strength: str) -> bool:
    if not is_wordy(value):
        return False
    made_up = strength == "password" and value.isalnum() and sum(letter.isdigit() for letter in value) >= 2
    return not made_up  # `monkey123` is a word elsewhere, and a password where one is named


class _NextQuotes:
    """Finds the quote that ends a value, in time that is linear in the text over all calls."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, int] = {}

    def next(self, quote: str, start: int) -> int | None:
        """The position of the next such quote on this line."""
        at = self._known.get(quote, -1)
        if at < start:
            ends = [found for found in (self._text.find(quote, start), self._text.find("\n", start)) if found >= 0]
            at = self._known[quote] = min(ends, default=len(self._text))
        return at if self._text.startswith(quote, at) else None


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
