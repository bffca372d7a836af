"""From what is configured to what a provider is made from."""

import json

from claw_acp.config.provider_section import ProviderSection, QuirksSection
from claw_acp.config.settings import Settings
from claw_acp.contracts.provider_setup import NO_QUIRKS, Cassette, Program, ProviderSetup, Quirks, Route
from claw_acp.core.secret import Secret
from claw_acp.providers.cards import Card

_FAMILY_VARIABLES = {"bedrock": "AWS_"}
"""The variables that a wire family looks at itself, by their beginning."""


def setup_of(card: Card, *, key: Secret | None, settings: Settings) -> ProviderSetup:
    """What the provider of a card is made from, with one of its keys. Blocks where a header is kept in a keyring.

    Raises:
        ConfigError: A header or variable that is kept elsewhere cannot be had.
    """
    section = card.section
    return ProviderSetup(
        name=card.name,
        kind=card.kind,
        base_url=card.base_url,
        api_key=key,
        headers=(*_headers(card, settings=settings), *card.headers),
        timeout=section.timeout,
        script=section.script,
        quirks=_quirks(section.quirks).over(card.service.quirks if card.service else NO_QUIRKS),
        body=json.dumps(section.body) if section.body else "",
        route=Route(proxy=section.proxy or "", ca_file=section.ca_file, connect_timeout=section.connect_timeout),
        region=section.region or "",
        api_version=section.api_version or "",
        environ=_environ(card.kind, settings=settings),
        program=_program(section, settings=settings),
        cassette=_cassette(section),
    )


def _headers(card: Card, *, settings: Settings) -> list[tuple[str, Secret]]:
    return [
        (name.lower(), Secret(text.get(settings.environ, settings.keys))) for name, text in card.section.headers.items()
    ]


def _quirks(quirks: QuirksSection) -> Quirks:
    return Quirks(**{name: getattr(quirks, name) for name in Quirks.fields})


def _environ(kind: str, *, settings: Settings) -> tuple[tuple[str, Secret], ...]:
    beginning = _FAMILY_VARIABLES.get(kind)
    if beginning is None:
        return ()
    return tuple(
        sorted((name, Secret(value)) for name, value in settings.environ.items() if name.startswith(beginning))
    )


def _program(section: ProviderSection, *, settings: Settings) -> Program | None:
    if section.command is None:
        return None
    return Program(
        command=section.command,
        args=section.args,
        env=tuple((name, Secret(text.get(settings.environ, settings.keys))) for name, text in section.env.items()),
        cwd=section.cwd,
        protocol=section.protocol,
    )


def _cassette(section: ProviderSection) -> Cassette | None:
    if section.replay is not None:
        return Cassette(path=section.replay, mode="replay")
    return Cassette(path=section.record, mode="record") if section.record else None
