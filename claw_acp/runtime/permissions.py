"""Permission rules from everywhere they can come from, made into a policy."""

import logging
from collections.abc import Sequence
from pathlib import Path

from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import Policy
from claw_acp.security.rules import Rule, RuleVerdict, parse_rule

log = logging.getLogger(__name__)

VERDICTS: Sequence[RuleVerdict] = ("deny", "ask", "allow")


def configured_rules(settings: Settings) -> tuple[Rule, ...]:
    """The usable rules of the configuration files; one that cannot be read is reported and decides nothing."""
    rules: list[Rule] = []
    for verdict in VERDICTS:
        for index, text in enumerate(getattr(settings.permissions, verdict)):
            source = settings.origin(f"permissions.{verdict}[{index}]").text()
            try:
                rules.append(parse_rule(text, verdict=verdict, source=source))
            except ConfigError as error:
                log.warning("permission rule ignored", extra={"rule": text, "source": source, "reason": error.message})
    return tuple(rules)


def current_policy(configured: Sequence[Rule], store: PermissionStore, project: Path) -> Policy:
    """The policy for the next call, answers given a moment ago included."""
    return Policy((*configured, *store.rules(project)))


def describe_rules(configured: Sequence[Rule], store: PermissionStore, project: Path) -> list[str]:
    """Every rule in force with its source, for people; then what is wrong with the file of answers."""
    rules = (*configured, *store.rules(project))
    return [f"{rule.verdict} `{rule.text}` ({rule.source})" for rule in rules] + list(store.findings())
