"""`claw-acp permissions list|revoke|test|why`: the rules, what they decide, and what was decided."""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from claw_acp.cli.current_settings import audit_here, locations_here, settings_of
from claw_acp.cli.permissions.recorded import answered_at, moment_of
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.config.settings import Settings
from claw_acp.core.errors import ConfigError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.nearest import nearest
from claw_acp.core.printable import printable
from claw_acp.core.value import Value, as_dict
from claw_acp.registry.reference import Ref
from claw_acp.runtime.permissions import configured_rules
from claw_acp.security.permission_store import SOURCE, Answer, PermissionStore
from claw_acp.security.rule_words import covered_by
from claw_acp.security.rules import Rule, parse_rule
from claw_acp.workspace.paths import session_root

TRY: Final = Ref[Callable[[argparse.Namespace, Path], int]]("claw_acp.cli.permissions.trial:main")
WHY: Final = Ref[Callable[[argparse.Namespace, Path], int]]("claw_acp.cli.permissions.why:main")
ARGUMENTS: Final = Ref[Callable[[argparse.ArgumentParser], None]]("claw_acp.cli.permissions.trial:add_arguments")


class ListedRule(Value):
    """A rule as it is listed.

    Attributes:
        number: Its number for `revoke`; None: it stands in a file of settings.
        verdict: Its decision.
        rule: Its text.
        covers: The calls that it is about, in words; or that the text is no rule.
        source: The file and line that it stands in, or the file of answers.
        since: The moment of the answer, if it is on record.
        project: The directory that it is for; empty: the settings say it.
    """

    number: int | None
    verdict: str
    rule: str
    covers: str
    source: str
    since: str = ""
    project: str = ""


def main(argv: Sequence[str]) -> int:
    """Show rules, remove answers, or explain decisions."""
    options = _parser().parse_args(argv)
    project = session_root(str(Path(options.cwd).absolute()))
    match options.command:
        case "list":
            return _list(project, every=options.all, as_json=options.json)
        case "revoke":
            return _revoke(options.rules, project)
        case "why":
            return WHY.load()(options, project)
        case _:
            return TRY.load()(options, project)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp permissions", description="The rules about tool calls, and what they decide."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the rules in force in a project: its stored answers, and the settings")
    listing.add_argument("--all", action="store_true", help="the stored answers of all projects instead")
    revoke = commands.add_parser("revoke", help="remove stored answers, so that you are asked again")
    revoke.add_argument(
        "rules", nargs="+", metavar="N|TEXT", help="numbers of `list`, or the rules as they are written"
    )
    trial = commands.add_parser("test", help="the decision about a call in each mode; nothing is run")
    ARGUMENTS.load()(trial)
    why = commands.add_parser("why", help="what decided about the calls of a session")
    why.add_argument("session", nargs="?", help="its id or an end of it; by default the last one of the directory")
    why.add_argument("call", nargs="?", help="the id of one call, or an end of it; by default the last calls")
    why.add_argument("--all", action="store_true", help="all calls")
    for command in (listing, trial, why):
        command.add_argument("--json", action="store_true", help="for programs")
    for command in (listing, revoke, trial, why):
        command.add_argument("--cwd", default=".", metavar="DIRECTORY", help="the project (default: this directory)")
    return parser


# -------------------------------------------------------------------- rules


def _store() -> PermissionStore:
    return PermissionStore(locations_here().permissions_file, note=partial(audit_here().record, "rules"))


def stored_rules(store: PermissionStore, project: str) -> list[ListedRule]:
    """The answers for a project, numbered."""
    moments = answered_at(project)
    return [
        ListedRule(
            number=number, verdict=answer, rule=text, covers=_covers(text, answer), source=str(store.path),
            since=moment_of(text, moments), project=project,
        )
        for number, (answer, text) in enumerate(store.answers().get(project, ()), start=1)
    ]  # fmt: skip


def _covers(text: str, answer: Answer) -> str:
    try:
        return covered_by(parse_rule(text, verdict=answer, source=SOURCE))
    except ConfigError as error:
        return f"nothing: {error.message}"


def _configured(rule: Rule) -> ListedRule:
    return ListedRule(number=None, verdict=rule.verdict, rule=rule.text, covers=covered_by(rule), source=rule.source)


def _list(project: Path, *, every: bool, as_json: bool) -> int:
    store = _store()
    projects = list(store.answers()) if every else [str(project)]
    rows = [row for name in projects for row in stored_rules(store, name)]
    settings: Settings = settings_of(project)
    rows += [] if every else [_configured(rule) for rule in configured_rules(settings)]
    if as_json:
        found: JsonObject = {"mode": settings.mode, "problems": list(store.findings())}
        print(json.dumps({**found, "rules": [as_dict(row) for row in rows]}, indent=2, default=str))
        return 0
    for line in _lines(rows, projects=projects if every else ()):
        print(line)
    for finding in store.findings():
        print(Paint()(printable(finding), "yellow"))
    return 0


def _lines(rows: Sequence[ListedRule], *, projects: Sequence[str]) -> list[str]:
    if not rows:
        return ["No rules. Answering a permission request with “always” stores one for the project."]
    lines: list[str] = []
    for project in projects or [""]:
        shown = [row for row in rows if not projects or row.project == project]
        if projects:
            gone = "" if Path(project).is_dir() else "  (this directory is not there)"
            lines.append(f"{printable(project)}{gone}")
        lines += columns(
            [("N", "VERDICT", "RULE", "SINCE", "COVERS", "FROM"), *map(_cells, shown)],
        )
    return lines


def _cells(row: ListedRule) -> tuple[str, ...]:
    number = "-" if row.number is None else str(row.number)
    since = row.since[:16].replace("T", " ") or "-"
    return number, row.verdict, printable(row.rule), since, row.covers, printable(row.source)


def _revoke(wanted: Sequence[str], project: Path) -> int:
    """Remove answers; the numbers are those before the first is removed."""
    store = _store()
    rows = stored_rules(store, str(project))
    chosen = list(dict.fromkeys(_chosen(text, rows, project) for text in wanted))
    for rule in chosen:
        store.forget(project, rule)
        print(f"removed {printable(rule)}")
    return 0


def _chosen(text: str, rows: Sequence[ListedRule], project: Path) -> str:
    """The rule that a number or a text means.

    Raises:
        ConfigError: There is none.
    """
    rules = [row.rule for row in rows]
    if text in rules:
        return text
    if text.isdecimal() and 0 < int(text) <= len(rules):
        return rules[int(text) - 1]
    meant = nearest(text, rules)
    hint = f"did you mean {printable(meant)}?" if meant else "`claw-acp permissions list` shows them"
    raise ConfigError(f"{project} has no stored rule {printable(text)}; {hint}; nothing was removed")
