"""Addresses without what may be a secret in them: who logs in there, and what stands in the query."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

HIDDEN = "***"

# Texts: compiling them takes part of every start. Up to the last `@` before the path; behind a colon that no port
# follows, also past a stroke that was not escaped.
_LOGIN = r"^([a-zA-Z][\w+.-]*://|//|(?!\w[\w+.-]*://))((?:[^/?#@]*:(?!\d+/)[^?#]*|[^/?#]*))@"
_VALUE = r"(?<=[?&;])([^=&;#]*=)?([^&;#]+)"


def shown_address(address: str) -> str:
    """The address with `***` for whoever logs in there and for each value of its query; most often just itself."""
    place, mark, rest = _parted(address)
    return re.sub(_LOGIN, rf"\1{HIDDEN}@", place) + re.sub(_VALUE, rf"\1{HIDDEN}", mark + rest)


def bare_address(address: str) -> str:
    """Only its scheme, host, port and path."""
    return re.sub(_LOGIN, r"\1", _parted(address)[0])


def secrets_in(address: str) -> Iterator[str]:
    """The values that `shown_address` hides, as they are written and as they are meant."""
    place, mark, rest = _parted(address)
    login = re.match(_LOGIN, place)
    parts = [login[2], login[2].partition(":")[2]] if login else []
    parts += [found[2] for found in re.finditer(_VALUE, mark + rest)]
    for part in parts:
        if part:
            yield from dict.fromkeys((part, unquote(part)))


def _parted(address: str) -> tuple[str, str, str]:
    """The place, then what stands between it and the rest: a question mark, or the mark of a fragment."""
    at = min((at for mark in "?#" if (at := address.find(mark)) >= 0), default=len(address))
    return address[:at], address[at : at + 1].replace("#", "?"), address[at + 1 :].replace("#", "&")
