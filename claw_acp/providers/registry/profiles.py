"""Every known provider: the table of services, overlaid with the user's configuration."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.discovered_models import NOTHING_DISCOVERED, DiscoveredModels, FoundServer
from claw_acp.config.overrides import Headers
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.server_places import LOCAL_SERVERS, local_address
from claw_acp.config.settings import DEFAULT, Origin, Settings
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value, replace
from claw_acp.providers.binary import PLUGIN_DEFAULT
from claw_acp.providers.models.lineage import lineage, newest, steady
from claw_acp.providers.registry.program_file import missing_program
from claw_acp.providers.registry.service import KnownService, ModelRole
from claw_acp.providers.registry.services import KEY_KINDS, OFFLINE, SERVICES, service_called
from claw_acp.providers.registry.wire_families import is_known, nearest

OFFERED = 40
"""Models of one provider to offer; a picker with thousands is of no use, and any name can still be typed."""

SignIn: TypeAlias = Literal["", "possible", "missing", "ready"]

log = logging.getLogger(__name__)

_NO_SECTION = ProviderSection()


class ProviderProfile(Value):
    """A known or configured provider, before its key is looked up.

    Attributes:
        name: Its configured name.
        kind: The wire family; empty when the configuration lacks it.
        base_url: The address in force; empty when there is none.
        base_url_origin: The origin of the address.
        service: The row of the table, None for a service of the user's own.
        section: The user's configuration, or an empty section.
        overridden: Whether a client has set address and headers for this process (ACP: `providers/set`).
        headers: Further headers of its requests.
        off: Whether a client has disabled it (ACP: `providers/disable`).
        found: The server on this machine that answered as this provider, if any.
        discovered: The models and facts found at run time.
        sign_in: Whether requests can be signed instead of using a key: `ready` when credentials are set up, `missing`
            when the package for them is not installed, `possible` when the provider is configured without a key; else
            empty.
        invalid: The fault in its table that changes what is run or called; None: none.
        path: The PATH for its program.
    """

    name: str
    kind: str
    base_url: str
    base_url_origin: Origin
    service: KnownService | None
    section: ProviderSection
    overridden: bool = False
    headers: Headers = ()
    off: bool = False
    found: FoundServer | None = None
    discovered: DiscoveredModels = NOTHING_DISCOVERED
    sign_in: SignIn = ""
    invalid: Diagnostic | None = None
    path: str | None = None

    @property
    def local(self) -> bool:
        """True if it is by nature a server on this machine, whatever the user configured."""
        return self.service is not None and self.service.local

    @property
    def at_home(self) -> bool:
        """True if requests go to the vendor itself, which requires a key of its own."""
        if self.service is None or self.service.local or self.kind == OFFLINE.kind:
            return False
        return self.service.own_address or self.base_url == self.service.base_url

    @property
    def needs_key(self) -> bool:
        """True if every request without a key fails."""
        return self.at_home and not self.overridden and self.sign_in != "ready" and self.section.replay is None

    @property
    def listed(self) -> tuple[ModelInfo, ...]:
        """The models that the service lists, best first; empty while unknown."""
        return self.discovered.listed(self.name, self.base_url)

    def about(self, model: str) -> ModelInfo | None:
        """The facts about one of its models; None when unknown."""
        return self.discovered.about(self.name, self.base_url, model)

    @property
    def models(self) -> tuple[str, ...]:
        """The models to offer; the first is the default. At most `OFFERED`, unless the user lists more."""
        if self.section.models:
            return self.section.models
        known = tuple(self.roles)
        if not known and self.listed and self.service and self.service.roles:
            known = (steady(self.listed),)
        if not self.listed:
            return (PLUGIN_DEFAULT,) if self.kind == "binary" and not known else known
        return tuple(dict.fromkeys([*known, *(model.id for model in self.listed)]))[:OFFERED]

    @property
    def roles(self) -> Mapping[str, ModelRole]:
        """The model for each role of the service, best first: from its list, else from published facts."""
        roles = self.service.roles if self.service else ()
        known = self.listed or self._published
        filled: dict[str, ModelRole] = {}
        for role in roles:
            model = newest(known, role.of) or ("" if self.listed else role.last_resort)
            if model:
                filled.setdefault(model, role)
        return filled

    def named(self, model: str) -> str:
        """The model of a name: for the name of a role (`claude-haiku`), the newest of its family."""
        roles = self.service.roles if self.service else ()
        role = next((role for role in roles if model in role.families), None)
        known = self.listed or self._published
        if role is None or any(info.id == model for info in known):
            return model
        return newest(known, [lineage(model).family]) or role.last_resort

    @property
    def _published(self) -> Sequence[ModelInfo]:
        reference = self.discovered.reference
        return () if reference is None else reference.models(self.base_url)

    @property
    def takes_login(self) -> bool:
        """True if it only needs a key."""
        own_way = self.service is not None and (self.service.local or self.service.same_as)
        return self.kind in KEY_KINDS and bool(self.base_url) and not own_way

    def check(self) -> None:
        """Raise ConfigError when the provider cannot work as configured; the text says what to add or correct.

        Required files are looked up, which takes some microseconds; nothing is run or called.
        """
        table = f"[providers.{self.name}]"
        if self.off:
            raise ConfigError(f'the provider "{self.name}" is switched off by the client; choose another model')
        if self.invalid is not None:
            raise ConfigError(_invalid(self.invalid, table=table))
        self._check_place(table)
        self._check_files(table)

    def _check_place(self, table: str) -> None:
        if not self.kind:
            raise ConfigError(f'{table} needs a kind, the wire family the service speaks: kind = "openai"')
        if not is_known(self.kind):
            raise ConfigError(f'{table} has the unknown kind "{self.kind}"; {nearest(self.kind)}')
        if self.service is not None and self.service.own_address and not self.base_url:
            variable = f", or the environment variable {self.service.url_variable}" if self.service.url_variable else ""
            raise ConfigError(f"{table} needs the address that you have there: base_url{variable}")
        if self.kind in {"openai", "azure", "responses"} and not self.base_url:
            raise ConfigError(f'{table} needs the address of the service: base_url = "http://127.0.0.1:8080/v1"')
        if self.kind in {"offline", "scripted", "binary"} and (self.section.record or self.section.replay):
            raise ConfigError(f"{table} exchanges nothing over HTTP; take out `record` and `replay`")

    def _check_files(self, table: str) -> None:
        if self.kind == "scripted" and self.section.script is None:
            raise ConfigError(f'{table} plays a script; name it: script = "PATH"')
        if self.kind == "scripted" and self.section.script is not None and not self.section.script.is_file():
            raise ConfigError(f"{table} cannot play its script: there is no file {self.section.script}")
        if self.kind == "binary" and self.section.command is None:
            raise ConfigError(f'{table} runs a program; name it: command = "PATH"')
        if self.kind == "binary" and (why := missing_program(self.section, path=self.path)):
            raise ConfigError(f"{table} cannot be run: {why}")


def _invalid(finding: Diagnostic, *, table: str) -> str:
    """The text about an invalid value, which comes first: lists show only the beginning."""
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    advice = f"; {finding.suggestion}" if finding.suggestion else ""
    key = finding.key.removeprefix(table[1:-1]).lstrip(".")
    what = f"{key} in {table}" if key else table
    return f"{what} is wrong: {finding.message}{advice} ({place}). It is not used until that is corrected"


class ProviderProfiles(Mapping[str, ProviderProfile]):
    """The profiles, each created when it is read. Other names of a service give its profile as well."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        names = dict.fromkeys([*SERVICES, *settings.providers, *settings.invalid])
        del names[OFFLINE.name]
        self._names = {**names, OFFLINE.name: None}

    def __getitem__(self, name: str) -> ProviderProfile:
        own = name if name in self._names else service_called(name)
        if own not in self._names:
            raise KeyError(name)
        return _profile(own, settings=self._settings)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def provider_profiles(settings: Settings) -> Mapping[str, ProviderProfile]:
    """The profiles by name, in the order in which a model is chosen by default; `offline` is the last resort."""
    return ProviderProfiles(settings)


