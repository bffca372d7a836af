"""Every provider that can be named: the table of known services, overlaid with what the user configured."""

from collections.abc import Mapping

from claw_acp.config.overlay import Headers
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.settings import DEFAULT, Origin, Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.value import Value
from claw_acp.providers.known import OFFLINE, SERVICES, KnownService

_NO_SECTION = ProviderSection.unset()


class Card(Value):
    """What is known of one provider before a key is looked for.

    Attributes:
        name: As configured.
        kind: The wire family; empty when the configuration forgot it.
        base_url: The address in force; empty when there is none.
        base_url_origin: Where the address came from.
        service: The row of the table, None for a service of the user's own.
        section: What the user configured, empty when nothing.
        overridden: Whether a client has set address and headers for this process (ACP: `providers/set`).
        headers: What it wants to be sent.
        off: Whether a client has switched it off (ACP: `providers/disable`).
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

    @property
    def at_home(self) -> bool:
        """Whether requests go to the vendor itself, where nothing works without a key of that vendor."""
        return self.service is not None and bool(self.base_url) and self.base_url == self.service.base_url

    @property
    def needs_key(self) -> bool:
        """Whether a request without a key is hopeless."""
        return self.at_home and not self.overridden

    @property
    def models(self) -> tuple[str, ...]:
        """The models to offer; the first is the default."""
        if self.section.models or self.service is None:
            return self.section.models
        return tuple(model.id for model in self.service.models)

    def check(self) -> None:
        """Raise ConfigError when the provider cannot work as it is configured; the text says what to add."""
        table = f"[providers.{self.name}]"
        if self.off:
            raise ConfigError(f'the provider "{self.name}" is switched off by the client; choose another model')
        if not self.kind:
            raise ConfigError(f'{table} needs a kind, the wire family the service speaks: kind = "openai"')
        if self.kind == "openai" and not self.base_url:
            raise ConfigError(f'{table} needs the address of the service: base_url = "http://127.0.0.1:8080/v1"')
        if self.kind == "scripted" and self.section.script is None:
            raise ConfigError(f'{table} plays a script; name it: script = "PATH"')


def provider_cards(settings: Settings) -> Mapping[str, Card]:
    """By name, in the order in which a model is chosen when none was named; `offline` is the last resort."""
    names = dict.fromkeys([*SERVICES, *settings.providers])
    del names[OFFLINE.name]
    return {name: _card(name, settings=settings) for name in [*names, OFFLINE.name]}


def _card(name: str, *, settings: Settings) -> Card:
    section = settings.providers.get(name, _NO_SECTION)
    service = SERVICES.get(name)
    if service is not None and section.kind not in {None, service.kind}:
        service = None  # only the name is the same
    base_url, origin = _address(name, section=section, service=service, settings=settings)
    override = settings.overrides.of(name)
    return Card(
        name=name,
        kind=override.kind if override else section.kind or (service.kind if service else ""),
        base_url=override.base_url if override else base_url,
        base_url_origin=Origin(kind="client") if override else origin,
        service=service,
        section=section,
        overridden=override is not None,
        headers=override.headers if override else (),
        off=settings.overrides.off(name),
    )


def _address(
    name: str, *, section: ProviderSection, service: KnownService | None, settings: Settings
) -> tuple[str, Origin]:
    if section.base_url:
        return section.base_url, settings.origin(f"providers.{name}.base_url")
    if service is None:
        return "", DEFAULT
    if address := settings.environ.get(service.url_variable, "").strip():
        return address.rstrip("/"), Origin(kind="environment", place=service.url_variable)
    return service.base_url, DEFAULT
