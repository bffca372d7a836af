"""The effective configuration: values, the origin of each, and diagnostics."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from claw_acp.config.credentials import Login
from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.discovered_models import NOTHING_DISCOVERED, DiscoveredModels
from claw_acp.config.fields import Variable
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.model import ConfigFile
from claw_acp.config.overrides import NOTHING_SET, ProviderOverrides
from claw_acp.config.server_places import LOCAL_SERVERS, named_places
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value

OriginKind = Literal["default", "user file", "project file", "login", "environment", "client"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]


class Origin(Value):
    """The source of a value. `place` is `path:line` for a file, the variable's name for the environment."""

    kind: OriginKind
    place: str = ""

    def text(self) -> str:
        """The origin for people: `environment variable CLAW_ACP_MODE`."""
        if self.kind == "default":
            return "default"
        kind = "environment variable" if self.kind == "environment" else self.kind
        return f"{kind} {self.place}".rstrip()


DEFAULT = Origin(kind="default")


class Settings(ConfigFile):
    """The configuration in force for one working directory: the merged files, and facts from elsewhere.

    `providers` also holds the services of logins, and `permissions` the rules that a project adds.

    Attributes:
        server_places: The addresses of model servers on this machine to try, by name; by default their usual ports.
        log_level: The least severe level printed on stderr.
        trace: A file that records every frame.
        diagnostics: The mistakes in files and variables.
        origins: By dotted key (`limits.max_turn_requests`, `permissions.deny[0]`); a missing key has its default.
        environ: The environment of the settings, in which keys of providers are looked up.
        logins: Keys stored by logging in, by provider.
        invalid: Providers that must not be used, with the reason: a value that decides what is run or called is
            invalid, and without it they would do something else.
        secrets: The keys of keyrings and commands that were read already; a `SecretCache` reads them.
        overrides: The provider overrides of clients, for this process.
        discovered: The models and facts found at run time.
    """

    server_places: Annotated[Mapping[str, str], Variable(name=LOCAL_SERVERS, parse=named_places)] = {}
    log_level: Annotated[LogLevel, Variable(name="CLAW_ACP_LOG")] = "warning"
    trace: Annotated[Path | None, Variable(name="CLAW_ACP_TRACE")] = None
    diagnostics: tuple[Diagnostic, ...] = ()
    origins: Mapping[str, Origin] = {}
    environ: Mapping[str, str] = {}
    logins: Mapping[str, Login] = {}
    invalid: Mapping[str, Diagnostic] = {}
    secrets: Mapping[KeyReference, Secret] = {}
    overrides: ProviderOverrides = NOTHING_SET
    discovered: DiscoveredModels = NOTHING_DISCOVERED

    hidden: ClassVar[tuple[str, ...]] = ("environ",)

    def origin(self, key: str) -> Origin:
        """The origin of the value of a dotted key."""
        return self.origins.get(key, DEFAULT)
