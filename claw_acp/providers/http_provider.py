"""What the providers that speak HTTP share; a wire family adds its request, its stream and its list of models."""

from collections.abc import Mapping, Sequence

from claw_acp.contracts.provider import Capabilities, ChatRequest, ChatResponse, Provider
from claw_acp.core.clock import Clock
from claw_acp.core.json_value import JsonObject
from claw_acp.net.http import HttpService, Timeouts
from claw_acp.providers.model_facts import known_capabilities
from claw_acp.providers.streaming import collected
from claw_acp.providers.wire import items_at, text_at


class HttpProvider(Provider):
    """A service reached by HTTP. Subclasses write `stream` and `models`.

    Args:
        name: The name it is configured under; errors carry it.
        api_key: The key; without one no authorization is sent, as local servers like it.
        authorization: The header that carries the key, and what stands before the key in it.
        base_url: Where the service is.
        headers: Sent with each request; they win over the authorization.
        secrets: What must not be shown, besides the key.
        timeouts: How long to wait for what.
        clock: Time for waits and dates.
    """

    def __init__(
        self,
        *,
        name: str,
        api_key: str | None,
        authorization: tuple[str, str],
        base_url: str,
        headers: Mapping[str, str],
        secrets: Sequence[str],
        timeouts: Timeouts,
        clock: Clock,
    ) -> None:
        self.name = name
        key = (api_key or "").strip()
        header, before = authorization
        self._secrets = (*((key,) if key else ()), *secrets)
        self._service = HttpService(
            provider=name,
            base_url=base_url,
            headers={**({header: before + key} if key else {}), **headers},
            secrets=self._secrets,
            timeouts=timeouts,
            clock=clock,
        )

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))

    def capabilities(self, model: str) -> Capabilities:
        """What `model` can do, by its name."""
        return known_capabilities(model)

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
