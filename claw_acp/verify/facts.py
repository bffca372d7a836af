"""The facts learned about an agent before its checks begin."""

from dataclasses import dataclass, field

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.frames import as_list, as_object, text_of

LIFESIGN = "_claw-acp/verify"  # no agent serves it, and every agent must answer that it does not


IN_SECOND = {
    "loadSession": "there.is.no.load",
    "sessionCapabilities.list": "session",
    "sessionCapabilities.resume": "session",
    "sessionCapabilities.close": "session",
    "sessionCapabilities.delete": "session.delete",
    "sessionCapabilities.fork": "session.fork",
    "sessionCapabilities.additionalDirectories": "session.additionalDirectories",
    "promptCapabilities.image": "session.prompt.image",
    "promptCapabilities.audio": "session.prompt.audio",
    "promptCapabilities.embeddedContext": "session.prompt.embeddedContext",
    "mcpCapabilities.http": "session.mcp.http",
    "mcpCapabilities.sse": "there.is.no.sse",
}
"""The capability of protocol 2 for each of protocol 1."""


@dataclass(slots=True)
class Facts:
    """Filled in by the first conversation.

    Attributes:
        hello: The result of `initialize`; None when there was none.
        opened: The result of `session/new`.
        no_session: The reason there is no session, or empty.
        no_turn: The reason there is no turn, or empty.
        lifesign: A request that this agent answers at once, with any answer: its method and parameters.
        must_authenticate: Whether sessions need a login, and the method is known.
        stored: A session with one turn, whose process has ended.
        one_at_a_time: Held while that session is made.
    """

    hello: JsonObject | None = None
    opened: JsonObject | None = None
    no_session: str = ""
    no_turn: str = ""
    lifesign: tuple[str, JsonObject] = field(default=(LIFESIGN, {}))
    must_authenticate: bool = False
    stored: str | None = None
    one_at_a_time: anyio.Lock = field(default_factory=anyio.Lock)

    @property
    def protocol(self) -> int:
        """The agreed version."""
        return 2 if (self.hello or {}).get("protocolVersion") == 2 else 1

    @property
    def name(self) -> str:
        """The agent's own name and version."""
        info = as_object((self.hello or {}).get("info" if self.protocol == 2 else "agentInfo"))
        return f"{text_of(info, 'name')} {text_of(info, 'version')}".strip()

    def offers(self, path: str) -> bool:
        """Return whether the agent has a capability, such as `sessionCapabilities.list`, named as in protocol 1."""
        if self.protocol == 1:
            return _has((self.hello or {}).get("agentCapabilities"), path)
        if path == "auth.logout":
            return bool(self.auth_methods)
        return _has((self.hello or {}).get("capabilities"), IN_SECOND.get(path, path))

    @property
    def auth_methods(self) -> list[JsonObject]:
        """The ways to log in."""
        return [as_object(method) for method in as_list((self.hello or {}).get("authMethods"))]

    @property
    def options(self) -> list[JsonObject]:
        """The configuration options of a new session."""
        return [as_object(option) for option in as_list((self.opened or {}).get("configOptions"))]

    @property
    def modes(self) -> list[str]:
        """The ids of the modes of a new session."""
        state = as_object((self.opened or {}).get("modes"))
        return [text_of(as_object(mode), "id") for mode in as_list(state.get("availableModes"))]


def _has(value: JsonValue, path: str) -> bool:
    """Return whether the value at a path exists, and is true or an object."""
    for part in path.split("."):
        value = as_object(value).get(part)
    return value is True or isinstance(value, dict)
