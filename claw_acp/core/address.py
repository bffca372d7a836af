"""Addresses without possible secrets: credentials and query values."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

HIDDEN = "***"

# Texts: compiling them takes part of every start. Up to the last `@` before the path; behind a colon that no port
# follows, also past a stroke that was not escaped.
_LOGIN = r"^([a-zA-Z][\w+.-]*://|//|(?!\w[\w+.-]*://))((?:[^/?#@]*:(?!\d+/)[^?#]*|[^/?#]*))@"
_VALUE = r"(?<=[?&;])([^=&;#]*=)?([^&;#]+)"


def shown_address(address: str) -> str:
    """The address with `***` in place of credentials and of each query value; usually it is returned unchanged."""
    place, mark, rest = _parted(address)
    return re.sub(_LOGIN, rf"\1{HIDDEN}@", place) + re.sub(_VALUE, rf"\1{HIDDEN}", mark + rest)


def bare_address(address: str) -> str:
    """The scheme, host, port and path of an address."""
    return re.sub(_LOGIN, r"\1", _parted(address)[0])


def secrets_in(address: str) -> Iterator[str]:
    """The values that `shown_address` hides, both encoded and decoded."""
    place, mark, rest = _parted(address)
    login = re.match(_LOGIN, place)
    parts = [login[2], login[2].partition(":")[2]] if login else []
    parts += [found[2] for found in re.finditer(_VALUE, mark + rest)]
    for part in parts:
        if part:
            yield from dict.fromkeys((part, unquote(part)))


def _parted(address: str) -> tuple[str, str, str]:
    """The address split at its query or fragment: what comes before, the mark, the rest."""
    at = min((at for mark in "?#" if (at := address.find(mark)) >= 0), default=len(address))
    return address[:at], address[at : at + 1].replace("#", "?"), address[at + 1 :].replace("#", "&")
