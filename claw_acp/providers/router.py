"""A provider that sends a request where its model's name points: `hint:NAME` is a route, other names are models."""

from collections.abc import AsyncGenerator, Mapping, Sequence

from claw_acp.contracts.provider import (
    Capabilities,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    Provider,
    StreamEvent,
)
from claw_acp.core.errors import RequestRejected
from claw_acp.core.value import Value, replace
from claw_acp.net.closing import closing
from claw_acp.providers.route_rules import AUTO, HINT, Rule, newest_text, no_such_route, pick_route
from claw_acp.providers.streaming import collected


class Lane(Value):
    """Where a route leads: a provider, its model, and sampling in the place of the request's (None: the request's)."""

    provider: Provider
    model: str
    options: ChatOptions | None = None


class Router(Provider):
    """Routes in front of a provider, which answers for every model that is no hint.

    Args:
        usual: Where requests go that name no route; its model answers `hint:auto` when no rule fits and no route is
            called `default`.
        routes: By name.
        rules: Which message goes to which route, for `hint:auto`.
    """

    def __init__(self, usual: Lane, *, routes: Mapping[str, Lane], rules: Sequence[Rule] = ()) -> None:
        self.name = usual.provider.name
        self._usual = usual
        self._routes = routes
        self._rules = rules

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece. The response says who answered when a hint was asked.

        Raises:
            RequestRejected: There is no such route; the text names the nearest.
            ProviderError: The model that was asked failed.
        """
        lane = self._lane(request.model, text=newest_text(request))
        if lane is not None:
            request = replace(request, model=lane.model, options=_options(lane, request))
        async with closing((lane or self._usual).provider.stream(request)) as events:
            async for event in events:
                if lane is not None and type(event) is Finished and not event.response.answered_by:
                    name = f"{lane.provider.name}/{lane.model}"
                    yield Finished(response=replace(event.response, answered_by=name))
                else:
                    yield event

    async def chat(self, request: ChatRequest) -> ChatResponse:
        """Answer in one piece."""
        return await collected(self.stream(request))

    def capabilities(self, model: str) -> Capabilities:
        """What the model behind a name can do; of `hint:auto`, the one that answers when no rule fits.

        Raises:
            RequestRejected: There is no such route.
        """
        lane = self._lane(model, text=None)
        return self._usual.provider.capabilities(model) if lane is None else lane.provider.capabilities(lane.model)

    async def models(self) -> Sequence[ModelInfo]:
        """The routes, then the usual provider's models."""
        hints = [ModelInfo(id=f"{HINT}{name}", name=name) for name in self._routes]
        return [*hints, *await self._usual.provider.models()]

    async def aclose(self) -> None:
        """Close every provider."""
        for provider in dict.fromkeys([self._usual.provider, *(lane.provider for lane in self._routes.values())]):
            await provider.aclose()

    def _lane(self, model: str, *, text: str | None) -> Lane | None:
        """The lane of a hint; None for a model's own name."""
        if not model.startswith(HINT):
            return None
        name = model.removeprefix(HINT)
        if name == AUTO:
            rules = () if text is None else self._rules
            picked = pick_route(text or "", rules=rules, routes=self._routes)
            if picked is None:
                return self._usual
            name = picked
        lane = self._routes.get(name)
        if lane is None:
            raise RequestRejected(f"{no_such_route(name, self._routes)}.", provider=self.name)
        return lane


def _options(lane: Lane, request: ChatRequest) -> ChatOptions:
    asked = request.options
    return asked if lane.options is None else replace(lane.options, tool_choice=asked.tool_choice, effort=asked.effort)
