"""HTTP errors: raised while a request is handled."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_NOTHING: Final = MappingProxyType[str, str]({})


class HttpError(Exception):
    """An HTTP error response; `app` sends it.

    Attributes:
        status: The HTTP status.
        reason: A sentence for the author of the client; empty when `json` says it all.
        headers: Further headers of the response.
        json: The body, when it is a JSON-RPC response.
        client: The name of the client that is refused, for the log.
    """

    def __init__(
        self,
        status: int,
        reason: str = "",
        *,
        headers: Mapping[str, str] = _NOTHING,
        json: bytes = b"",
        client: str = "",
    ) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason
        self.headers = headers
        self.json = json
        self.client = client


class ClientGone(Exception):
    """The client has hung up; no response can be sent."""
