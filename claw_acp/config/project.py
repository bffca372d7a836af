"""The rules for a project's own `.claw/config.toml`. It comes with foreign code: it can only narrow."""

import math
from pathlib import Path
from typing import Literal, TypeVar, cast, get_args, get_origin

from claw_acp.config.diagnostic import Diagnostic
from claw_acp.config.entries import is_sections
from claw_acp.config.fields import Project, Section, hints_of, marker, plain_type
from claw_acp.config.layer import Layer
from claw_acp.config.positions import KeyPath
from claw_acp.config.settings import Settings
from claw_acp.core.value import replace

PROJECT_FILE = Path(".claw", "config.toml")

_Table = TypeVar("_Table", bound=Section)


def narrow(settings: Settings, *, project: Layer, user_file: Path) -> Settings:
    """`settings` with the project's value wherever it is stricter; other values of it become diagnostics."""
    narrowing = _Narrowing()
    narrowed = narrowing.applied(settings, project.config, path=())
    refused = [
        _diagnostic(project, path, "a project's file cannot set this", suggestion=f"put it into {user_file}")
        for path in narrowing.refused
    ]
    wider = [
        _diagnostic(project, path, f"a project's file can only be stricter than your own ({origin.text()})")
        for path, origin in ((path, settings.origin(".".join(path))) for path in narrowing.wider)
    ]
    return replace(
        narrowed,
        diagnostics=(*settings.diagnostics, *project.diagnostics, *refused, *wider),
        origins={**settings.origins, **{key: project.origin(path) for key, path in narrowing.taken.items()}},
    )


class _Narrowing:
    """A walk through the project's file that collects what applies, what does not, and what would permit more."""

    def __init__(self) -> None:
        self.taken: dict[str, KeyPath] = {}
        self.refused: list[KeyPath] = []
        self.wider: list[KeyPath] = []

    def applied(self, user: _Table, wanted: Section, *, path: KeyPath) -> _Table:
        """A table of the user's as the project narrows it."""
        changes: dict[str, object] = {}
        hints = hints_of(type(wanted))
        for name in (name for name in wanted.key_names() if name in wanted.fields_set):
            below, own, value = (*path, name), getattr(user, name), getattr(wanted, name)
            rule = marker(hints[name], Project)
            if isinstance(value, Section) and any(marker(hint, Project) for hint in hints_of(type(value)).values()):
                changes[name] = self.applied(own, value, path=below)
            elif rule is None:
                self.refused += [(*below, inner) for inner in value] if is_sections(value) else [below]
            elif rule.narrows == "adds":
                changes[name] = own + value
                added = range(len(own), len(own + value))
                self.taken |= {f"{'.'.join(below)}[{index}]": below for index in added}
            elif _rank(value, hints[name]) < _rank(own, hints[name]):
                changes[name] = value
                self.taken[".".join(below)] = below
            elif value != own:
                self.wider.append(below)
        return replace(user, **changes)


def _rank(value: object, hint: object) -> float:
    """The permissiveness of a value; words rank in their order, strictest first, and no limit is the widest."""
    if value is None:
        return math.inf
    kind = plain_type(hint)
    return get_args(kind).index(value) if get_origin(kind) is Literal else cast("float", value)


def _diagnostic(project: Layer, path: KeyPath, reason: str, *, suggestion: str | None = None) -> Diagnostic:
    return Diagnostic(
        severity="warning",
        file=str(project.file),
        line=project.line_of(path),
        key=".".join(path),
        message=f"{reason}, it is ignored",
        suggestion=suggestion,
    )
