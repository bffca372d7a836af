"""Route names as models: `hint:NAME` means a route, and `hint:auto` the route whose rule matches the message."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from claw_acp.config.diagnostic import did_you_mean
from claw_acp.config.message_pattern import LOOKED_AT
from claw_acp.config.model import RuleSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ChatRequest
from claw_acp.core.value import Value

HINT: Final = "hint:"
AUTO: Final = "auto"
DEFAULT: Final = "default"


class RouteRule(Value):
    """Sends a message to a route. All conditions must hold; lengths are in characters.

    A pattern sees the first `LOOKED_AT` characters of the message, and keywords all of it.
    """

    route: str
    keywords: tuple[str, ...] = ()
    pattern: str | None = None
    min_length: int = 0
    max_length: int | None = None

    def fits(self, text: str) -> bool:
        """True if the rule matches a message."""
        if len(text) < self.min_length or (self.max_length is not None and len(text) > self.max_length):
            return False
        if self.keywords and not any(_has_word(text, word) for word in self.keywords):
            return False
        return self.pattern is None or re.search(self.pattern, text[:LOOKED_AT]) is not None


def rules_of(settings: Settings) -> Sequence[RouteRule]:
    """The configured rules, in order."""
    return [_rule(rule) for rule in settings.rules]


def pick_route(text: str, *, rules: Iterable[RouteRule], routes: Iterable[str]) -> str | None:
    """The route of a message: of the first matching rule, else the one called `default`; None if there is none."""
    fitting = next((rule.route for rule in rules if rule.fits(text)), None)
    if fitting is not None:
        return fitting
    return DEFAULT if DEFAULT in routes else None


def newest_text(request: ChatRequest) -> str:
    """The text of the newest user message."""
    return next((message.text for message in reversed(request.messages) if message.role == "user"), "")


def no_such_route(name: str, routes: Iterable[str]) -> str:
    """The error text for an unknown hint."""
    known = list(routes)
    if not known:
        return f'there is no route "{name}", nor any other; write {name} = "provider/model" under [routes]'
    hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
    return f'there is no route "{name}"; {hint}'


def offered_routes(settings: Settings) -> Mapping[str, str]:
    """Routes for a picker: `hint:NAME` and a description."""
    offered = {f"{HINT}{name}": f"Route to {model}" for name, model in settings.routes.items() if name != AUTO}
    return {f"{HINT}{AUTO}": "Chosen by your rules for each message", **offered} if settings.rules else offered


def model_behind(name: str, *, settings: Settings) -> str:
    """The `provider/model` of a name; for `hint:auto`, the one that answers when no rule matches.

    Empty for an unknown name.
    """
    if not name.startswith(HINT):
        return name
    route = name.removeprefix(HINT)
    if route != AUTO:
        return settings.routes.get(route, "")
    configured = settings.model or ""
    return settings.routes.get(DEFAULT) or ("" if configured.startswith(HINT) else configured)


def _rule(rule: RuleSection) -> RouteRule:
    return RouteRule(
        route=rule.route,
        keywords=rule.keywords,
        pattern=rule.pattern,
        min_length=rule.min_length,
        max_length=rule.max_length,
    )


def _has_word(text: str, word: str) -> bool:
    """True if the text contains the word as a whole, in any case."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
