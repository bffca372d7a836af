"""Putting the configuration together: defaults, the user's file, the environment, then what the project narrows."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar, cast

from claw_acp.config.anchor import anchored
from claw_acp.config.checking import check
from claw_acp.config.credentials import Logins, read_logins
from claw_acp.config.environment import EnvironmentValues, read_environment
from claw_acp.config.fields import Section
from claw_acp.config.finding import Finding
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.key_shelf import KeyShelf
from claw_acp.config.layer import Layer
from claw_acp.config.locations import Locations
from claw_acp.config.model import ConfigFile
from claw_acp.config.positions import Positions
from claw_acp.config.project import PROJECT_FILE, narrow
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Origin, OriginKind, Settings
from claw_acp.config.toml_file import TomlDocument, read_toml

_Table = TypeVar("_Table", bound=Section)


def load_settings(
    *, locations: Locations, environ: Mapping[str, str], cwd: Path | None, keys: KeyShelf | None = None
) -> Settings:
    """The settings for work in `cwd` (None: no project). Never raises: what is wrong is in `findings`.

    `CLAW_ACP_MODEL` and `CLAW_ACP_MODE` override the user's file. The project's file comes last, and can only take
    away: a stricter mode, more deny and ask rules, lower limits. `keys` are those that earlier settings have got.
    """
    user, findings = read_layer(locations.config_file, kind="user file")
    values = read_environment(environ)
    logins = read_logins(locations.credentials_file)
    settings = _combine(
        user,
        values=values,
        logins=logins,
        findings=[*findings, *logins.findings, *values.findings],
        environ=environ,
        keys=keys or KeyShelf(),
    )
    if cwd is None:
        return settings
    project, findings = read_layer(cwd / PROJECT_FILE, kind="project file")
    return narrow(settings, project=project, findings=findings, user_file=locations.config_file)


def read_layer(path: Path, *, kind: OriginKind) -> tuple[Layer, list[Finding]]:
    """What one file says; an unusable file says nothing."""
    document = read_toml(path)
    if isinstance(document, TomlDocument):
        checked = check(document)
        layer = Layer(config=checked.config, file=path, kind=kind, positions=document.positions, spoilt=checked.spoilt)
        return layer, checked.findings
    nothing = Layer(config=ConfigFile.unset(), file=path, kind=kind, positions=Positions(lines={}))
    return nothing, [document] if document else []


def _combine(
    user: Layer,
    *,
    values: EnvironmentValues,
    logins: Logins,
    findings: list[Finding],
    environ: Mapping[str, str],
    keys: KeyShelf,
) -> Settings:
    config = user.config
    place = partial(_placed, directory=user.file.parent, home=environ.get("HOME", ""))
    configured = {name: place(section) for name, section in config.providers.items()}
    return Settings(
        model=values.model or config.model,
        mode=values.mode or config.mode,
        protocol_2=config.protocol_2,
        providers=configured | _logged_in(logins, configured),
        permissions=config.permissions,
        limits=config.limits,
        log_level=values.log_level or "warning",
        trace=values.trace,
        findings=tuple(findings),
        origins={**_origins_of_logins(logins), **user.origins(), **values.origins},
        environ=environ,
        mcp={name: place(entry) for name, entry in config.mcp.items()},
        logins=logins.by_provider,
        keys=keys,
        vision_model=config.vision_model,
        local_servers=config.local_servers if values.local_servers is None else values.local_servers,
        server_places=values.server_places,
        model_lists=config.model_lists if values.model_lists is None else values.model_lists,
        model_reference=values.model_reference or config.model_reference,
        routes=config.routes,
        rules=config.rules,
        budget=config.budget,
        prices=config.prices,
        spoilt=user.spoilt,
    )


def _logged_in(logins: Logins, configured: Mapping[str, ProviderSection]) -> dict[str, ProviderSection]:
    """Services of the user's own that the logins describe; what the configuration says about one comes first."""
    described: dict[str, ProviderSection] = {}
    for name, login in logins.by_provider.items():
        if login.section is not None:
            own = configured.get(name)
            said = {} if own is None else {field: getattr(own, field) for field in own.model_fields_set}
            described[name] = login.section.model_copy(update=said)
    return described


def _origins_of_logins(logins: Logins) -> dict[str, Origin]:
    known = {f"logins.{name}": Origin(kind="login", place=login.place) for name, login in logins.by_provider.items()}
    return known | {
        f"providers.{name}.{field}": Origin(kind="login", place=login.place)
        for name, login in logins.by_provider.items()
        if login.section is not None
        for field in login.section.model_fields_set
    }


def _placed(section: _Table, *, directory: Path, home: str) -> _Table:
    """The table with its relative paths taken from the directory of the file it stands in."""
    place = partial(_with_paths, directory=directory, home=home)
    update = {name: place(getattr(section, name)) for name in section.model_fields_set}
    command = update.get("command")
    if isinstance(command, str) and "/" in command:  # others are looked up on the PATH
        update["command"] = str(anchored(command, directory=directory, home=home))
    return section.model_copy(update=update)


def _with_paths(value: object, *, directory: Path, home: str) -> object:
    place = partial(_with_paths, directory=directory, home=home)
    match value:
        case Path():
            return anchored(str(value), directory=directory, home=home)
        case KeyReference() | SecretText():
            return value.below(directory, home=home)
        case tuple():
            return tuple(map(place, cast("tuple[object, ...]", value)))
        case dict():
            return {name: place(inner) for name, inner in cast("dict[str, object]", value).items()}
        case _:
            return value
