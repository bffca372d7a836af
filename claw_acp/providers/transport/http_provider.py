"""The base class of HTTP providers; a wire family adds its request, its stream and its list of models."""

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from claw_acp.contracts.provider import Capabilities
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.transport.authorization import authorized
from claw_acp.providers.transport.http_service import DEFAULT_TIMEOUTS, HttpService, Signer, Timeouts
from claw_acp.providers.transport.streaming import StreamingProvider
from claw_acp.providers.transport.wire import items_at, text_at


class HttpProvider(StreamingProvider):
    """A service reached by HTTP. Subclasses implement `stream` and `models`, and state how the family authorizes.

    Attributes:
        hears: Whether requests of the family can carry sound.

    Args:
        setup: The configuration. Without a key no authorization is sent, as local servers expect.
        base_url: The family's own address, used if the setup has none.
        authorization: The header that carries the key, and the text before the key in it; quirks may differ.
        headers: The family's own headers; configured ones override them.
        signer: Signs each request, instead of a header with the key.
        timeouts: The timeouts, instead of those of the setup.
        secrets: Texts that must not be shown, besides those of the setup.
    """

    hears: ClassVar[bool] = False

    def __init__(
        self,
        setup: ProviderSetup,
        *,
        base_url: str,
        authorization: tuple[str, str],
        headers: Mapping[str, str] | None = None,
        signer: Signer | None = None,
        timeouts: Timeouts | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        self.name = setup.name
        self._setup = setup
        self._clock = setup.clock
        self._secrets = tuple(secret.strip() for secret in (*setup.secrets, *secrets) if secret.strip())
        key, key_signer = authorized(setup, family=authorization)
        replays = setup.cassette is not None and setup.cassette.mode == "replay"
        self._service = HttpService(
            provider=setup.name,
            base_url=setup.base_url or base_url,
            headers={**key, **(headers or {}), **_revealed(setup)},
            secrets=self._secrets,
            timeouts=timeouts or _timeouts(setup),
            connection=setup.connection,
            signer=None if replays else signer or key_signer,
            cassette=setup.cassette,
            clock=setup.clock,
        )

    def _body(self, body: JsonObject) -> JsonObject:
        """The body of a request, with the configured members added."""
        return {**body, **json.loads(self._setup.body)} if self._setup.body else body

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of `model`, as far as the service supports them."""
        known = known_capabilities(model, self._setup.about(model))
        tools = known.tools and self._setup.quirks.tools is not False
        return replace(known, tools=tools, audio=known.audio and self.hears)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()

    async def _listed(self, path: str) -> Sequence[JsonObject]:
        """The rows with an `id` of a `{"data": [...]}` list.

        Raises:
            ProviderError: The service cannot be reached.
        """
        listed = await self._service.get_json(path)
        rows = items_at(listed, "data") if isinstance(listed, Mapping) else ()
        return [row for row in rows if isinstance(row, Mapping) and text_at(row, "id")]


def _revealed(setup: ProviderSetup) -> dict[str, str]:
    return {name: value.reveal() for name, value in setup.headers}


def _timeouts(setup: ProviderSetup) -> Timeouts:
    usual = DEFAULT_TIMEOUTS
    return Timeouts(
        connect=setup.connection.connect_timeout or usual.connect,
        first_byte=setup.timeout or usual.first_byte,
        idle=setup.timeout or usual.idle,
    )
