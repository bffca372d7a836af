"""Assembling the configuration: defaults, the user's file, the environment, then the project's file."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import cast

from claw_acp.config.credentials import Logins, read_logins
from claw_acp.config.environment import read_environment
from claw_acp.config.fields import Section
from claw_acp.config.key_reference import KeyReference
from claw_acp.config.layer import read_layer
from claw_acp.config.locations import Locations
from claw_acp.config.model import ConfigFile
from claw_acp.config.paths import resolve_path
from claw_acp.config.project import PROJECT_FILE, narrow
from claw_acp.config.provider_section import ProviderSection
from claw_acp.config.secret_text import SecretText
from claw_acp.config.settings import Origin, Settings
from claw_acp.core.value import replace


def load_settings(*, locations: Locations, environ: Mapping[str, str], cwd: Path | None) -> Settings:
    """The settings for work in `cwd` (None: no project). Never raises: problems are in `diagnostics`.

    Variables override the user's file. The project's file comes last, and can only narrow (see the fields).
    """
    user = read_layer(locations.config_file, kind="user file")
    logins = read_logins(locations.credentials_file)
    environment = read_environment(environ)
    place = partial(_in_place, directory=user.file.parent, home=environ.get("HOME", ""))
    own = {name: place(getattr(user.config, name)) for name in user.config.fields_set}
    values = _overridden(own, environment.values)
    providers = cast("dict[str, ProviderSection]", values.get("providers", {}))
    settings = replace(
        Settings(),
        **values | {"providers": providers | _logged_in(logins, providers)},
        diagnostics=(*user.diagnostics, *logins.diagnostics, *environment.diagnostics),
        origins={**_origins_of_logins(logins), **user.origins(), **environment.origins},
        environ=environ,
        logins=logins.by_provider,
        invalid=user.invalid,
    )
    if cwd is None:
        return settings
    project = read_layer(cwd / PROJECT_FILE, kind="project file")
    return narrow(settings, project=project, user_file=locations.config_file)


def _overridden(values: Mapping[str, object], variables: Mapping[str, object]) -> dict[str, object]:
    """The values of a file with those of variables, some of which are in tables: `sandbox.use`."""
    result = dict(values)
    for key, value in variables.items():
        name, _, inner = key.partition(".")
        if not inner:
            result[name] = value
            continue
        table = cast("Section", result.get(name, getattr(ConfigFile(), name)))
        result[name] = replace(table, **{inner: value}, fields_set=table.fields_set | {inner})
    return result


def _logged_in(logins: Logins, configured: Mapping[str, ProviderSection]) -> dict[str, ProviderSection]:
    """The services of the user's own from the logins; the configuration's settings for them win."""
    described: dict[str, ProviderSection] = {}
    for name, login in logins.by_provider.items():
        if (section := login.section) is not None:
            own = configured.get(name, ProviderSection())
            said = {field: getattr(own, field) for field in own.fields_set}
            described[name] = replace(section, **said, fields_set=section.fields_set | own.fields_set)
    return described


def _origins_of_logins(logins: Logins) -> dict[str, Origin]:
    known = {f"logins.{name}": Origin(kind="login", place=login.place) for name, login in logins.by_provider.items()}
    return known | {
        f"providers.{name}.{field}": Origin(kind="login", place=login.place)
        for name, login in logins.by_provider.items()
        if login.section is not None
        for field in login.section.fields_set
    }


def _in_place(value: object, *, directory: Path, home: str) -> object:
    """The value with its relative paths taken from the directory of its file."""
    place = partial(_in_place, directory=directory, home=home)
    match value:
        case Path():
            return resolve_path(str(value), directory=directory, home=home)
        case KeyReference() | SecretText():
            return value.below(directory, home=home)
        case tuple():
            return tuple(map(place, cast("tuple[object, ...]", value)))
        case dict():
            return {name: place(inner) for name, inner in cast("dict[str, object]", value).items()}
        case Section():
            placed = {name: place(getattr(value, name)) for name in value.fields_set}
            command = placed.get("command")
            if isinstance(command, str) and "/" in command:  # others are looked up on the PATH
                placed["command"] = str(resolve_path(command, directory=directory, home=home))
            return replace(value, **placed)
        case _:
            return value