def with_list(profile: ProviderProfile, listed: Sequence[ModelInfo]) -> ProviderProfile:
    """The profile with a list that its service has just returned."""
    lists = {**profile.discovered.lists, (profile.name, profile.base_url): tuple(listed)}
    return replace(profile, discovered=replace(profile.discovered, lists=lists))


def _profile(name: str, *, settings: Settings) -> ProviderProfile:
    section = settings.providers.get(name, _NO_SECTION)
    service = SERVICES.get(service_called(name))
    if service is not None and section.kind not in {None, service.kind}:
        service = None  # only the name is the same
    base_url, origin = _address(name, section=section, service=service, settings=settings)
    override = settings.overrides.of(name)
    found = (
        settings.discovered.servers.get(name)
        if service is not None and service.local and not section.base_url
        else None
    )
    if override is not None:
        base_url, origin, found = override.base_url, Origin(kind="client"), None
    elif found is not None:
        base_url = found.base_url
    return ProviderProfile(
        name=name,
        kind=override.kind if override else section.kind or (service.kind if service else ""),
        base_url=base_url,
        base_url_origin=origin,
        service=service,
        section=section,
        overridden=override is not None,
        headers=override.headers if override else (),
        off=settings.overrides.off(name),
        found=found,
        discovered=settings.discovered,
        sign_in=_sign_in(name, service=service, settings=settings),
        invalid=settings.invalid.get(name),
        path=settings.environ.get("PATH"),
    )


def _sign_in(name: str, *, service: KnownService | None, settings: Settings) -> SignIn:
    if service is None or not service.sign_in:
        return ""
    variables = any(settings.environ.get(variable) for variable in service.sign_in)
    if variables or any((Path.home() / file).exists() for file in service.sign_in_files):
        return "ready" if find_spec(service.sign_in_module) else "missing"
    return "possible" if name in settings.providers else ""


def _address(
    name: str, *, section: ProviderSection, service: KnownService | None, settings: Settings
) -> tuple[str, Origin]:
    if section.base_url:
        return section.base_url, settings.origin(f"providers.{name}.base_url")
    if service is None:
        return "", DEFAULT
    if service.local:
        return server_address(service, settings=settings)
    if address := settings.environ.get(service.url_variable, "").strip():
        return address.rstrip("/"), Origin(kind="environment", place=service.url_variable)
    return service.base_url, DEFAULT


def server_address(service: KnownService, *, settings: Settings) -> tuple[str, Origin]:
    """The address of a model server on this machine, and its origin; invalid addresses are ignored."""
    said = {LOCAL_SERVERS: settings.server_places.get(service.name, "")}
    if service.url_variable:
        said[service.url_variable] = settings.environ.get(service.url_variable, "").strip()
    for variable, text in said.items():
        if text:
            try:
                return local_address(text, service.base_url), Origin(kind="environment", place=variable)
            except ValueError as error:
                log.info("address ignored", extra={"variable": variable, "reason": str(error)})
    return service.base_url, DEFAULT
