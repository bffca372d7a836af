"""Takes credentials out of text before a model, a log, a journal or a client sees it.

Ordinary text comes back as the same object: a cheap test for tell-tale words comes first. What is replaced keeps its
first four characters, so that a person can tell which credential it was.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import log2

REDACTED = "[redacted]"
SHORTEST_KNOWN = 8  # characters; replacing shorter values would hit ordinary words

_KEPT = 4
_SHORTEST_KEY_BODY = 40  # characters
_LEAST_ENTROPY = 3.0  # bits a character: words and names stay below, random keys above
_LEAST_LENGTH = 8
_LEAST_KINDS = 2  # of digits, letters, signs, mixed case
_JUDGED = 96  # characters of a value that are looked at

# Each vendor pattern is looked for only in texts that hold its tell-tale.
_VENDORS: Mapping[str, str] = {
    "sk-": r"\bsk-(?:ant-|proj-|svcacct-|admin-|or-v1-|live-)?[A-Za-z0-9_-]{20,}",
    "gh": r"\bgh[pousr]_[A-Za-z0-9]{36,}",
    "github_pat_": r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    "glpat-": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "xox": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "xapp-": r"\bxapp-\d-[A-Za-z0-9-]{10,}",
    "hooks.slack.com": r"(?<=hooks\.slack\.com/services/)[A-Za-z0-9/]{20,}",
    "AKIA": r"\bAKIA[0-9A-Z]{16}\b",
    "ASIA": r"\bASIA[0-9A-Z]{16}\b",
    "AIza": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "GOCSPX-": r"\bGOCSPX-[A-Za-z0-9_-]{20,}",
    "ya29.": r"\bya29\.[A-Za-z0-9_-]{20,}",
    "_live_": r"\b[spr]k_live_[A-Za-z0-9]{16,}",
    "_test_": r"\b[spr]k_test_[A-Za-z0-9]{16,}",
    "whsec_": r"\bwhsec_[A-Za-z0-9+/=]{24,}",
    "npm_": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-": r"\bpypi-[A-Za-z0-9_-]{40,}",
    "hf_": r"\bhf_[A-Za-z0-9]{30,}\b",
    "gsk_": r"\bgsk_[A-Za-z0-9]{30,}\b",
    "xai-": r"\bxai-[A-Za-z0-9]{40,}\b",
    "r8_": r"\br8_[A-Za-z0-9]{30,}\b",
    "pplx-": r"\bpplx-[A-Za-z0-9]{30,}\b",
    "SG.": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "dop_v1_": r"\bdop_v1_[a-f0-9]{64}\b",
    "shpat_": r"\bshpat_[a-fA-F0-9]{32}\b",
    "lin_api_": r"\blin_api_[A-Za-z0-9]{32,}",
    "dckr_pat_": r"\bdckr_pat_[A-Za-z0-9_-]{20,}",
    "AGE-SECRET-KEY-": r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,}",
    "hvs.": r"\bhvs\.[A-Za-z0-9_-]{24,}",
    "tskey-": r"\btskey-[a-z]+-[A-Za-z0-9-]{16,}",
    ":AA": r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}",
    "eyJ": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}

_PEM = (
    r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)"
    r"((?:\\[nr]|\s|(?:Proc-Type|DEK-Info):[^\n\"]*|[A-Za-z0-9+/=])*)"  # stops at code around a bare marker
)
_URL_LOGIN = r"(?<=://)([^\s:/@'\"<>]*):([^\s/@'\"<>]{3,})(?=@[\w.\[-])"
_AUTHORIZATION = (
    r"(?i)(\b(?:proxy-)?authorization\"?'?\s*[:=]\s*[\"']?\s*(?:bearer|basic|token|bot)\s+)([A-Za-z0-9._~+/=-]{8,})"
)
_BEARER = r"(?i)(\bbearer\s+)([A-Za-z0-9._~+/=-]{20,})"
_API_HEADER = (
    r"(?i)(\b(?:x-api-key|api-key|x-goog-api-key|x-auth-token|private-token)\"?'?\s*:\s*[\"']?)([^\s\"',]{8,})"
)
# Words that announce a secret. They are looked for with `str.find`, many times faster than one regular expression.
_TELLS = ("passw", "pwd", "passphrase", "secret", "key", "token", "credential")
_KEY_BEFORE = r"(?:api|access|auth|private|encryption|signing|account)[_-]?$"
_VALUE = (
    r"[\w-]*[\"']?\s{0,8}(?::=|=>|[:=])\s{0,8}"
    r"(?:\"([^\"\n]{8,512})\"|'([^'\n]{8,512})'|([^\s\"'`,;(){}\[\]<>]{8,512}))"
)
_PLACEHOLDER = (
    r"(?i)x{4,}|\*{3,}|\.{3,}|your|example|changeme|placeholder|redacted|dummy|sample|insert|todo|none|null|undefined|env[:.]"
    r"|keyring:|file:|command:|process\.|os\.|\$|%|/|^[a-z]+(?:[._-][a-z]+)*$|^(?:[A-Z][a-z]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$"
)
_NOT_VALUES = r"^[\w.]+\(|^(?:true|false)$|^[A-Z_]+$|^[a-z_]\w*(?:\.\w+)+$|^sha\d+-|^\d+(?:\.\d+)*$"


def redact(text: str) -> str:
    """`text` without credentials. The same object when there are none."""
    for tell in _VENDORS:
        if tell in text:
            text = _pattern(_VENDORS[tell]).sub(_shorten_plausible, text)
    if "PRIVATE KEY" in text:
        text = _pattern(_PEM).sub(_without_key, text)
    if "://" in text and "@" in text:
        text = _pattern(_URL_LOGIN).sub(_without_password, text)
    if ":" in text or "=" in text or "earer" in text:
        text = _assignments(text)
    return text


class Redactor:
    """`redact`, and the values that are known to be secret, wherever they appear.

    Args:
        known: The session's actual keys; values shorter than `SHORTEST_KNOWN` are left alone.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        # longest first: a key that contains another must go as a whole
        values = sorted(
            {value.strip() for value in known if len(value.strip()) >= SHORTEST_KNOWN}, key=len, reverse=True
        )
        self._known = re.compile("|".join(re.escape(value) for value in values)) if values else None

    def __call__(self, text: str) -> str:
        """`text` without known secrets and without anything that looks like one."""
        if self._known is not None:
            text = self._known.sub(_shorten, text)
        return redact(text)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """Compiled when the first text holds its tell-tale: most never do, and the log imports this at the start."""
    return re.compile(expression)


