"""Permission rules from all their sources, combined into a policy."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from claw_acp.config.locations import Locations
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.markdown import code_span
from claw_acp.security.command_paths import CopiedProject
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import Policy, PolicyContext
from claw_acp.security.rules import Rule, RuleVerdict, parse_rule
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

VERDICTS: Sequence[RuleVerdict] = ("deny", "ask", "allow")


def configured_rules(settings: Settings) -> tuple[Rule, ...]:
    """The valid rules of the configuration files; an invalid one is reported and has no effect."""
    rules: list[Rule] = []
    for verdict in VERDICTS:
        for index, text in enumerate(getattr(settings.permissions, verdict)):
            source = settings.origin(f"permissions.{verdict}[{index}]").text()
            try:
                rules.append(parse_rule(text, verdict=verdict, source=source))
            except ConfigError as error:
                log.warning("permission rule ignored", extra={"rule": text, "source": source, "reason": error.message})
    return tuple(rules)


def places_of(session: Session, own: Locations, *, origin: Session | None = None) -> PolicyContext:
    """The folders of a session, and our own directories, which no tool call may touch.

    For an attempt, `origin` is the session that started it.
    """
    copied = None if origin is None or origin is session else _copied(session, origin, own)
    return places_in(session.roots, own, session=session.id, copied=copied)


def places_in(
    roots: tuple[Path, ...], own: Locations, *, session: str = "", copied: CopiedProject | None = None
) -> PolicyContext:
    """The same for the resolved folders of a session that need not exist."""
    protected = {place for each in own.directories for place in _kept_from(roots[0], each, own)}
    return PolicyContext(
        roots=roots,
        home=Path.home(),
        protected=tuple(protected),
        search_path=tuple(Path(directory) for directory in os.get_exec_path()),
        results=own.results_dir.resolve() / session if session else None,
        copied=copied,
    )


def _copied(session: Session, origin: Session, own: Locations) -> CopiedProject:
    root, attempts = session.roots[0], own.attempts_dir.resolve()
    copy = attempts.joinpath(*root.relative_to(attempts).parts[:3])
    below = len(root.relative_to(copy).parts)
    project = Path(*origin.roots[0].parts[: len(origin.roots[0].parts) - below])
    return CopiedProject(copy=copy, project=project, roots=origin.roots)


def _kept_from(root: Path, place: Path, own: Locations) -> Iterator[Path]:
    """The directory of ours; for an attempt, whose folder lies in it, all in it but that folder."""
    attempts = own.attempts_dir.resolve()
    resolved = place.resolve()
    if not (root.is_relative_to(attempts) and root.is_relative_to(resolved)):
        yield place
        return
    yield from own.files
    copies = attempts.joinpath(*root.relative_to(attempts).parts[:2])
    while resolved != copies:
        onward = resolved / copies.relative_to(resolved).parts[0]
        yield from (entry for entry in resolved.iterdir() if entry != onward)
        resolved = onward


def current_policy(configured: Sequence[Rule], store: PermissionStore, project: Path) -> Policy:
    """The policy for the next call, answers given a moment ago included."""
    return Policy((*configured, *store.rules(project)), known=store.tools(project))


def may_be_told(path: Path, *, policy: Policy, places: Callable[[], PolicyContext]) -> bool:
    """Return whether the text of a file may stand in a prompt: no rule forbids to read it."""
    return policy.hides(path, tool="read_file", context=places()) is None


def describe_rules(configured: Sequence[Rule], store: PermissionStore, project: Path) -> list[str]:
    """Every rule in force with its source, for people; then the problems of the file of answers."""
    rules = (*configured, *store.rules(project))
    return [f"{rule.verdict} {code_span(rule.text)} ({rule.source})" for rule in rules] + list(store.findings())
