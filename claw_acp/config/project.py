"""What a project's own `.claw/config.toml` may say. It comes with strangers' code: it can take away, never give."""

from collections.abc import Iterator
from pathlib import Path

from claw_acp.config.entries import is_sections
from claw_acp.config.finding import Finding
from claw_acp.config.layer import Layer
from claw_acp.config.model import MODES, ConfigFile, LimitsSection, PermissionsSection
from claw_acp.config.positions import KeyPath
from claw_acp.config.settings import Origin, Settings
from claw_acp.core.value import replace

PROJECT_FILE = Path(".claw", "config.toml")
NARROWED = frozenset({"mode", "permissions", "limits"})
"""What a project's file may make stricter."""


def narrow(settings: Settings, *, project: Layer, findings: list[Finding], user_file: Path) -> Settings:
    """`settings` with the stricter of both where the project is stricter; the rest of it becomes findings."""
    origins = dict(settings.origins)
    refused = [_refusal(path, project=project, user_file=user_file) for path in _not_for_projects(project)]
    refused += _wider(settings, project=project)
    mode = settings.mode
    if "mode" in project.config.model_fields_set and _stricter(project.config.mode, than=mode):
        mode = project.config.mode
        origins["mode"] = project.origin(("mode",))
    return replace(
        settings,
        mode=mode,
        permissions=_more_rules(settings.permissions, project=project, origins=origins),
        limits=_lower_limits(settings.limits, project=project, origins=origins),
        findings=(*settings.findings, *findings, *refused),
        origins=origins,
    )


def _stricter(mode: str, *, than: str) -> bool:
    order = list[str](MODES)
    return order.index(mode) < order.index(than)


def _more_rules(user: PermissionsSection, *, project: Layer, origins: dict[str, Origin]) -> PermissionsSection:
    rules = project.config.permissions
    for key, before, added in (("ask", user.ask, rules.ask), ("deny", user.deny, rules.deny)):
        for index in range(len(before), len(before) + len(added)):
            origins[f"permissions.{key}[{index}]"] = project.origin(("permissions", key))
    return user.model_copy(update={"ask": user.ask + rules.ask, "deny": user.deny + rules.deny})


def _lower_limits(user: LimitsSection, *, project: Layer, origins: dict[str, Origin]) -> LimitsSection:
    lower: dict[str, float] = {}
    for name in project.config.limits.model_fields_set:
        wanted: float = getattr(project.config.limits, name)
        if wanted < getattr(user, name):
            lower[name] = wanted
            origins[f"limits.{name}"] = project.origin(("limits", name))
    return user.model_copy(update=lower)


def _not_for_projects(project: Layer) -> Iterator[KeyPath]:
    """The keys of the project's file that are the user's alone: all but those that `narrow` takes."""
    for name in ConfigFile.model_fields:
        if name not in project.config.model_fields_set or name in NARROWED:
            continue
        value: object = getattr(project.config, name)
        if is_sections(value):
            yield from ((name, inner) for inner in value)
        else:
            yield (name,)
    if project.config.permissions.allow:
        yield ("permissions", "allow")


def _refusal(path: KeyPath, *, project: Layer, user_file: Path) -> Finding:
    return Finding(
        severity="warning",
        file=str(project.file),
        line=project.line_of(path),
        key=".".join(path),
        message="a project's file cannot set this, it is ignored",
        suggestion=f"put it into {user_file}",
    )


def _wider(settings: Settings, *, project: Layer) -> list[Finding]:
    """The values that would give more than the user gave."""
    wider: list[KeyPath] = []
    if "mode" in project.config.model_fields_set and _stricter(settings.mode, than=project.config.mode):
        wider.append(("mode",))
    wider += [
        ("limits", name)
        for name in sorted(project.config.limits.model_fields_set)
        if getattr(project.config.limits, name) > getattr(settings.limits, name)
    ]
    return [
        Finding(
            severity="warning",
            file=str(project.file),
            line=project.line_of(path),
            key=".".join(path),
            message=f"a project's file can only be stricter than your own ({settings.origin('.'.join(path)).text()}), "
            "it is ignored",
        )
        for path in wider
    ]
