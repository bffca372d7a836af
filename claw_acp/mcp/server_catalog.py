"""The catalog of what a server offers, in no library's terms, and how the server is asked for it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import Value

OnProgress: TypeAlias = Callable[[str], Awaitable[None]]
"""Hears how far a call is, as a text for people."""


class OfferedTool(Value):
    """A tool. `reads_only` and `destroys` are what the server itself says of it; `schema` is as it came."""

    name: str
    title: str | None
    description: str
    schema: JsonObject
    reads_only: bool = False
    destroys: bool = False


class PromptArgument(Value):
    """Something a prompt wants to know."""

    name: str
    description: str | None = None
    required: bool = False


class OfferedPrompt(Value):
    """A prompt that people can call for."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


class OfferedResource(Value):
    """A document, or with `template` a pattern (RFC 6570) of addresses of documents."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None
    template: bool = False


class ServerCatalog(Value):
    """All that a server offers at the moment. `instructions` is what it says to models of its use."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: bool = False
    instructions: str = ""


NOTHING = ServerCatalog()


class ServerConnection(Protocol):
    """A server that is up. Every request is bounded by `within`, in seconds; what goes wrong is a `ToolError`.

    Whoever waits for a request can be cancelled at once; the server is told behind their back.
    """

    @property
    def offer(self) -> ServerCatalog:
        """The catalog of what the server offers now."""
        ...

    async def open(self) -> None:
        """Shake hands and ask what it offers."""
        ...

    async def attend(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Keep `offer` in step with the server, telling `changed`, until the server is lost.

        Raises:
            ServerFailed: Always, in the end.
        """
        ...

    async def roots_changed(self) -> None:
        """Tell the server that the session works in other directories."""
        ...

    async def call(self, tool: str, arguments: JsonObject, *, within: float, on_progress: OnProgress) -> ToolResult:
        """Call a tool; progress puts the bound off, up to ten times its length.

        Raises:
            ToolError: It could not be called.
            ServerFailed: The server was lost meanwhile.
        """
        ...

    async def prompt(self, name: str, arguments: Mapping[str, str], *, within: float) -> tuple[ContentPart, ...]:
        """The content of a prompt, filled in."""
        ...

    async def resources(self, *, within: float) -> Sequence[OfferedResource]:
        """The documents it has, then the patterns."""
        ...

    async def read(self, uri: str, *, within: float) -> tuple[ContentPart, ...]:
        """A document."""
        ...
