"""Keys recognised by their form: by the prefix their vendor gives them, or by their place in an address.

Every pattern either matches or gives up after a bounded number of characters, so that a search takes time in proportion
to the text.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

from claw_acp.core.value_shapes import entropy, is_wordy

Span: TypeAlias = tuple[int, int]

_SHORTEST = 18  # characters; no key of a vendor is shorter
_CANDIDATE = r"[A-Za-z0-9_.-]{18,}+"
_LEAST_ENTROPY = 2.6  # bits a character; `XXXX...` and `0000...` stay below

# What follows a beginning; the first group that fits decides. All are looked for inside candidates only.
_BEGINNINGS = (
    r"sk-(?:ant-|proj-|svcacct-|admin-|or-v1-|live-|lf-)?[\w-]{20,}+",
    r"gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_\w{22,}+",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct|wt)-[\w.-]{20,}+|GR1348941[\w-]{20,}+",
    r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}+|xapp-\d-[A-Za-z0-9-]{10,}+",
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|LTAI[A-Za-z0-9]{16,20}(?![0-9A-Za-z])",
    r"AIza[\w-]{35}|GOCSPX-[\w-]{20,}+|ya29\.[\w-]{20,}+",
    r"[sprc]k_(?:live|test)_[A-Za-z0-9]{16,}+|sk_[a-f0-9]{40,}+",
    r"npm_[A-Za-z0-9]{36}|pypi-[\w-]{40,}+|rubygems_[a-f0-9]{48}|oy2[a-z0-9]{43}|CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32}(?!\w)",
    r"(?:hf|gsk|r8|fw|vck|ntn|rnd|jina|nfp|nfc|nfo|nfu|nfb|pnu|tfp|bkua|phx|phs|apify_api|api_org)_[A-Za-z0-9_]{22,}+",
    r"(?:xai|nvapi|csk|pplx|figd|figo|tvly|tgp_v1|pcsk|sbp|sb_secret|CCIPAT|CCIPRJ|pscale_(?:tkn|pw|oauth))[-_][\w.-]{28,}+",
    r"secret_[A-Za-z0-9]{43}(?!\w)",  # Notion's older ones
    r"SG\.[\w-]{16,64}\.[\w-]{16,}+|key-[a-f0-9]{32}(?!\w)|xkeysib-[a-f0-9]{64}-\w{16}|re_[A-Za-z0-9]{8}_\w{20,}+",
    r"[a-f0-9]{32}-us\d{1,2}(?!\w)|SK[a-f0-9]{32}(?!\w)",
    r"do[opr]_v1_[a-f0-9]{64}|shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32}|dapi[a-f0-9]{32}(?:-\d)?",
    r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+|dckr_[po]at_[\w-]{20,}+|HRKU-[\w-]{30,}+|PM(?:AK|AT)-[\w-]{26,}+",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+|hv[sbr]\.[\w-]{24,}+|s\.[A-Za-z0-9]{24}(?![\w.])|tskey-[a-z]{1,16}-[\w-]{16,}+",
    r"lsv2_(?:pt|sk)_[a-f0-9]{32}\w*+|sntry[su]_[\w-]{32,}+|NR(?:AK|JS|II|RA)-[A-Za-z0-9-]{20,}+",
    r"gl(?:sa|c)_[A-Za-z0-9_]{32,}+|sq0(?:atp|csp|idp)-[\w-]{22,}+|EAAA[A-Za-z0-9_-]{56,}+|EAA[A-Za-z0-9]{80,}+",
    r"dp\.(?:st|pt|ct|sa|scim|audit)\.[\w.-]{40,}+|sq[apu]_[a-f0-9]{40}|AKCp[A-Za-z0-9]{50,}+|pul-[a-f0-9]{40}",
    r"ATATT3x[\w-]{50,}+|ATCTT3x[\w-]{50,}+|ATBB[A-Za-z0-9]{28,}+|CFPAT-[\w-]{40,}+|sgp_[a-f0-9_]{40,}+",
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}+|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|fo1_[\w-]{40,}+|fm[12][ar]?_[\w-]{50,}+",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[\w-]{6}\.[\w-]{27,}+|ops_eyJ[\w-]{50,}+|gAAAAA[\w-]{60,}+|KEY[0-9A-F]{32}_\w{20,}+",
    r"(?:e2b|exa|bb_live|cal_live|duffel_live|shippo_live|FLWSECK|rzp_live|sq0idb|fc|lf_sk)[-_][A-Za-z0-9-]{24,}+",
    r"(?:[sp]k\.)?eyJ[\w-]{8,}+(?:\.[\w-]{8,}+){1,4}",  # signed tokens (JWT), also of Mapbox
)

# Keys that hold characters other than those of a candidate, each looked for where its tell-tale stands.
_PLACED = {
    "hooks.slack.com/": r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/([A-Za-z0-9/]{20,}+)",
    "/api/webhooks/": r"(?<=/api/webhooks/)\d{15,21}/([\w-]{40,}+)",
    ".webhook.office.com/": r"(?<=\.webhook\.office\.com/)([\w/@-]{40,}+)",
    "whsec_": r"whsec_[A-Za-z0-9+/=]{24,}+",
    ":AA": r"(?<![\d:])\d{8,10}:AA[\w-]{30,}+",
    "sig=": r"(?<=[?&;]sig=)[A-Za-z0-9%+/=_-]{40,}+",
    "X-Amz-S": r"(?<=X-Amz-Signature=)[a-f0-9]{64}|(?<=X-Amz-Security-Token=)[A-Za-z0-9%+/=_-]{40,}+",
    "LS0tLS1CRUdJTi": (  # private keys in base64
        r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFU|BFQyBQUklWQVRF|BPUEVOU1NI|BFTkNSWVBURUQg|BEU0EgUFJJVkFU)"
        r"[A-Za-z0-9+/=]*+"
    ),
}
_URL_LOGIN = r"://([^\s:/@'\"<>?#]{0,256}+):([^\s/@'\"<>]{3,512}+)@[\w.\[-]"
_NO_KEYS = ("EXAMPLE", "example", "your", "YOUR", "xxxx", "XXXX", "placeholder")
_NO_PASSWORD = ("$", "{", "<", "%(", "*", "password", "PASSWORD", "pass", "secret", "your", "changeme")


def key_spans(text: str) -> Iterator[Span]:
    """The spans of keys recognised by their form."""
    for start, end in _candidates(text):
        at = start
        while found := _beginnings().search(text, at, end):
            if _is_key(found[0]):
                yield found.span()
            at = found.end()
    for tell, expression in _PLACED.items():
        if tell in text:
            yield from _placed(text, expression)
    if "://" in text and "@" in text:
        yield from _logins(text)


def _candidates(text: str) -> Iterator[Span]:
    """Yield the spans that are long enough and not mere names. Splitting at blanks first is three times as fast."""
    telling, candidates = _pattern(r"[0-9A-Z]"), _pattern(_CANDIDATE)
    at = 0
    for word in text.split():
        if len(word) < _SHORTEST:
            continue
        at = text.index(word, at)
        end = at + len(word)
        if telling.search(text, at, end):
            for found in candidates.finditer(text, at, end):
                if telling.search(found[0]) and not is_wordy(found[0]):
                    yield found.span()
        at = end


def _placed(text: str, expression: str) -> Iterator[Span]:
    for found in _pattern(expression).finditer(text):
        start, end = found.span(found.lastindex or 0)
        if _is_key(text[start:end]):
            yield start, end


def _logins(text: str) -> Iterator[Span]:
    for found in _pattern(_URL_LOGIN).finditer(text):
        password = found[2]
        if not password.startswith(_NO_PASSWORD) and "[redacted]" not in password and not set(password) <= {*"*x.X"}:
            yield found.span(2)


def _is_key(text: str) -> bool:
    """True unless it is a name of words and hyphens (`sk-learn-contrib-examples`), an example or filler."""
    text = text[:96]
    if any(word in text for word in _NO_KEYS) or not any(letter.isdigit() or letter.isupper() for letter in text[3:]):
        return False
    return not is_wordy(text) and entropy(text[4:]) >= _LEAST_ENTROPY


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    """A pattern compiled at first use: the log imports this at the start."""
    return re.compile(expression)


@cache
def _beginnings() -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_BEGINNINGS)})")
