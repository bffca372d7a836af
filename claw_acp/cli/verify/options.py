"""The options shared by the kinds of `claw-acp verify`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.verify.report import as_json, failures, plain
from claw_acp.verify.rule import Verdict
from claw_acp.verify.run import Report


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select rules and the form of the report."""
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="only rules whose id fits; repeatable"
    )
    parser.add_argument("--list", action="store_true", help="list the rules and check nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report as JSON; - prints it instead")
    parser.add_argument("--strict", action="store_true", help="a broken SHOULD counts too")
    parser.add_argument("-v", "--verbose", action="store_true", help="show all frames before a failure")


def tell(report: Report, options: argparse.Namespace, *, command: Sequence[str], what: str) -> int:
    """Print or write a report as requested; returns the exit code."""
    broken = failures(report, strict=options.strict)
    if options.json is not None:
        text = as_json(report, what=what, command=command, ok=not broken)
        if str(options.json) == "-":
            print(text, end="")
            return 1 if broken else 0
        options.json.write_text(text, encoding="utf-8")
    for line in plain(report, verbose=options.verbose, paint=Paint()):
        print(line)
    return 1 if broken else 0


def seconds(text: str) -> float:
    """A positive number of seconds, for `argparse`."""
    value = float(text)
    if value <= 0:
        raise argparse.ArgumentTypeError("must be more than 0")
    return value


def variable(text: str) -> tuple[str, str]:
    """`NAME=VALUE`, for `argparse`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("must be NAME=VALUE")
    return name, value


class Progress:
    """A counter line for a person who waits."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._on = getattr(sys.stderr, "isatty", bool)()

    def told(self, verdict: Verdict) -> None:
        """Count a verdict."""
        self._done += 1
        if self._on:
            print(f"\r{self._done}/{self._total} {verdict.rule.id:<50}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        if self._on:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
