"""The whole configuration file, as types. A key is here only when some code reads it; a test holds us to that."""

from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from claw_acp.config.fields import ExactAddress, FilePath, Money, Name, SecretTexts, Section, Texts
from claw_acp.config.message_pattern import check_pattern
from claw_acp.config.provider_section import ProviderSection

Mode = Literal["plan", "ask", "edit", "auto"]
MODES: tuple[Mode, ...] = get_args(Mode)
"""Strictest first."""
ModelReferenceUse = Literal["published", "installed", "off"]
REFERENCE_USES: tuple[ModelReferenceUse, ...] = get_args(ModelReferenceUse)

PROVIDER_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""A provider's name is the part of a model's name before the first `/`; names of MCP servers are made alike."""


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


class RuleSection(Section):
    """`[[rules]]`: sends a message to a route, when the model is `hint:auto`. All conditions given must hold.

    Attributes:
        route: A name of `[routes]`.
        keywords: Words of which the message has one, in any case.
        pattern: A regular expression that is found in the first 500 characters of the message.
        min_length: The least length of the message, in characters.
        max_length: The greatest.
    """

    route: Name
    keywords: Texts = ()
    pattern: Annotated[str, Field(min_length=1), AfterValidator(check_pattern)] | None = None
    min_length: int = Field(default=0, ge=0)
    max_length: int | None = Field(default=None, ge=0)


class BudgetSection(Section):
    """`[budget]`, in US dollars. Before a model request that may pass one of them, a person is asked.

    Attributes:
        daily: For one day, in local time.
        monthly: For one month.
        session: For one session.
        warn: The share of a budget at which a warning is shown.
    """

    daily: Money | None = None
    monthly: Money | None = None
    session: Money | None = None
    warn: float = Field(default=0.8, gt=0, le=1)


class PriceSection(Section):
    """`[prices."provider/model"]`: US dollars for a million tokens; a cache may have prices of its own."""

    input: Money
    output: Money
    cached_read: Money | None = None
    cached_write: Money | None = None


class McpSection(Section):
    """`[mcp.NAME]`: a server of the Model Context Protocol that every session has; `command` or `url` says where.

    Attributes:
        command: The program to run: on the PATH, or with a slash a path, relative to the file.
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

    command: Name | None = None
    args: Annotated[tuple[str, ...], Field(strict=False)] = ()
    env: SecretTexts = Field(default_factory=dict)
    cwd: FilePath | None = None
    url: ExactAddress | None = None
    type: Literal["http", "sse"] = "http"
    headers: SecretTexts = Field(default_factory=dict)
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
        model: `provider/model`, or `hint:NAME` for a route.
        vision_model: The model that gets prompts with pictures when the chosen one cannot see.
        protocol_2: Whether editors that ask for protocol 2, a draft, get it.
        local_servers: Whether model servers on this machine are looked for.
        model_lists: Whether providers that can be used are asked, once a day, which models they have.
        model_reference: What is used of what others publish of models, such as prices and windows: the newest, looked
            for once a day (`published`), that of the installation (`installed`), or nothing (`off`).
        routes: Names for models: `hint:NAME` stands for one.
        rules: Which message goes to which route, when the model is `hint:auto`; the first that fits decides.
    """

    model: Name | None = None
    vision_model: Name | None = None
    mode: Mode = "ask"
    protocol_2: bool = True
    local_servers: bool = True
    model_lists: bool = True
    model_reference: ModelReferenceUse = "published"
    providers: dict[Annotated[str, Field(pattern=PROVIDER_NAME)], ProviderSection] = Field(
        default_factory=dict[str, ProviderSection]
    )
    permissions: PermissionsSection = Field(default_factory=PermissionsSection.unset)
    limits: LimitsSection = Field(default_factory=LimitsSection.unset)
    routes: dict[Annotated[str, Field(pattern=PROVIDER_NAME)], Name] = Field(default_factory=dict[str, str])
    rules: Annotated[tuple[RuleSection, ...], Field(strict=False)] = ()
    budget: BudgetSection = Field(default_factory=BudgetSection.unset)
    prices: dict[Name, PriceSection] = Field(default_factory=dict[str, PriceSection])
    mcp: dict[Annotated[str, Field(pattern=PROVIDER_NAME)], McpSection] = Field(default_factory=dict[str, McpSection])
