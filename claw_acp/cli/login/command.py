"""`claw-acp login`: give the key of a model provider; it is tested with the provider and stored."""

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

import anyio

from claw_acp.cli.current_settings import audit_here, locations_here, settings_here
from claw_acp.cli.known_models import with_kept
from claw_acp.cli.login import logout, places, questions
from claw_acp.cli.login.places import Place
from claw_acp.config.credential_store import STORES, CredentialStore, Store
from claw_acp.config.credentials import BY_LOGIN
from claw_acp.config.fields import PROVIDER_NAME
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.address import bare_address
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import AuthRequired, ClawError, ConfigError, ProviderAuthFailed, ProviderError
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value, replace
from claw_acp.providers.catalog.listings import Catalog
from claw_acp.providers.checks.key_check import KeyCheck, check_key
from claw_acp.providers.registry.keys import find_key
from claw_acp.providers.registry.overview import provider_states
from claw_acp.providers.registry.profiles import ProviderProfile, provider_profiles
from claw_acp.providers.registry.services import KEY_KINDS
from claw_acp.providers.selection.resolve import resolve

KEY_LIMIT = 16 * 1024  # characters read from a pipe
MODELS_KEPT = 50  # of those that a service of the user's own lists
MODELS_SHOWN = 3


class Given(Value):
    """The arguments of the command line."""

    provider: str
    base_url: str
    kind: str
    models: tuple[str, ...]
    store: Store | None
    from_pipe: bool
    untried: bool


def main(argv: Sequence[str]) -> int:
    """Log in; 1 if nothing was stored."""
    options = _options(argv)
    by_hand = sys.stdin is not None and sys.stdin.isatty() and not options.key_stdin
    if options.list:
        return places.show_places()
    if options.remove is not None:
        return logout.main([options.remove])
    if options.move is not None:
        return places.move_keys(options.move, by_hand=by_hand)
    given = _given(options)
    if not by_hand and not (given.from_pipe and given.provider):
        return _say_how(given)
    try:
        return _log_in(given, by_hand=by_hand)
    except (KeyboardInterrupt, EOFError):
        print("\nNothing was kept.", file=sys.stderr)
        return 1


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="claw-acp login", description="Give the key of a model provider: it is tried, then kept on this computer."
    )
    parser.add_argument("provider", nargs="?", default="", help="its name; asked for when left out")
    parser.add_argument("--key-stdin", action="store_true", help="read the key from stdin instead of asking for it")
    parser.add_argument("--base-url", default="", metavar="URL", help="the address of a service of your own")
    parser.add_argument("--kind", default="", choices=KEY_KINDS, help="the API that it speaks (default: openai)")
    parser.add_argument("--model", action="append", default=[], metavar="NAME", help="a model that it offers")
    parser.add_argument("--store", choices=STORES, help="where to keep the key (default: the keyring, if one works)")
    parser.add_argument("--untried", action="store_true", help="keep the key without trying it")
    parser.add_argument("--list", action="store_true", help="show the logins and where their keys are")
    parser.add_argument("--remove", metavar="PROVIDER", help="the same as `claw-acp logout PROVIDER`")
    parser.add_argument("--move", choices=STORES, help="keep all keys elsewhere")
    options = parser.parse_args(argv)
    if options.base_url and not options.provider:
        parser.error("a service of your own needs a name: claw-acp login NAME --base-url URL")
    return options


def _given(options: argparse.Namespace) -> Given:
    return Given(
        provider=options.provider,
        base_url=options.base_url,
        kind=options.kind,
        models=tuple(options.model),
        store=options.store,
        from_pipe=options.key_stdin,
        untried=options.untried,
    )


def _say_how(given: Given) -> int:
    name = given.provider or "PROVIDER"
    print(
        f"claw-acp login: no terminal to ask on, since stdin is none; run it in one, or pipe the key in:\n"
        f"  claw-acp login {name} --key-stdin < FILE",
        file=sys.stderr,
    )
    return 2


def _log_in(given: Given, *, by_hand: bool) -> int:
    settings = settings_here()
    profile = _profile(given, settings)
    while True:
        key = questions.ask_key(profile, optional=not profile.needs_key) if by_hand else _piped_key()
        try:
            key_check = None if given.untried else _tried(profile, key)
        except (AuthRequired, ProviderAuthFailed) as error:
            if not by_hand:
                raise
            print(f"{error.message}\n")
            continue
        except ProviderError as error:
            if not (by_hand and _wants_untried(error)):
                raise
            key_check = None
        break
    section = _section(profile, given, key_check, by_hand=by_hand)
    store = CredentialStore(locations_here(), os.environ)
    place = Place(store="plain") if key is None else places.choose_place(given.store, by_hand=by_hand)
    audit_here().record("login", {"by": "claw-acp login", "provider": profile.name, "store": place.store})
    place = _keep(store, profile.name, key, section=section, place=place, may_ask=by_hand and given.store is None)
    if key_check is not None and key_check.listed:
        _keep_list(profile, key_check.listed)
    _report(profile.name, place, store, has_key=key is not None)
    return 0


