"""`claw-acp trace`: recorded messages between an editor and the agent, one line each."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Event
from typing import TextIO

from claw_acp.cli.terminal.paint import Paint
from claw_acp.cli.trace.line import TraceLine
from claw_acp.core.errors import ConfigError
from claw_acp.telemetry.recording import Damaged, Entry, read

LOOK_AGAIN = 0.2  # seconds between looks at a file that may grow


def main(argv: Sequence[str]) -> int:
    """Print a recording.

    Raises:
        ConfigError: The file cannot be read.
    """
    arguments = _parser().parse_args(argv)
    with _opened(Path(arguments.file)) as file:
        _print(file, arguments)
    return 0


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="claw-acp trace",
        description="Print what `claw-acp --trace FILE` or CLAW_ACP_TRACE recorded, a line for each message.",
        epilog="In a line: seconds since the start, `→` from the client or `←` from the agent, the method (for an "
        "answer `=` and the time it took, `!` when it failed), the end of the session's id, and what it is about.",
    )
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--session", metavar="ID", default="", help="only this session; the end of its id is enough")
    parser.add_argument(
        "--method", metavar="GLOB", default="", help="only these methods or kinds of update: 'session/*', 'tool_call*'"
    )
    parser.add_argument("--errors", action="store_true", help="only answers that are errors")
    parser.add_argument("--full", action="store_true", help="the whole messages, indented")
    parser.add_argument("--json", action="store_true", help="one JSON object a message, for programs")
    parser.add_argument("--follow", action="store_true", help="go on as the file grows")
    return parser


def _print(file: TextIO, arguments: argparse.Namespace) -> None:
    lines = TraceLine(Paint(sys.stdout))
    damaged = 0
    for entry in read(_lines(file, follow=arguments.follow)):
        if isinstance(entry, Damaged):
            damaged += 1
            continue
        lines.see(entry)
        if not _wanted(entry, arguments):
            continue
        if arguments.json:
            print(json.dumps(_as_json(entry)), flush=arguments.follow)
            continue
        print(lines.text(entry), flush=arguments.follow)
        if arguments.full and entry.frame:
            print(json.dumps(entry.frame, indent=2, ensure_ascii=False))
    if damaged:
        print(f"{damaged} line(s) are no recorded messages and were left out", file=sys.stderr)


def _lines(file: TextIO, *, follow: bool) -> Iterator[str]:
    """Complete lines; of a growing file, also later ones."""
    rest = ""
    while True:
        for piece in file:
            rest += piece
            if rest.endswith("\n"):
                yield rest
                rest = ""
        if not follow:
            break
        Event().wait(LOOK_AGAIN)
    if rest:
        yield rest


def _wanted(entry: Entry, arguments: argparse.Namespace) -> bool:
    if arguments.errors and entry.kind != "error":
        return False
    if arguments.session and not entry.session.endswith(arguments.session):
        return False
    names = (entry.method, str(entry.update.get("sessionUpdate", "")))
    return not arguments.method or any(fnmatchcase(name, arguments.method) for name in names)


def _as_json(entry: Entry) -> dict[str, object]:
    return {
        "time": entry.time,
        "recording": entry.recording,
        "direction": entry.direction,
        "kind": entry.kind,
        "method": entry.method,
        "session": entry.session,
        "took": entry.took,
        "frame": entry.frame or entry.text,
    }
