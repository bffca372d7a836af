"""The inputs of a provider factory. An entry point of `claw_acp.providers` names a wire family and its factory."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from claw_acp.contracts.provider import ModelInfo, Provider
from claw_acp.core.address import secrets_in
from claw_acp.core.clock import SYSTEM_CLOCK, Clock
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value, made_by

EffortStyle = Literal["reasoning_effort", "reasoning", "thinking", "thinking_effort", "enable_thinking", "none"]


class Quirks(Value):
    """Differences of a service from its wire family, as data; None and empty: none.

    Attributes:
        auth: How the key travels: `bearer`, `x-api-key`, `api-key`, `header:NAME`, `zhipu-jwt` or `none`.
        path: The path of chat requests below the base URL.
        models_path: The path of the list of models; empty when the service has none.
        system: Whether it accepts messages of the role system; else they go into the first user message.
        tools: Whether its models support native tools; else they are described in text.
        reasoning: The member in which earlier thinking is sent back; `none`: it is not.
        effort: How thinking is requested: `reasoning_effort`, `reasoning` (an object with an effort), `thinking` (on or
            off), `thinking_effort` (on or off, and `reasoning_effort`), `enable_thinking` or `none`.
        max_tokens: The member that limits an answer.
        stream_usage: Whether it accepts `stream_options`.
        tool_stream: Whether it needs `tool_stream` to stream tool calls.
        user_first: Whether the first message after the instructions must be a user's.
        cache_marks: Whether requests mark how far the prompt is to be cached; some models cache only what is marked.
        cache_min_chars: Prompts of fewer characters are not marked.
    """

    auth: str | None = None
    path: str | None = None
    models_path: str | None = None
    system: bool | None = None
    tools: bool | None = None
    reasoning: Literal["reasoning_content", "reasoning", "none"] | None = None
    effort: EffortStyle | None = None
    max_tokens: Literal["max_tokens", "max_completion_tokens"] | None = None
    stream_usage: bool | None = None
    tool_stream: bool | None = None
    user_first: bool | None = None
    cache_marks: bool | None = None
    cache_min_chars: int | None = None

    def over(self, known: "Quirks") -> "Quirks":
        """These, with missing fields filled in from `known`."""
        own = {name: getattr(self, name) for name in Quirks.fields}
        return Quirks(**{name: getattr(known, name) if said is None else said for name, said in own.items()})


NO_QUIRKS = Quirks()


class ConnectionOptions(Value):
    """Options of the connection to a service that differ from the defaults.

    Attributes:
        proxy: The proxy to use instead of the environment's; empty: none is set.
        ca_file: Certificates (PEM) to trust besides the usual ones.
        connect_timeout: Seconds until a connection must stand; None: the default.
    """

    proxy: str = ""
    ca_file: Path | None = None
    connect_timeout: float | None = None


class ProviderProgram(Value):
    """The program behind a `binary` provider.

    Attributes:
        command: A path, or a name on the PATH.
        args: Its arguments.
        env: Variables added to those of our own environment.
        cwd: Its working directory; None: ours.
        protocol: Its protocol; `auto`: detected.
    """

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, Secret], ...] = ()
    cwd: Path | None = None
    protocol: Literal["auto", "oneshot", "session"] = "auto"


class Cassette(Value):
    """A file of HTTP exchanges that is recorded (`record`), or answers instead of the service (`replay`)."""

    path: Path
    mode: Literal["record", "replay"]


def _nothing(model: str) -> ModelInfo | None:  # noqa: ARG001 - nothing is known of any
    return None


class BackgroundTasks(Protocol):
    """A place for work that outlives a request, such as a task group."""

    def start_soon(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> object:
        """Run `work` in a task of its own."""
        ...


class ProviderSetup(Value):
    """One configured provider. Equal setups make interchangeable providers, so a provider can be kept by its setup.

    Attributes:
        name: Its configured name; errors carry it.
        kind: The wire family.
        base_url: The service's address without a trailing slash; empty leaves the family's own.
        api_key: The key, if any.
        headers: More headers for each request, by lower-case name; they win over the family's own.
        timeout: Seconds to wait for the next piece of an answer; None leaves the family's own limits. For a program:
            seconds for the whole call.
        script: The script of a `scripted` provider.
        quirks: The differences of the service from its family.
        body: More members for the body of each request, as the JSON text of an object; empty: none.
        connection: The options of the connection.
        region: The region of a Bedrock provider; empty leaves it to the environment.
        api_version: The `api-version` of an Azure provider.
        environ: The environment variables that the family reads itself (`AWS_*`), sorted by name.
        program: The program behind a `binary` provider.
        cassette: The file of recorded exchanges.
        clock: The time, for waits and dates.
        about: The current facts about a model: lists arrive while providers are in use.
        tasks: Runs work beside requests; None: tasks of the provider's own.
    """

    name: str
    kind: str
    base_url: str = ""
    api_key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()
    timeout: float | None = None
    script: Path | None = None
    quirks: Quirks = NO_QUIRKS
    body: str = ""
    connection: ConnectionOptions = made_by(default_factory=ConnectionOptions)
    region: str = ""
    api_version: str = ""
    environ: tuple[tuple[str, Secret], ...] = ()
    program: ProviderProgram | None = None
    cassette: Cassette | None = None
    clock: Clock = SYSTEM_CLOCK
    about: Callable[[str], ModelInfo | None] = _nothing
    tasks: BackgroundTasks | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be shown.

        The key, the values of headers whose names suggest a secret, and the credentials and query values of its
        addresses.
        """
        key = (self.api_key.reveal(),) if self.api_key else ()
        program = self.program.env if self.program else ()
        named = (*self.headers, *self.environ, *program)
        telling = (value.reveal() for name, value in named if any(word in name.lower() for word in SECRET_NAME_PARTS))
        said = (part for value in telling for part in {value, value.split(" ")[-1]} if part)
        return (*key, *said, *secrets_in(self.base_url), *secrets_in(self.connection.proxy))


SECRET_NAME_PARTS = ("auth", "key", "token", "secret", "cookie", "passw", "credential", "session")
"""Parts of header names whose values are secrets."""

ProviderFactory: TypeAlias = Callable[[ProviderSetup], Provider]
"""Creates a provider; touches neither network nor disk before the first request, unless the setup names a file."""
