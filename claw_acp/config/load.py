"""Putting the configuration together: defaults, the user's file, the environment, then what the project narrows."""

from collections.abc import Mapping
from pathlib import Path

from claw_acp.config.anchor import anchored
from claw_acp.config.checking import check
from claw_acp.config.environment import EnvironmentValues, read_environment
from claw_acp.config.finding import Finding
from claw_acp.config.layer import Layer
from claw_acp.config.locations import Locations
from claw_acp.config.model import ConfigFile, ProviderSection
from claw_acp.config.positions import Positions
from claw_acp.config.project import PROJECT_FILE, narrow
from claw_acp.config.settings import OriginKind, Settings
from claw_acp.config.toml_file import TomlDocument, read_toml


def load_settings(*, locations: Locations, environ: Mapping[str, str], cwd: Path | None) -> Settings:
    """The settings for work in `cwd` (None: no project). Never raises: what is wrong is in `findings`.

    `CLAW_ACP_MODEL` and `CLAW_ACP_MODE` override the user's file. The project's file comes last, and can only take
    away: a stricter mode, more deny and ask rules, lower limits.
    """
    user, findings = read_layer(locations.config_file, kind="user file")
    values = read_environment(environ)
    settings = _combine(user, values=values, findings=[*findings, *values.findings], environ=environ)
    if cwd is None:
        return settings
    project, findings = read_layer(cwd / PROJECT_FILE, kind="project file")
    return narrow(settings, project=project, findings=findings, user_file=locations.config_file)


def read_layer(path: Path, *, kind: OriginKind) -> tuple[Layer, list[Finding]]:
    """What one file says; an unusable file says nothing."""
    document = read_toml(path)
    if isinstance(document, TomlDocument):
        config, findings = check(document)
        return Layer(config=config, file=path, kind=kind, positions=document.positions), findings
    nothing = Layer(config=ConfigFile.unset(), file=path, kind=kind, positions=Positions(lines={}))
    return nothing, [document] if document else []


def _combine(
    user: Layer, *, values: EnvironmentValues, findings: list[Finding], environ: Mapping[str, str]
) -> Settings:
    config = user.config
    home = environ.get("HOME", "")
    return Settings(
        model=values.model or config.model,
        mode=values.mode or config.mode,
        providers={
            name: _anchored(section, directory=user.file.parent, home=home)
            for name, section in config.providers.items()
        },
        permissions=config.permissions,
        limits=config.limits,
        log_level=values.log_level or "warning",
        trace=values.trace,
        findings=tuple(findings),
        origins={**user.origins(), **values.origins},
        environ=environ,
    )


def _anchored(section: ProviderSection, *, directory: Path, home: str) -> ProviderSection:
    """The section with its relative paths taken from the directory of the file it stands in."""
    return section.model_copy(
        update={
            "script": section.script and anchored(str(section.script), directory=directory, home=home),
            "api_key": section.api_key and section.api_key.below(directory, home=home),
        }
    )
