"""The header that carries a key: in the wire family's style, or that of the service's quirks."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, ProviderAuthFailed
from claw_acp.core.json_value import JsonObject

if TYPE_CHECKING:
    from claw_acp.providers.transport.http_service import Signer

TOKEN_LIFE: Final = 210.0  # seconds; what Zhipu's own clients ask for
RENEWED_AFTER: Final = 180.0  # seconds; half a minute is left for a request under way and for clocks that differ

_HEADERS: Final = {
    "bearer": ("authorization", "Bearer "),
    "x-api-key": ("x-api-key", ""),
    "api-key": ("api-key", ""),
}
"""Styles by name: the header, and the text before the key in it."""


def authorized(setup: ProviderSetup, *, family: tuple[str, str]) -> "tuple[dict[str, str], Signer | None]":
    """The headers that carry the key of a setup, and the signer of its requests; neither without a key.

    `family` is the style of the wire family: a header, and the text before the key in it.

    Raises:
        ConfigError: The style in the quirks is unknown.
    """
    style = setup.quirks.auth or ""
    header, before = _header(style, family=family, provider=setup.name)
    key = setup.api_key.reveal().strip() if setup.api_key else ""
    if not key:
        return {}, None
    if style == "zhipu-jwt":
        return {}, ZhipuTokens(key, provider=setup.name, clock=setup.clock, unless=frozenset(dict(setup.headers)))
    return ({header: before + key} if header else {}), None


def _header(style: str, *, family: tuple[str, str], provider: str) -> tuple[str, str]:
    if not style:
        return family
    if style in {"none", "zhipu-jwt"}:
        return "", ""
    name = style.removeprefix("header:").strip().lower()
    if style.startswith("header:") and name:
        return name, ""
    if style not in _HEADERS:
        known = ", ".join([*_HEADERS, "header:NAME", "zhipu-jwt", "none"])
        raise ConfigError(f'provider "{provider}": quirks.auth = "{style}" is unknown; it can be one of {known}')
    return _HEADERS[style]


class ZhipuTokens:
    """Signs requests with short-lived tokens, made from a key of the form `id.secret`: Zhipu's first scheme.

    A token is a JSON web token (RFC 7519) under HS256 with a header of Zhipu's own (`sign_type`), and times in
    milliseconds: https://docs.bigmodel.cn/cn/api/introduction.

    Args:
        key: The key.
        provider: The provider's name for errors.
        clock: The time, for the renewal of tokens.
        unless: Names of configured headers; if `authorization` is among them, no token is sent.
    """

    def __init__(self, key: str, *, provider: str, clock: Clock, unless: frozenset[str] = frozenset()) -> None:
        self._key = key
        self._provider = provider
        self._clock = clock
        self._unless = unless
        self._token = ""
        self._made = 0.0

    async def sign(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:  # noqa: ARG002 - one shape for all signers
        """The header with the token.

        Raises:
            ProviderAuthFailed: The key has another form.
        """
        if "authorization" in self._unless:
            return {}
        now = self._clock.now()
        if not self._token or not 0 <= now - self._made < RENEWED_AFTER:
            self._token = self._signed(now)
            self._made = now
        return {"authorization": f"Bearer {self._token}"}

    def _signed(self, now: float) -> str:
        name, dot, secret = self._key.partition(".")
        if not (name and dot and secret):
            raise ProviderAuthFailed(
                f'the key of {self._provider} is not of the form "id.secret", which this service needs. '
                'Check the key, or set quirks.auth = "bearer" if it is to be sent as it is.',
                provider=self._provider,
            )
        claims = {"api_key": name, "exp": round((now + TOKEN_LIFE) * 1000), "timestamp": round(now * 1000)}
        signed = f"{_encoded({'alg': 'HS256', 'sign_type': 'SIGN'})}.{_encoded(claims)}"
        signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
        return f"{signed}.{_base64url(signature)}"


def _encoded(value: JsonObject) -> str:
    return _base64url(json.dumps(value, separators=(",", ":")).encode())


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


if TYPE_CHECKING:
    _conforms: type[Signer] = ZhipuTokens
