"""The effective configuration: values, where each came from, and what was wrong on the way."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, get_args

from claw_acp.config.credentials import Login
from claw_acp.config.finding import Finding
from claw_acp.config.finds import NOTHING_FOUND, Finds
from claw_acp.config.key_shelf import KeyShelf
from claw_acp.config.model import (
    BudgetSection,
    LimitsSection,
    McpSection,
    Mode,
    ModelReferenceUse,
    PermissionsSection,
    PriceSection,
    RuleSection,
)
from claw_acp.config.overlay import NOTHING_SET, ProviderOverrides
from claw_acp.config.provider_section import ProviderSection
from claw_acp.core.value import Value, made_by

OriginKind = Literal["default", "user file", "project file", "login", "environment", "client"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


class Origin(Value):
    """Where a value came from. `place` is `path:line` for a file, the variable's name for the environment."""

    kind: OriginKind
    place: str = ""

    def text(self) -> str:
        """The origin for people: `environment variable CLAW_ACP_MODE`."""
        if self.kind == "default":
            return "default"
        kind = "environment variable" if self.kind == "environment" else self.kind
        return f"{kind} {self.place}".rstrip()


DEFAULT = Origin(kind="default")


class Settings(Value):
    """What applies now, for one working directory.

    Attributes:
        model: `provider/model`, or None: take the first provider that has a key.
        mode: The mode new sessions start in.
        protocol_2: Whether editors that ask for protocol 2 get it.
        providers: What the user's file says about providers, in its order, then services somebody logged in to.
        permissions: Rules of all files; the deny and ask rules of a project stand after the user's.
        limits: Bounds of a turn.
        log_level: The least severe level printed on stderr.
        trace: A file that records every frame, or None.
        findings: What was wrong with files and variables.
        origins: By dotted key (`limits.max_turn_requests`, `permissions.deny[0]`); a missing key has its default.
        environ: The environment the settings were made from; keys of providers are looked up in it.
        logins: Keys kept by logging in, by provider.
        keys: Where keys are that take time to get.
        mcp: The MCP servers that every session has, by name.
        overrides: What a client has set about providers, for this process.
        vision_model: The model for prompts with pictures when the chosen one cannot see.
        local_servers: Whether model servers on this machine are looked for.
        model_lists: Whether providers are asked which models they have.
        model_reference: What is used of what others publish of models.
        server_places: Where, by their names; empty: at the ports that they use by themselves.
        routes: Names for models.
        rules: Which message goes to which route.
        budget: What may be spent.
        prices: The user's own prices, by `provider/model`.
        spoilt: Providers that must not be used, with what is wrong about them: a value that decides what is run or
            asked could not be used, and without it they would do something else.
        finds: What was learned about providers while we run.
    """

    model: str | None
    mode: Mode
    protocol_2: bool
    providers: Mapping[str, ProviderSection]
    permissions: PermissionsSection
    limits: LimitsSection
    log_level: LogLevel
    trace: Path | None
    findings: tuple[Finding, ...]
    origins: Mapping[str, Origin]
    environ: Mapping[str, str]
    mcp: Mapping[str, McpSection] = {}
    logins: Mapping[str, Login] = {}
    keys: KeyShelf = made_by(default_factory=KeyShelf)
    overrides: ProviderOverrides = NOTHING_SET
    vision_model: str | None = None
    local_servers: bool = True
    model_lists: bool = True
    model_reference: ModelReferenceUse = "published"
    server_places: Mapping[str, str] = {}
    routes: Mapping[str, str] = {}
    rules: tuple[RuleSection, ...] = ()
    budget: BudgetSection = made_by(default_factory=BudgetSection.unset)
    prices: Mapping[str, PriceSection] = {}
    spoilt: Mapping[str, Finding] = {}
    finds: Finds = NOTHING_FOUND

    hidden: ClassVar[tuple[str, ...]] = ("environ",)

    def origin(self, key: str) -> Origin:
        """Where the value of a dotted key came from."""
        return self.origins.get(key, DEFAULT)
