"""Random-looking text, the same in every run. Secrets are put together from parts, so that no scanner takes a file
of this repository for a leak."""

import hashlib
import re
import string

LETTERS = string.ascii_letters + string.digits
HEX = string.hexdigits[:16]
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
URL_SAFE = LETTERS + "-_"
BASE64 = LETTERS + "+/"
SIGNS = string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)"


def made_up(length: int, *, alphabet: str = LETTERS, seed: str) -> str:
    """Text of this length, with at least one of each kind of letter that the alphabet has."""
    for attempt in range(100):
        numbers = (hashlib.sha512(f"{seed}/{attempt}/{part}".encode()).digest() for part in range(length // 64 + 1))
        text = "".join(alphabet[byte % len(alphabet)] for byte in b"".join(numbers)[:length])
        if length < 12 or all(not set(kind) <= set(alphabet) or set(kind) & set(text) for kind in _KINDS):
            return text
    raise AssertionError(alphabet)


_FIELDS = {"A": LETTERS, "H": HEX, "U": UPPER, "L": LOWER, "W": URL_SAFE, "B": BASE64, "D": "0123456789", "S": SIGNS}
_KINDS = (string.ascii_lowercase, string.ascii_uppercase, string.digits)


def fill(pattern: str, *, seed: str) -> str:
    """A pattern with its fields filled: `{A20}` is 20 letters and digits; H hex, U upper, L lower, W with - and _,
    B base64, D digits, S lower case with signs."""

    def field(found: re.Match[str]) -> str:
        return made_up(int(found[2]), alphabet=_FIELDS[found[1]], seed=f"{seed}/{found.start()}/{pattern}")

    return re.sub(r"\{([AHULWBDS])(\d+)\}", field, pattern)
