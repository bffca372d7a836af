"""A request that is answered with a status and a sentence, and nothing else."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NOTHING: Final = MappingProxyType[str, str]({})


class Refused(Exception):
    """Raised anywhere while a request is handled; becomes its answer in `app`.

    Attributes:
        status: The HTTP status.
        reason: A sentence for whoever wrote the client; empty where the JSON says it all.
        headers: More headers of the answer.
        json: The body, if it is a JSON-RPC answer.
    """

    def __init__(
        self, status: int, reason: str = "", *, headers: Mapping[str, str] = _NOTHING, json: bytes = b""
    ) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.headers = headers
        self.json = json


class ClientGone(Exception):
    """Whoever asked has hung up; there is nobody to answer."""
