"""The whole configuration file, as types. A key is here only when some code reads it; a test holds us to that."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, get_args
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.secret_text import SecretText
from claw_acp.contracts.provider import Effort

Mode = Literal["plan", "ask", "edit", "auto"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""Strictest first."""

PROVIDER_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""A provider's name is the part of a model's name before the first `/`; names of MCP servers are made alike."""


def _key_reference(value: object) -> KeyReference:
    if isinstance(value, KeyReference):
        return value
    if not isinstance(value, str):
        raise ValueError("must be text: env:NAME, file:PATH, keyring:NAME, command:LINE or the key itself")  # noqa: TRY004 - pydantic reports ValueError
    return KeyReference.parse(value)


def _secret_text(value: object) -> SecretText:
    if isinstance(value, SecretText):
        return value
    if not isinstance(value, str):
        raise ValueError("must be text: the value itself, env:NAME, file:PATH, keyring:NAME or command:LINE")  # noqa: TRY004 - pydantic reports ValueError
    return SecretText.parse(value)


def _address(value: object) -> str:
    return _exact_address(value).rstrip("/")


def _exact_address(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be text, as in http://127.0.0.1:8080/v1")  # noqa: TRY004 - pydantic reports ValueError
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an address with http:// or https://, as in http://127.0.0.1:8080/v1")
    return value


def _path(value: object) -> Path:
    if isinstance(value, Path):
        return value
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be the path of a file")
    return Path(value)


Texts: TypeAlias = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False)]
"""A list of texts; not strict, because TOML arrays arrive as lists."""


class Section(BaseModel):
    """The base of every table: exact types (`true` is not a number), unknown keys refused, immutable.

    What checks a table is built when the first file is read: most people have none, and it takes 20 ms.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    @classmethod
    def unset(cls) -> Self:
        """The table with nothing set. Unlike a call of the class it checks nothing, defaults being right."""
        return cls.model_construct()


class Options(Section):
    """`[providers.NAME.options]`: sampling for every request to this provider; unset leaves the vendor's default."""

    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    stop: Texts = ()
    effort: Effort | None = None


class ProviderSection(Section):
    """`[providers.NAME]`. For a name the product knows, only what differs needs to be said.

    Attributes:
        kind: The wire family; required unless the name is known.
        api_key: The key, or where it is.
        base_url: The service's address, without a trailing slash.
        models: The models to offer; the first is the default.
        script: The script of a `scripted` provider.
        timeout: Seconds to wait for the next piece of an answer; None leaves the family's own limit.
        options: Sampling.
    """

    kind: Annotated[str, Field(min_length=1)] | None = None
    api_key: Annotated[KeyReference, BeforeValidator(_key_reference)] | None = None
    base_url: Annotated[str, BeforeValidator(_address)] | None = None
    models: Texts = ()
    script: Annotated[Path, BeforeValidator(_path)] | None = None
    timeout: float | None = Field(default=None, gt=0, le=3600)
    options: Options = Field(default_factory=Options.unset)


class PermissionsSection(Section):
    """`[permissions]`: rules `tool` or `tool(pattern)`. Deny beats ask beats allow."""

    allow: Texts = ()
    ask: Texts = ()
    deny: Texts = ()


class LimitsSection(Section):
    """`[limits]`.

    Attributes:
        max_turn_requests: Model requests in one turn.
    """

    max_turn_requests: int = Field(default=50, ge=1, le=1000)


SecretTexts: TypeAlias = dict[Annotated[str, Field(min_length=1)], Annotated[SecretText, BeforeValidator(_secret_text)]]


class McpSection(Section):
    """`[mcp.NAME]`: a server of the Model Context Protocol that every session has; `command` or `url` says where.

    Attributes:
        command: The program to run, found on the PATH unless it is a path.
        args: Its arguments.
        env: Variables it gets besides a few of ours.
        cwd: Where it runs; None: in the session's directory.
        url: The address of one that runs already.
        type: How that speaks: streamable HTTP, or the older HTTP with server-sent events.
        headers: What every request to it carries.
        timeout: Seconds a call may take without a sign of life.
        start_timeout: Seconds until it must have said what it offers.
        enabled: Whether it is used at all.
    """

    command: Annotated[str, Field(min_length=1)] | None = None
    args: Annotated[tuple[str, ...], Field(strict=False)] = ()
    env: SecretTexts = Field(default_factory=dict[str, SecretText])
    cwd: Annotated[Path, BeforeValidator(_path)] | None = None
    url: Annotated[str, BeforeValidator(_exact_address)] | None = None
    type: Literal["http", "sse"] = "http"
    headers: SecretTexts = Field(default_factory=dict[str, SecretText])
    timeout: float = Field(default=120, gt=0, le=3600)
    start_timeout: float = Field(default=30, gt=0, le=600)
    enabled: bool = True

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either `command`, for a program, or `url`, for a server that runs already")
        used = self.model_fields_set
        strange = used & ({"type", "headers"} if self.command else {"args", "env", "cwd"})
        if strange:
            where = "command" if self.command else "url"
            raise ValueError(f"{', '.join(f'`{name}`' for name in sorted(strange))} cannot stand beside `{where}`")
        return self


class ConfigFile(Section):
    """One `config.toml`. What was set in it, and not left to a default, is in `model_fields_set`.

    Attributes:
        protocol_2: Whether editors that ask for protocol 2, a draft, get it.
    """

    model: Annotated[str, Field(min_length=1)] | None = None
    mode: Mode = "ask"
    protocol_2: bool = True
    providers: dict[Annotated[str, Field(pattern=PROVIDER_NAME)], ProviderSection] = Field(
        default_factory=dict[str, ProviderSection]
    )
    permissions: PermissionsSection = Field(default_factory=PermissionsSection.unset)
    limits: LimitsSection = Field(default_factory=LimitsSection.unset)
    mcp: dict[Annotated[str, Field(pattern=PROVIDER_NAME)], McpSection] = Field(default_factory=dict[str, McpSection])
