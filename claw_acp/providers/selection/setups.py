"""From the configuration of a provider to its setup."""

import json
from collections.abc import Iterator, Mapping

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider_setup import (
    NO_QUIRKS,
    Cassette,
    ConnectionOptions,
    ProviderProgram,
    ProviderSetup,
    Quirks,
)
from claw_acp.core.secret import Secret
from claw_acp.providers.registry.profiles import ProviderProfile

_FAMILY_VARIABLES = {"bedrock": ("AWS_", "BEDROCK_API_KEY")}
"""The variables that a wire family reads itself, by prefix."""


def setup_of(profile: ProviderProfile, *, key: Secret | None, settings: Settings) -> ProviderSetup:
    """Make the setup of a profile with one of its keys; headers and variables not read yet are left out.

    Raises:
        ConfigError: A header or variable that is a reference cannot be resolved.
    """
    section = profile.section
    return ProviderSetup(
        name=profile.name,
        kind=profile.kind,
        base_url=profile.base_url,
        api_key=key,
        headers=(*_headers(profile, settings=settings), *profile.headers),
        timeout=section.timeout,
        script=section.script,
        quirks=quirks_of(profile),
        body=json.dumps(section.body) if section.body else "",
        connection=connection_of(section),
        region=section.region or "",
        api_version=section.api_version or "",
        environ=_environ(profile.kind, settings=settings),
        program=_program(section, settings=settings),
        cassette=_cassette(section),
    )


def unread_texts(profile: ProviderProfile, *, settings: Settings) -> tuple[KeyReference, ...]:
    """Headers and variables of a profile that take time to get and have not been read yet."""
    texts = (*profile.section.headers.values(), *profile.section.env.values())
    references = (text.reference for text in texts if text.reference.slow)
    return tuple(reference for reference in references if reference not in settings.secrets)


def _headers(profile: ProviderProfile, *, settings: Settings) -> Iterator[tuple[str, Secret]]:
    return ((name.lower(), value) for name, value in _texts(profile.section.headers, settings=settings))


def _texts(texts: Mapping[str, SecretText], *, settings: Settings) -> Iterator[tuple[str, Secret]]:
    for name, text in texts.items():
        reference = text.reference
        found = settings.secrets.get(reference) if reference.slow else reference.resolve(settings.environ)
        if found is not None:
            yield name, Secret(text.before + found.reveal())


def quirks_of(profile: ProviderProfile) -> Quirks:
    """The quirks of a profile's service: as configured, else as known by name."""
    configured = Quirks(**{name: getattr(profile.section.quirks, name) for name in Quirks.fields})
    return configured.over(profile.service.quirks if profile.service else NO_QUIRKS)


def connection_of(section: ProviderSection) -> ConnectionOptions:
    """The configured connection options of a service."""
    return ConnectionOptions(
        proxy=section.proxy or "", ca_file=section.ca_file, connect_timeout=section.connect_timeout
    )


def _environ(kind: str, *, settings: Settings) -> tuple[tuple[str, Secret], ...]:
    beginnings = _FAMILY_VARIABLES.get(kind)
    if beginnings is None:
        return ()
    return tuple(
        sorted((name, Secret(value)) for name, value in settings.environ.items() if name.startswith(beginnings))
    )


def _program(section: ProviderSection, *, settings: Settings) -> ProviderProgram | None:
    if section.command is None:
        return None
    return ProviderProgram(
        command=section.command,
        args=section.args,
        env=tuple(_texts(section.env, settings=settings)),
        cwd=section.cwd,
        protocol=section.protocol,
    )


def _cassette(section: ProviderSection) -> Cassette | None:
    if section.replay is not None:
        return Cassette(path=section.replay, mode="replay")
    return Cassette(path=section.record, mode="record") if section.record else None
