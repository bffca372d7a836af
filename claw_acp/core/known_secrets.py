"""Known secret values, found in every way in which programs write them."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from urllib.parse import quote

SHORTEST_KNOWN = 8  # characters; replacing shorter values would hit ordinary words
_SHORTEST_CODED = 12  # characters of base64 in the middle of a longer text


class KnownSecrets:
    """Finds given values in text: as they are, as JSON and addresses write them, in base64 and in hexadecimal.

    Args:
        values: The secrets; those shorter than `SHORTEST_KNOWN` are ignored.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        # longest first: a key that contains another must go as a whole
        wanted = {value.strip() for value in values if len(value.strip()) >= SHORTEST_KNOWN}
        self.forms = sorted({form for value in wanted for form in _forms(value)}, key=_longest_first)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans of all known values."""
        for form in self.forms:
            at = text.find(form)
            while at >= 0:
                yield at, at + len(form)
                at = text.find(form, at + len(form))


def _longest_first(form: str) -> tuple[int, str]:
    return -len(form), form


def _forms(value: str) -> Iterator[str]:
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield quote(value, safe="/")
    data = value.encode("utf-8", "replace")
    yield data.hex()
    yield data.hex().upper()
    for shift in range(3):
        # The letters that depend on no byte before or after it: it is found in the middle of a longer text as well.
        coded = b64encode(b"\0" * shift + data).decode()
        body = coded[(0, 2, 3)[shift] : (len(data) + shift) * 8 // 6]
        if len(body) >= _SHORTEST_CODED:
            yield body
            yield body.replace("+", "-").replace("/", "_")
