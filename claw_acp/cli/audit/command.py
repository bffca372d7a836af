"""`claw-acp audit show|verify|export`: the audit log."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from json import dumps
from pathlib import Path
from shutil import copyfile

from claw_acp.audit.files import CHECKPOINTS, AuditFiles
from claw_acp.audit.line import parsed
from claw_acp.audit.signing import public_key
from claw_acp.audit.verification import Verification, verify
from claw_acp.cli.current_settings import audit_here, locations_here, settings_here
from claw_acp.config.locations import private_directory
from claw_acp.core.clock import SYSTEM_CLOCK, iso_time
from claw_acp.core.errors import ConfigError, InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.value import Value
from claw_acp.schedule.durations import seconds_in

_DAY = r"\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?"
_TELLING = (
    "tool", "status", "decision", "answer", "change", "file", "mode", "provider", "role", "name", "program", "job",
    "by", "arguments", "rules", "rule", "project", "reason",
)  # fmt: skip
_SHOWN = 160  # characters of a line for people


class Filter(Value):
    """The lines that are wanted; empty: all. `since` is a moment as the log writes it."""

    session: str = ""
    tool: str = ""
    since: str = ""

    def takes(self, facts: JsonObject) -> bool:
        """Return whether a line is wanted."""
        return (
            str(facts.get("session", "")).startswith(self.session)
            and (not self.tool or facts.get("tool") == self.tool)
            and str(facts.get("at")) >= self.since
        )


def main(argv: Sequence[str]) -> int:
    """Show or check the audit log; 1: it is not what was written."""
    options = _parser().parse_args(argv)
    if options.command == "verify":
        return _verify(options)
    if options.command == "export" and options.to is not None:
        return _export_to(options.to)
    wanted = Filter(session=options.session, tool=options.tool, since=options.since)
    for line, facts in _lines(wanted):
        print(line if options.command == "export" or options.json else _told(facts))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp audit",
        description="The record of tool calls, answers, rules, modes, logins, tokens, programs and scheduled runs. "
        "Each line holds the SHA-256 of the one before it, and signed checkpoints vouch for the whole.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print it, a line for each event")
    show.add_argument("--json", action="store_true", help="for programs, as `export`")
    export = commands.add_parser("export", help="print it as JSON Lines")
    export.add_argument("--to", type=Path, metavar="DIRECTORY", help="copy all files there instead, for `verify --in`")
    for command in (show, export):
        command.add_argument("--session", default="", metavar="ID", help="only this session")
        command.add_argument("--tool", default="", metavar="NAME", help="only this tool")
        command.add_argument("--since", default="", metavar="TIME", type=_moment, help="as in 2h, 7d or 2026-11-23")
    check = commands.add_parser("verify", help="check every line and checkpoint; 1: something was changed")
    check.add_argument("--in", dest="directory", type=Path, metavar="DIRECTORY", help="check an exported copy")
    check.add_argument(
        "--key", metavar="HEX", help="the public key, as noted elsewhere; without it the one here counts"
    )
    check.add_argument("--checkpoints", type=Path, action="append", default=[], metavar="FILE", help="a copy of them")
    return parser


def _moment(text: str) -> str:
    if not text or re.fullmatch(_DAY, text):
        return text
    try:
        return iso_time(SYSTEM_CLOCK.now() - seconds_in(text))
    except InvalidRequest as error:
        raise argparse.ArgumentTypeError(f"{error.message}, or a day as in 2026-11-23") from error


def _lines(wanted: Filter) -> Iterator[tuple[str, JsonObject]]:
    with AuditFiles(locations_here().audit_dir).opened() as files:
        for file in files:
            for line in file:
                facts = parsed(line.removesuffix(b"\n"))
                if facts is not None and wanted.takes(facts):
                    yield line.decode("ascii").rstrip("\n"), facts


def _told(facts: JsonObject) -> str:
    """A line for people."""
    words = [f"{name}={_text(facts[name])}" for name in _TELLING if facts.get(name) not in (None, "")]
    head = f"{facts['seq']:>6}  {facts.get('at')}  {facts.get('kind')!s:<10}"
    text = "  ".join([head, *([str(facts["session"])] if "session" in facts else []), " ".join(words)])
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _text(value: JsonValue) -> str:
    return printable(value) if isinstance(value, str) else dumps(value)


# ------------------------------------------------------------------ checking


def _verify(options: argparse.Namespace) -> int:
    locations, section = locations_here(), settings_here().audit
    directory: Path = options.directory or locations.audit_dir
    copies = [*options.checkpoints, *([section.copy] if section.copy and options.directory is None else [])]
    missing = next((path for path in (directory, *copies) if options.directory is not None and not path.exists()), None)
    if missing is not None:
        raise ConfigError(f"{missing} is not there")
    try:
        key = options.key or public_key(locations.audit_key_file)
        own = locations.audit_checkpoints_file if options.directory is None else None
        verdict = verify(AuditFiles(directory, checkpoints=own), key=key, copies=copies)
    except OSError as error:
        raise ConfigError(f"{error.filename or locations.audit_key_file} cannot be read: {error.strerror}") from error
    for note in verdict.notes:
        print(f"note: {note}")
    for problem in verdict.problems:
        print(f"claw-acp audit: {problem}", file=sys.stderr)
    print(_verdict(verdict, key))
    return 1 if verdict.problems else 0


def _verdict(verdict: Verification, key: str | None) -> str:
    if verdict.problems:
        return f"The log is not what was written: see above. {verdict.lines} lines were read."
    if not verdict.lines:
        return "Nothing was recorded yet."
    rest = verdict.last - verdict.signed
    signed = f" Signed by the key {key}." if verdict.signed else ""
    unsigned = f" The last {rest} are not signed yet: nobody would miss them." if rest else ""
    return f"{verdict.lines} lines are what was written, up to number {verdict.last}.{signed}{unsigned}"


def _export_to(target: Path) -> int:
    locations = locations_here()
    log = audit_here()
    log.checkpoint()
    private_directory(target)
    copied = [log.files.checkpoints, *log.files.all()]  # what they vouch for must be in the lines
    for path in copied:
        if path.exists():
            copyfile(path, target / (CHECKPOINTS if path == log.files.checkpoints else path.name))
    print(f"{len(copied)} files are in {target}. Check them with:")
    print(f"  claw-acp audit verify --in {target} --key {public_key(locations.audit_key_file)}")
    return 0
