"""Accounts: logging in and out, and the provider overrides of clients, for the whole process."""

import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

from anyio import to_thread

from claw_acp.config.credential_store import CredentialStore, Store, default_store
from claw_acp.config.current import CurrentSettings
from claw_acp.config.locations import Locations
from claw_acp.config.overrides import Headers, ProviderOverride
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.address import shown_address
from claw_acp.core.errors import AuthRequired, ClawError, InvalidRequest
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.checks.key_check import KeyCheck, check_key
from claw_acp.providers.registry.keys import FoundKey, find_key
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.services import API_TYPES, OFFLINE
from claw_acp.providers.selection.available_models import usable
from claw_acp.providers.selection.resolve import resolve
from claw_acp.providers.selection.resolved_model import ResolvedModel
from claw_acp.runtime.audited import record
from claw_acp.runtime.key_status import KeyStatus

log = logging.getLogger(__name__)

State = Literal["authenticated", "unauthenticated", "not_required", "unknown"]

HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
USUAL_ROUTES = frozenset({"anthropic", "openai"})
"""The providers that every client may configure."""

OURS = frozenset({"connection", "content-length", "content-type", "accept-encoding", "transfer-encoding"})
"""Headers of the transport itself, which clients cannot set."""


class Account(Value):
    """A known key, described for people; `active` when new sessions use it."""

    label: str
    active: bool


class AccountStatus(Value):
    """The status of the accounts: whether sessions can be started.

    Attributes:
        state: In ACP's terms.
        accounts: Every provider that has a key.
        set_up: Whether a model answers that a person chose or gave a key; False for the offline assistant.
        provider: The provider that new sessions use, or would use if it had a key; empty when none is chosen.
    """

    state: State
    accounts: tuple[Account, ...]
    set_up: bool
    provider: str


class Route(Value):
    """The destination of requests to a provider; `base_url` without secrets, empty when the provider is disabled."""

    provider: str
    api_type: str
    base_url: str
    required: bool
    off: bool


