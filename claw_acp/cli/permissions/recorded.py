"""The lines of the audit log that are about decisions."""

from collections.abc import Collection, Iterator
from pathlib import Path

from claw_acp.audit.files import AuditFiles
from claw_acp.audit.line import encoded, parsed
from claw_acp.cli.current_settings import locations_here
from claw_acp.core.json_value import JsonObject
from claw_acp.core.redaction import redact


def recorded(kinds: Collection[str]) -> Iterator[JsonObject]:
    """The lines of some kinds, oldest first."""
    marks = [encoded({"kind": kind})[1:-1] for kind in kinds]
    with AuditFiles(locations_here().audit_dir).opened() as files:
        for file in files:
            for line in file:
                if not any(mark in line for mark in marks):
                    continue
                facts = parsed(line.removesuffix(b"\n"))
                if facts is not None and facts.get("kind") in kinds:
                    yield facts


def answered_at(project: Path | str) -> dict[str, str]:
    """The moments at which the answers for a project were stored, as far as they are on record, by rule."""
    found: dict[str, str] = {}
    for facts in recorded({"rules"}):
        rules = facts.get("rules")
        if facts.get("project") == str(project) and isinstance(rules, list) and facts.get("change") != "described":
            found |= {str(rule): str(facts.get("at", "")) for rule in rules}
    return found


def moment_of(rule: str, moments: dict[str, str]) -> str:
    """The moment of a rule, which the log knows without credentials; empty if there is none."""
    return moments.get(redact(rule), "")