def _keep(
    store: CredentialStore, provider: str, key: Secret | None, *, section: ProviderSection | None, place: Place,
    may_ask: bool,
) -> Place:  # fmt: skip
    """Keep a key; where the keyring fails, the person may choose another place. Returns the place."""
    try:
        store.keep(provider, key, section=section, store=place.store, passphrase=place.passphrase)
    except ConfigError as error:
        if not (may_ask and place.store == "keyring"):
            raise
        print(error.message)
        place = places.ask_place()
        store.keep(provider, key, section=section, store=place.store, passphrase=place.passphrase)
    return place


# ------------------------------------------------------------------ the provider


def _profile(given: Given, settings: Settings) -> ProviderProfile:
    """The provider of the arguments.

    Raises:
        ConfigError: There is none of this name, or its description is invalid.
    """
    profiles = {name: profile for name, profile in provider_profiles(settings).items() if profile.takes_login}
    if given.base_url:
        return _own(settings, name=given.provider, kind=given.kind, base_url=given.base_url)
    if given.provider:
        profile = profiles.get(given.provider)
        if profile is None:
            raise ConfigError(
                f'there is no provider "{given.provider}" that takes a key; `claw-acp providers list` shows them. '
                f"For a service of your own: claw-acp login {given.provider} --base-url URL"
            )
        profile.check()
        return profile
    chosen = questions.choose_provider(profiles, provider_states(settings))
    if chosen is not None:
        return chosen
    name, kind = (
        questions.ask_name(list(settings.providers) + list(profiles)),
        questions.ask_kind(("openai", "anthropic")),
    )
    while True:
        try:
            return _own(settings, name=name, kind=kind, base_url=questions.ask_address())
        except ConfigError as error:
            print(error.message)


def _own(settings: Settings, *, name: str, kind: str, base_url: str) -> ProviderProfile:
    """A service described by the arguments.

    Raises:
        ConfigError: The description is invalid.
    """
    if not re.match(PROVIDER_NAME, name):
        raise ConfigError(f"{name!r} is no name for a provider; use letters, digits, dots, dashes and underscores")
    known = provider_profiles(settings).get(name)
    try:
        section = ProviderSection.validated(
            {
                "kind": kind or (known.kind if known and known.kind in KEY_KINDS else "openai"),
                "base_url": base_url,
            }
        )
    except ValueError as error:
        raise ConfigError(f"{base_url!r} is no address; write it as in http://127.0.0.1:8080/v1") from error
    profile = provider_profiles(replace(settings, providers={**settings.providers, name: section})).get(name)
    if profile is None or profile.kind not in KEY_KINDS:
        raise ConfigError(f'"{name}" takes no key')
    return profile


def _section(
    profile: ProviderProfile, given: Given, key_check: KeyCheck | None, *, by_hand: bool
) -> ProviderSection | None:
    """The section to store for a service besides its key; None for a service that needs none."""
    if not given.base_url and (profile.service is not None or profile.section.models):
        return None
    models = given.models or (key_check.models[:MODELS_KEPT] if key_check else ())
    if not models and profile.service is None and by_hand:
        models = (questions.ask_model(),)
    return ProviderSection(kind=profile.kind, base_url=profile.base_url, models=models)


# ------------------------------------------------------------------ the key


def _piped_key() -> Secret:
    lines = sys.stdin.read(KEY_LIMIT).strip().splitlines()
    if not lines:
        raise ConfigError("stdin holds no key")
    return Secret(lines[0].strip())


def _tried(profile: ProviderProfile, key: Secret | None) -> KeyCheck:
    print(f"Trying it with {urlsplit(bare_address(profile.base_url)).netloc} ...", flush=True)
    key_check = anyio.run(check_key, profile, key)
    what = "It works" if key_check.proven else "The service answers" + ("" if key is None else ", with any key")
    if key_check.models:
        shown = ", ".join(key_check.models[:MODELS_SHOWN])
        count = len(key_check.listed or key_check.models)
        more = f" and {count - MODELS_SHOWN} more" if count > MODELS_SHOWN else ""
        what += f". Models: {shown}{more}"
    print(f"{what}.")
    return key_check


def _wants_untried(error: ProviderError) -> bool:
    print(error.message)
    return questions.agrees("The key could not be tried. Keep it anyway?")


def _keep_list(profile: ProviderProfile, listed: Sequence[ModelInfo]) -> None:
    """Cache the current list of models for the next session; it can be fetched again, so errors are ignored."""
    with contextlib.suppress(OSError):
        catalog = Catalog(locations_here().cache_dir / "models")
        catalog.write(profile.name, profile.base_url, models=listed, now=SYSTEM_CLOCK.now())


# ------------------------------------------------------------------ what is said at the end


def _report(provider: str, place: Place, store: CredentialStore, *, has_key: bool) -> None:
    print(f"Kept {place.words()}." if has_key else f"Noted in {store.path}.")
    settings = with_kept(settings_here())
    profile = provider_profiles(settings)[provider]
    try:
        found = find_key(profile, settings=settings, named=True)
        if has_key and found is not None and not found.source.startswith(BY_LOGIN):
            print(f"Note: the key from {found.source} is there too, and comes first.")
        chosen = resolve(settings, model=None).name
    except ClawError as error:
        print(f"Note: {error.message}")
        return
    origin = settings.origin("model")
    because = f" ({origin.text()})" if settings.model else ""
    print(f"New sessions use {chosen}{because}.")
