"""A provider that routes a request by its model's name: `hint:NAME` is a route, other names are models."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from claw_acp.contracts.provider import (
    Capabilities,
    ChatOptions,
    ChatRequest,
    Finished,
    ModelInfo,
    Provider,
    StreamEvent,
)
from claw_acp.core.errors import RequestRejected
from claw_acp.core.value import replace
from claw_acp.net.closing import closing
from claw_acp.providers.selection.route_rules import AUTO, HINT, RouteRule, newest_text, no_such_route, pick_route
from claw_acp.providers.selection.target import Target
from claw_acp.providers.transport.streaming import StreamingProvider


class Router(StreamingProvider):
    """Routes in front of a provider, which answers for every model that is no hint.

    Args:
        usual: The target of requests without a route; its model answers `hint:auto` when no rule matches and no route
            is called `default`.
        routes: By name.
        providers: The provider of each of these targets.
        rules: The rules that choose a route for `hint:auto`.
    """

    def __init__(
        self,
        usual: Target,
        *,
        routes: Mapping[str, Target],
        providers: Mapping[Target, Provider],
        rules: Sequence[RouteRule] = (),
    ) -> None:
        self.name = usual.provider
        self._usual = usual
        self._routes = routes
        self._providers = providers
        self._rules = rules

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece. The response names the model that answered a hint.

        Raises:
            RequestRejected: There is no such route; the text suggests the nearest.
            ProviderError: The model that was asked failed.
        """
        target = self._target(request.model, text=newest_text(request))
        if target is not None:
            request = replace(request, model=target.model, options=_options(target, request))
        async with closing(self._providers[target or self._usual].stream(request)) as events:
            async for event in events:
                if target is not None and type(event) is Finished and not event.response.answered_by:
                    yield Finished(response=replace(event.response, answered_by=target.name))
                else:
                    yield event

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities of the model behind a name; for `hint:auto`, the one that answers when no rule matches.

        Raises:
            RequestRejected: There is no such route.
        """
        target = self._target(model, text=None)
        return self._providers[target or self._usual].capabilities(model if target is None else target.model)

    async def models(self) -> Sequence[ModelInfo]:
        """The routes, then the usual provider's models."""
        hints = [ModelInfo(id=f"{HINT}{name}", name=name) for name in self._routes]
        return [*hints, *await self._providers[self._usual].models()]

    async def aclose(self) -> None:
        """Close every provider."""
        for provider in dict.fromkeys(self._providers.values()):
            await provider.aclose()

    def _target(self, model: str, *, text: str | None) -> Target | None:
        """The target of a hint; None for a model's own name."""
        if not model.startswith(HINT):
            return None
        name = model.removeprefix(HINT)
        if name == AUTO:
            rules = () if text is None else self._rules
            picked = pick_route(text or "", rules=rules, routes=self._routes)
            if picked is None:
                return self._usual
            name = picked
        target = self._routes.get(name)
        if target is None:
            raise RequestRejected(f"{no_such_route(name, self._routes)}.", provider=self.name)
        return target


def _options(target: Target, request: ChatRequest) -> ChatOptions:
    asked = request.options
    return replace(target.options, tool_choice=asked.tool_choice, effort=asked.effort)
