"""The inputs of a provider's factory. An entry point of `claw_acp.providers` names a wire family and its factory."""

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
        system: Whether it takes messages of the role system; else they go into the first message of a person.
        tools: Whether its models can be given tools natively; else they are explained in words.
        reasoning: The member in which earlier thinking is sent back; `none` where it is not wanted.
        effort: How the wish for thinking is put: `reasoning_effort`, `reasoning` (an object with an effort), `thinking`
            (on or off), `thinking_effort` (on or off, and `reasoning_effort`), `enable_thinking` or `none`.
        max_tokens: The member that bounds an answer.
        stream_usage: Whether it takes `stream_options`.
        tool_stream: Whether it wants `tool_stream` to stream tool calls.
        user_first: Whether the first message after the instructions must be a person's.
        cache_marks: Whether requests mark how far the prompt is to be cached, for models that cache nothing without
            marks.
        cache_min_chars: The length of a prompt, in characters, below which it is not marked.
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
        """These where they say something, else what is known of the service."""
        own = {name: getattr(self, name) for name in Quirks.fields}
        return Quirks(**{name: getattr(known, name) if said is None else said for name, said in own.items()})


NO_QUIRKS = Quirks()


class ConnectionOptions(Value):
    """Options of the connection to a service, where they are not the usual ones.

    Attributes:
        proxy: The proxy to go through, in the place of the environment's; empty: none is named.
        ca_file: Certificates (PEM) to trust besides the usual ones.
        connect_timeout: Seconds until a connection must stand; None: the usual.
    """

    proxy: str = ""
    ca_file: Path | None = None
    connect_timeout: float | None = None


class ProviderProgram(Value):
    """The program behind a `binary` provider.

    Attributes:
        command: Found on the PATH unless it is a path.
        args: Its arguments.
        env: Variables it gets besides those of our own environment.
        cwd: Where it runs; None: where we run.
        protocol: How it speaks; `auto`: that is to be found out.
    """

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, Secret], ...] = ()
    cwd: Path | None = None
    protocol: Literal["auto", "oneshot", "session"] = "auto"


class Cassette(Value):
    """A file of HTTP exchanges that is written (`record`), or answers in the place of the service (`replay`)."""

    path: Path
    mode: Literal["record", "replay"]


def _nothing(model: str) -> ModelInfo | None:  # noqa: ARG001 - nothing is known of any
    return None


class BackgroundTasks(Protocol):
    """Where work goes on beside requests, such as a task group."""

    def start_soon(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> object:
        """Run `work` in a task of its own."""
        ...


class ProviderSetup(Value):
    """One configured provider. Equal setups make interchangeable providers, so a provider can be kept by its setup.

    Attributes:
        name: The name it is configured under; errors carry it.
        kind: The wire family.
        base_url: The service's address without a trailing slash; empty leaves the family's own.
        api_key: The key, None when there is none.
        headers: More headers for each request, by lower-case name; they win over the family's own.
        timeout: Seconds to wait for the next piece of an answer; None leaves the family's own limits. For a program:
            seconds for the whole call.
        script: The script of a `scripted` provider.
        quirks: Where the service differs from its family.
        body: More members for the body of each request, as the JSON text of an object; empty: none.
        connection: How the service is reached.
        region: The region of a Bedrock provider; empty leaves it to the environment.
        api_version: The `api-version` of an Azure provider.
        environ: The variables of the environment that the family looks at itself (`AWS_*`), in order of their names.
        program: The program behind a `binary` provider.
        cassette: Where exchanges are recorded, or replayed from.
        clock: Time for the provider's waits and dates.
        about: What is known of a model by its name, now: lists come in while providers are in use.
        tasks: Where the provider works beside requests; None: in tasks of its own.
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
        """Texts that must never be shown.

        The key, the values of headers that sound as if they carried one, and what its addresses hold beside a place.
        """
        key = (self.api_key.reveal(),) if self.api_key else ()
        program = self.program.env if self.program else ()
        named = (*self.headers, *self.environ, *program)
        telling = (value.reveal() for name, value in named if any(word in name.lower() for word in SECRET_NAME_PARTS))
        said = (part for value in telling for part in {value, value.split(" ")[-1]} if part)
        return (*key, *said, *secrets_in(self.base_url), *secrets_in(self.connection.proxy))


SECRET_NAME_PARTS = ("auth", "key", "token", "secret", "cookie", "passw", "credential", "session")
"""Parts of the names of headers whose values are secrets."""

ProviderFactory: TypeAlias = Callable[[ProviderSetup], Provider]
"""Makes a provider; touches neither network nor disk before the first request, unless the setup names a file."""
