"""The catalog of a server's offer and the interface of a server, independent of the library."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from claw_acp.contracts.tool import ToolResult
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import Value

OnProgress: TypeAlias = Callable[[str], Awaitable[None]]
"""Called with the progress of a call, as a text for people."""


class OfferedTool(Value):
    """A tool. `reads_only` and `destroys` are the server's own claims; `schema` is as received."""

    name: str
    title: str | None
    description: str
    schema: JsonObject
    reads_only: bool = False
    destroys: bool = False


class PromptArgument(Value):
    """An argument of a prompt."""

    name: str
    description: str | None = None
    required: bool = False


class OfferedPrompt(Value):
    """A prompt that people can use."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


class OfferedResource(Value):
    """A document, or with `template` a pattern (RFC 6570) for addresses of documents."""

    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None
    template: bool = False


class ServerCatalog(Value):
    """The current offer of a server. `instructions` is its text for models."""

    tools: tuple[OfferedTool, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    resources: bool = False
    instructions: str = ""


NOTHING = ServerCatalog()


class ServerConnection(Protocol):
    """A running server. Every request is limited to `within` seconds; failures are a `ToolError`.

    Callers of a request can be cancelled at once; the server is notified in the background.
    """

    @property
    def offer(self) -> ServerCatalog:
        """The current offer."""
        ...

    async def open(self) -> None:
        """Run the handshake and fetch the offer."""
        ...

    async def attend(self, changed: Callable[[], Awaitable[None]]) -> None:
        """Keep `offer` up to date, calling `changed`, until the server is lost.

        Raises:
            ServerFailed: Always, in the end.
        """
        ...

    async def roots_changed(self) -> None:
        """Notify the server of other session directories."""
        ...

    async def call(self, tool: str, arguments: JsonObject, *, within: float, on_progress: OnProgress) -> ToolResult:
        """Call a tool; progress extends the time limit, up to ten times its length.

        Raises:
            ToolError: It could not be called.
            ServerFailed: The server was lost meanwhile.
        """
        ...

    async def prompt(self, name: str, arguments: Mapping[str, str], *, within: float) -> tuple[ContentPart, ...]:
        """The content of a prompt, filled in."""
        ...

    async def resources(self, *, within: float) -> Sequence[OfferedResource]:
        """Its documents, then its templates."""
        ...

    async def read(self, uri: str, *, within: float) -> tuple[ContentPart, ...]:
        """A document."""
        ...