class Accounts:
    """The accounts of a process.

    Args:
        configuration: The settings of keys and providers.
        keys: The keys that services refused.
        locations: The directories of stored logins.
        environ: The environment, which may have keys as well.
        on_listed: Called with the models that a service listed when a key was tested: provider, address, models.
    """

    def __init__(
        self,
        configuration: CurrentSettings,
        *,
        keys: KeyStatus,
        locations: Locations,
        environ: Mapping[str, str],
        on_listed: Callable[[str, str, Sequence[ModelInfo]], Awaitable[None]],
    ) -> None:
        self._configuration = configuration
        self._key_status = keys
        self._on_listed = on_listed
        self._environ = environ
        self._store = CredentialStore(locations, environ)

    # ------------------------------------------------------------------ looking

    def status(self) -> AccountStatus:
        """The current status, without asking any service."""
        settings = self._configuration.for_folder(None)
        wanted = (settings.model or "").partition("/")[0]
        choice: ResolvedModel | None = None
        state: State = "unauthenticated"
        try:
            choice = resolve(settings, model=None)
            state = self._state(choice)
        except AuthRequired:
            pass
        except ClawError:
            state = "unknown"
        active = wanted if choice is None else choice.target.provider
        return AccountStatus(
            state=state,
            accounts=tuple(_account(profile, key, active=active) for profile, key in self._keys()),
            set_up=choice is not None and (choice.target.provider != OFFLINE.name or settings.model is not None),
            provider="" if active == OFFLINE.name else active,
        )

    def check(self) -> None:
        """Raise the error that a new session would fail with.

        Raises:
            AuthRequired: The configured model has no usable key.
            ConfigError: It is not configured completely.
        """
        resolve(self._configuration.for_folder(None), model=None)

    def look_again(self) -> None:
        """Drop cached keyring and command keys."""
        self._configuration.secrets.clear()

    def candidates(self) -> Sequence[ProviderProfile]:
        """The providers that accept a key, in the order in which one is chosen."""
        return [profile for profile in self._cards() if profile.takes_login and not profile.off]

    # ------------------------------------------------------------------ logging in and out

    async def log_in(self, provider: str, key: Secret, *, tried: bool = True) -> KeyCheck | None:
        """Test a key and store it; with `tried` off it is stored untested.

        Returns the service's answer, if it was asked.

        Raises:
            InvalidRequest: There is no such provider.
            AuthRequired: The key plainly belongs to another vendor.
            ProviderError: The service refused the key, or could not be asked.
            ConfigError: It cannot be stored.
        """
        profile = next((profile for profile in self.candidates() if profile.name == provider), None)
        if profile is None:
            raise InvalidRequest(f'there is no provider "{provider}" that takes a key')
        key_check = await check_key(profile, key) if tried else None
        store = await self.keep(provider, key)
        if key_check is not None and key_check.listed:
            await self._on_listed(profile.name, profile.base_url, key_check.listed)
        log.info("logged in", extra={"provider": provider, "kept_in": store})
        return key_check

    async def keep(self, provider: str, key: Secret) -> Store:
        """Store a key for later processes as well, in the best store here.

        Raises:
            ConfigError: It cannot be stored.
        """
        store = await to_thread.run_sync(default_store, self._environ)
        await record(self._configuration, "login", by="a client", provider=provider, store=store)
        await to_thread.run_sync(partial(self._store.keep, provider, key, store=store))
        self._configuration.for_folder(None)  # now, so that all who watch hear of it
        return store

    async def unencrypted_place(self) -> str:
        """The file that keeps a key as it is, because no keyring works here and no passphrase is named; else empty.

        Whoever enters a key must be told before.
        """
        store = await to_thread.run_sync(default_store, self._environ)
        return str(self._store.path) if store == "plain" else ""

    async def log_out(self) -> Sequence[str]:
        """Remove every login and all overrides of this process; returns where keys remain, for people.

        Raises:
            ConfigError: A key could not be removed; the text says which.
        """
        await record(self._configuration, "logout", by="a client", provider="all")
        try:
            gone = await to_thread.run_sync(self._store.forget_all)
        finally:
            self._configuration.forget()
            self._configuration.for_folder(None)
        stays = [f"{profile.name}: {key.brief}" for profile, key in self._keys()]
        log.info("logged out", extra={"forgotten": ", ".join(gone) or "-", "keys_that_stay": ", ".join(stays) or "-"})
        return stays

    # ------------------------------------------------------------------ what a client sets

    def routes(self) -> Sequence[Route]:
        """The destinations of requests, for the providers that every client may configure and all that are used.

        Any other known service can be set as well; a list of ninety would be of no use.
        """
        settings = self._configuration.for_folder(None)
        used = {profile.name for profile in usable(settings)}.union(settings.providers, settings.overrides.by_provider)
        return [route for route in self._all_routes() if route.provider in used | USUAL_ROUTES]

    def _all_routes(self) -> Sequence[Route]:
        wanted = (self._configuration.for_folder(None).model or "").partition("/")[0]
        return [
            Route(
                provider=profile.name,
                api_type=API_TYPES[profile.kind],
                base_url=shown_address(profile.base_url),
                required=profile.name == wanted,
                off=profile.off,
            )
            for profile in self._cards()
            if profile.kind in API_TYPES and profile.base_url
        ]

    def set_route(self, provider: str, *, api_type: str, base_url: str, headers: Mapping[str, str]) -> None:
        """Send the requests of a provider elsewhere, until the process ends or `log_out`.

        Raises:
            InvalidRequest: Unknown provider, an API it does not speak, or an invalid address or header.
        """
        route = next((route for route in self._all_routes() if route.provider == provider), None)
        if route is None:
            known = ", ".join(route.provider for route in self.routes())
            raise InvalidRequest(f"there is no provider {provider!r} that can be set; there are: {known}")
        if api_type != route.api_type:
            raise InvalidRequest(f"{provider} cannot speak the API {api_type!r}; it speaks: {route.api_type}")
        kind = next(kind for kind, name in API_TYPES.items() if name == api_type)
        override = ProviderOverride(kind=kind, base_url=_address(base_url), headers=_checked(headers))
        self._configuration.override(provider, override)
        log.info("provider set by the client", extra={"provider": provider, "headers": len(headers)})

    def disable(self, provider: str) -> None:
        """Disable a provider; an unknown one is not used anyway.

        Raises:
            InvalidRequest: It is the provider of the configured model.
        """
        route = next((route for route in self._all_routes() if route.provider == provider), None)
        if route is None or route.off:
            return
        if route.required:
            model = self._configuration.for_folder(None).model
            raise InvalidRequest(f"{provider} cannot be switched off: the configured model is {model}")
        self._configuration.override(provider, None)
        log.info("provider switched off by the client", extra={"provider": provider})

    # ------------------------------------------------------------------ inside

    def _state(self, choice: ResolvedModel) -> State:
        if all(self._key_status.is_refused(setup) for setup in choice.keys):
            return "unauthenticated"
        return "authenticated" if choice.key_source or choice.setup.secrets else "not_required"

    def _cards(self) -> Sequence[ProviderProfile]:
        return tuple(provider_profiles(self._configuration.for_folder(None)).values())

    def _keys(self) -> Iterator[tuple[ProviderProfile, FoundKey]]:
        settings = self._configuration.for_folder(None)
        wanted = (settings.model or "").partition("/")[0]
        for profile in self._cards():
            if profile.service and profile.service.same_as and profile.name not in {wanted, *settings.providers}:
                continue
            try:
                profile.check()
                key = find_key(profile, settings=settings, named=profile.name == wanted)
            except ClawError:
                continue  # no key, or none that could be used
            if profile.overridden:
                secrets = [value for _, value in profile.headers]
                key = FoundKey(secret=secrets[0], source="the client", brief="the client") if secrets else None
            if key is not None:
                yield profile, key


def _account(profile: ProviderProfile, key: FoundKey, *, active: str) -> Account:
    name = profile.service.vendor if profile.service else profile.name
    return Account(label=f"{name} API key ({key.brief})", active=profile.name == active)


def _address(text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and text.isprintable()
    except ValueError:
        usable = False
    if not usable:
        raise InvalidRequest("`baseUrl` must be an address with http:// or https://")
    return text.rstrip("/")


def _checked(headers: Mapping[str, str]) -> Headers:
    for name, value in headers.items():
        if not re.fullmatch(HEADER_NAME, name) or name.lower() in OURS:
            raise InvalidRequest(f"`headers` cannot hold {name!r}")
        if not (value.isascii() and value.isprintable()):
            raise InvalidRequest(f"`headers` has a value for {name!r} that cannot be sent: only printable ASCII can")
    return tuple((name.lower(), Secret(value)) for name, value in headers.items())