def _without_key(match: re.Match[str]) -> str:
    if len(match[2].strip()) < _SHORTEST_KEY_BODY:
        return match[0]  # the marker alone, as in code that looks for it
    return f"{match[1]}\n{REDACTED}\n"


def _shorten(match: re.Match[str]) -> str:
    return match[0][:_KEPT] + REDACTED


def _shorten_plausible(match: re.Match[str]) -> str:
    """A vendor's prefix followed by words and hyphens (`sk-learn-contrib-examples-of-use`) is a name, not a key."""
    body = match[0]
    return (
        _shorten(match) if any(letter.isdigit() for letter in body[3:]) or any(c.isupper() for c in body[3:]) else body
    )


def _without_password(match: re.Match[str]) -> str:
    password = match[2]
    if (
        REDACTED in password
        or password.startswith(("$", "{", "<", "%(", "*", "password"))
        or set(password) <= {"*", "x", "."}
    ):
        return match[0]
    return f"{match[1]}:{REDACTED}"


def _assignments(text: str) -> str:
    lowered = _lowered(text)
    if "authorization" in lowered or "bearer" in lowered:
        text = _pattern(_BEARER).sub(_value_of_header, _pattern(_AUTHORIZATION).sub(_value_of_header, text))
    if "key:" in lowered or 'key"' in lowered or "-token" in lowered:
        text = _pattern(_API_HEADER).sub(_value_of_header, text)
    spans = sorted(_assigned(text, lowered=_lowered(text)))
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        if start >= done:
            pieces += (text[done : start + _KEPT], REDACTED)
            done = end
    return "".join((*pieces, text[done:])) if pieces else text


def _lowered(text: str) -> str:
    """Lower case, letter by letter where that would change positions."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)


def _assigned(text: str, *, lowered: str) -> Iterator[tuple[int, int]]:
    """Where values stand that a name such as `password` or `api_key` gives away."""
    for tell in _TELLS:
        position = lowered.find(tell)
        while position >= 0:
            found = _pattern(_VALUE).match(text, position) if tell != "key" or _is_key_name(lowered, position) else None
            after = position + len(tell)
            if found and found.lastindex and _plausible(found[found.lastindex], quoted=found.lastindex < 3):
                yield found.span(found.lastindex)
                after = found.end()
            position = lowered.find(tell, after)


def _is_key_name(lowered: str, position: int) -> bool:
    return _pattern(_KEY_BEFORE).search(lowered, max(0, position - 12), position) is not None


def _value_of_header(match: re.Match[str]) -> str:
    value = match[2]
    return match[0] if not _plausible(value, quoted=True) else f"{match[1]}{value[:_KEPT]}{REDACTED}"


def _plausible(value: str, *, quoted: bool) -> bool:
    """Whether a value looks like a secret someone uses, rather than code, a placeholder or a description."""
    value = value[:_JUDGED]
    digits = any(letter.isdigit() for letter in value)
    if len(value) < _LEAST_LENGTH or " " in value or (not quoted and not digits):
        return False
    letters = any(letter.isalpha() for letter in value)
    signs = not value.isalnum()
    mixed = value.lower() != value and value.upper() != value
    if digits + letters + signs + mixed < _LEAST_KINDS or REDACTED in value:
        return False
    if _pattern(_PLACEHOLDER).search(value) or _pattern(_NOT_VALUES).match(value):
        return False
    return _entropy(value) >= _LEAST_ENTROPY or (quoted and digits and signs)


def _entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)
