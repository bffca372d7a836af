"""The base class of HTTP providers; a wire family adds its request, its stream and its list of models."""

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

from claw_acp.contracts.provider import Capabilities, ChatRequest, ChatResponse, Provider
from claw_acp.contracts.provider_setup import ProviderSetup
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.providers.models.facts import known_capabilities
from claw_acp.providers.transport.authorization import authorized
from claw_acp.providers.transport.http_service import DEFAULT_TIMEOUTS, HttpService, Signer, Timeouts
from claw_acp.providers.transport.streaming import collected
from claw_acp.providers.transport.wire import items_at, text_at


class HttpProvider(Provider):
    """A service reached by HTTP. Subclasses write `stream` and `models`, and say how the family authorizes.

    Attributes:
        hears: Whether requests of the family can carry sound.

    Args:
        setup: What is configured. Without a key no authorization is sent, as local servers like it.
        base_url: The family's own address, where the setup names none.
        authorization: The header that carries the key, and what stands before the key in it; quirks may say otherwise.
        headers: What the family always sends; what is configured wins over it.
        signer: What signs each request, in the place of a header with the key.
        timeouts: How long to wait for what, in the place of what the setup says.
        secrets: What must not be shown, besides those of the setup.
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
        """The body of a request, with what is configured to be in it."""
        return {**body, **json.loads(self._setup.body)} if self._setup.body else body

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))

    def capabilities(self, model: str) -> Capabilities:
        """Capabilities of `model`, as far as the service supports them."""
        known = known_capabilities(model, self._setup.about(model))
        tools = known.tools and self._setup.quirks.tools is not False
        return replace(known, tools=tools, audio=known.audio and self.hears)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._service.aclose()

    async def _listed(self, path: str) -> Sequence[JsonObject]:
        """The rows with an `id` of a `{"data": [...]}` list.

        Raises:
            ProviderError: The service cannot be asked.
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
