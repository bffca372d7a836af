"""Requests of a page to other origins: what the answering server lets its scripts read and send (CORS).

A browser judges this by the answers that it gets. But the library that intercepts its requests says yes to each
question before a request (preflight), and lets everybody read an answer that does not say who may. And a browser that
is given the end of a redirect takes it for the answer of the address that it asked. So these are judged here.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

ALLOWS_ORIGIN: Final = "access-control-allow-origin"
NOBODY: Final = "none"
"""The origin that may read an answer that names none; there is no such origin."""

_USUAL_PORTS: Final[Mapping[str, str]] = {"http": ":80", "https": ":443"}
_UNREADABLE: Final = frozenset({"image", "media", "font", "script", "stylesheet"})
"""Parts that a page shows or runs, and whose text it does not get."""
_SIMPLE_METHODS: Final = frozenset({"GET", "HEAD", "POST"})
_SIMPLE_TYPES: Final = frozenset({"application/x-www-form-urlencoded", "multipart/form-data", "text/plain"})
_SIMPLE: Final = frozenset({"accept", "accept-language", "content-language", "range"})
_OF_BROWSER: Final = frozenset({
    "user-agent", "referer", "origin", "cookie", "dnt", "priority", "upgrade-insecure-requests", "cache-control",
    "pragma", "save-data", "if-none-match", "if-modified-since",
})  # fmt: skip
"""Headers that a browser sets by itself, and that do no harm where a script does."""
_LONGEST: Final = 128  # bytes of a header that needs no question


def origin_of(url: str) -> str:
    """The origin of an address of the web, as browsers write it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower().removesuffix(_USUAL_PORTS.get(parts.scheme, ""))


def is_unreadable(kind: str) -> bool:
    """Return whether a part of this kind shows a page nothing of its text."""
    return kind in _UNREADABLE


def question_before(url: str, *, method: str, headers: Mapping[str, str]) -> Mapping[str, str] | None:
    """The headers of the question that has to come before a request; None: it needs none.

    Args:
        url: Where it goes.
        method: Its method.
        headers: Its headers, by their names in lower case.
    """
    origin = headers.get("origin")
    if origin is None or origin == origin_of(url):
        return None
    unusual = _unusual(headers)
    if method in _SIMPLE_METHODS and not unusual:
        return None
    names = {"access-control-request-headers": ",".join(unusual)} if unusual else {}
    return {"origin": origin, "access-control-request-method": method, "accept": "*/*", **names}


def permits(answer: Mapping[str, str], question: Mapping[str, str], *, with_cookies: bool) -> bool:
    """Return whether the answer to a question permits the request."""
    if with_cookies and (answer.get(ALLOWS_ORIGIN) == "*" or answer.get("access-control-allow-credentials") != "true"):
        return False
    names = _listed(answer.get("access-control-allow-headers", ""))
    asked = _listed(question.get("access-control-request-headers", ""))
    methods = _listed(answer.get("access-control-allow-methods", ""))
    method = question["access-control-request-method"]
    return (
        may_read(answer, question["origin"])
        and (method in _SIMPLE_METHODS or method.lower() in methods or "*" in methods)
        and all(name in names or ("*" in names and name != "authorization") for name in asked)
    )


def may_read(answer: Mapping[str, str], origin: str) -> bool:
    """Return whether an answer may be read by the scripts of an origin."""
    return answer.get(ALLOWS_ORIGIN, NOBODY) in {"*", origin}


def _unusual(headers: Mapping[str, str]) -> Sequence[str]:
    """The names of the headers that a form could not send."""
    return sorted(
        name
        for name, value in headers.items()
        if name not in _OF_BROWSER and not name.startswith(("sec-", "proxy-")) and not _is_simple(name, value)
    )


def _is_simple(name: str, value: str) -> bool:
    if len(value) > _LONGEST and name != "accept":
        return False
    return name in _SIMPLE or (name == "content-type" and value.partition(";")[0].strip().lower() in _SIMPLE_TYPES)


def _listed(value: str) -> Sequence[str]:
    return [name.strip().lower() for name in value.split(",") if name.strip()]
