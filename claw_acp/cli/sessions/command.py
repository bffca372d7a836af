"""`claw-acp sessions list|show|export|replay|rename|fork|...`: the conversations in the journal."""

import argparse
import sys
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from json import dumps
from pathlib import Path

import anyio

from claw_acp.cli.current_settings import locations_here, settings_here
from claw_acp.cli.sessions.outline import outline
from claw_acp.cli.sessions.stored import ID_HELP, find_session, stored_sessions
from claw_acp.cli.terminal.paint import Paint, columns
from claw_acp.core.clock import SYSTEM_CLOCK, iso_time
from claw_acp.core.events import Event
from claw_acp.core.printable import printable
from claw_acp.core.value import Value, as_dict
from claw_acp.registry.reference import Ref
from claw_acp.session.export import to_json, to_markdown
from claw_acp.session.forking import forked
from claw_acp.session.journal import Journal
from claw_acp.session.lock import SessionLock
from claw_acp.session.pages import MAX_PAGE, Archived
from claw_acp.session.record import SessionRecord
from claw_acp.session.titles import given_title

REPLAY: Ref[Callable[[SessionRecord, Sequence[Event], argparse.Namespace], None]] = Ref(
    "claw_acp.cli.sessions.replay:replay"
)
REMOVE_REMAINS = Ref[Callable[..., Awaitable[None]]]("claw_acp.runtime.session_remains:remove_remains")

LISTED = 20  # sessions printed unless told otherwise
CHANGES = {
    "archive": "archive a session: lists leave it out",
    "unarchive": "show it in lists again",
    "rename": "set its title",
    "fork": "copy it and print the id of the copy",
    "delete": "delete it for good; its cost still counts",
}


class Which(Value):
    """The filter of a list: one directory or all, archived or not, only `begun` sessions or also empty ones."""

    cwd: Path | None
    archived: Archived
    begun: bool


def main(argv: Sequence[str]) -> int:
    """List sessions, print one to stdout, or change it."""
    options = _parser().parse_args(argv)
    if options.command == "list":
        cwd = Path(options.cwd).absolute() if options.cwd else None
        which = Which(cwd=cwd, archived="only" if options.archived else "exclude", begun=not options.all)
        return _list(which, limit=options.limit, json=options.json)
    if options.command in CHANGES:
        if options.command == "delete" and not options.yes:
            return _delete_after_asking(options.session)
        print(anyio.run(partial(_change, options.session, command=options.command, title=" ".join(options.title))))
        return 0
    record, events = anyio.run(partial(_read, options.session))
    if options.command == "replay":
        REPLAY.load()(record, events, options)
    elif options.json:
        print(to_json(record, events), end="")
    elif options.command == "export":
        print(to_markdown(record, events), end="")
    else:
        _show(record, events)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="claw-acp sessions", description="Conversations in the journal.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="the last changed sessions")
    listing.add_argument("--cwd", help="only those of this directory")
    listing.add_argument("--archived", action="store_true", help="archived sessions instead of the others")
    listing.add_argument("--all", action="store_true", help="also empty sessions")
    listing.add_argument("--limit", type=_positive, default=LISTED, help=f"how many (default {LISTED})")
    listing.add_argument("--json", action="store_true", help="for programs")
    for name, purpose in (
        ("show", "one session, a line for each thing said or done"),
        ("export", "one session whole, as Markdown"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("session", help=ID_HELP)
        command.add_argument("--json", action="store_true", help="for programs")
    _add_replay(commands.add_parser("replay", help="one session again, as it went on"))
    for name, purpose in CHANGES.items():
        command = commands.add_parser(name, help=purpose)
        command.add_argument("session", help=ID_HELP)
        if name == "rename":
            command.add_argument("title", nargs="+")
        else:
            command.set_defaults(title=[])
        if name == "delete":
            command.add_argument("--yes", action="store_true", help="do not ask")
    return parser


def _add_replay(command: argparse.ArgumentParser) -> None:
    command.add_argument("session", help=ID_HELP)
    command.add_argument("--from", dest="first", metavar="TURN", type=_positive, help="the first turn, by its number")
    command.add_argument("--until", dest="last", metavar="TURN", type=_positive, help="the last turn")
    command.add_argument("--speed", metavar="N", type=_speed, help="N times as fast as it was; default: at once")
    command.add_argument(
        "--frames",
        metavar="VERSION",
        type=int,
        choices=(1, 2),
        help="the frames of ACP, of protocol 1 or 2, a line each",
    )


def _speed(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError("must be above 0")
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _list(which: Which, *, limit: int, json: bool) -> int:
    records = anyio.run(partial(_records, which, limit=limit))
    if json:
        print(dumps([as_dict(record) for record in records], indent=2))
    elif not records:
        kind = "archived sessions" if which.archived == "only" else "sessions"
        print(f"there are no {kind} yet" if which.cwd is None else f"there are no {kind} of {which.cwd}")
    else:
        rows = [_row(record) for record in records]
        print("\n".join(columns([("SESSION", "LAST CHANGE", "DIRECTORY", "TITLE"), *rows])))
    return 0


def _row(record: SessionRecord) -> tuple[str, str, str, str]:
    return record.id, iso_time(record.updated_at), printable(record.cwd), printable(record.title or "")


def _delete_after_asking(wanted: str) -> int:
    """Delete a session after a confirmation at the terminal."""
    record, _ = anyio.run(partial(_read, wanted))
    if sys.stdin is None or not sys.stdin.isatty():
        print(f"claw-acp sessions: no terminal to ask on; --yes deletes {record.id}", file=sys.stderr)
        return 2
    title = printable(record.title or "without a title")
    if input(f"Delete {record.id} ({title}) of {printable(record.cwd)}? [y/N] ").strip().lower() not in {"y", "yes"}:
        print("Nothing was deleted.")
        return 1
    print(anyio.run(partial(_change, record.id, command="delete", title="")))
    return 0


async def _change(wanted: str, *, command: str, title: str) -> str:
    """Change a session. Returns the line to print."""
    async with stored_sessions() as journal:
        record = await find_session(journal, wanted)
        assert journal is not None  # else nothing is found
        match command:
            case "rename":
                kept = given_title(title)
                await journal.rename(record.id, kept)
                return f"{record.id} is called {kept}"
            case "fork":
                copy = forked(record, clock=SYSTEM_CLOCK, cwd=record.cwd, additional=record.additional_directories)
                await journal.fork(copy, source=record.id)
                return copy.id
            case "delete":
                async with SessionLock(locations_here().lock_dir).locked(record.id):  # no turn may be writing to it
                    await journal.delete(record.id)
                remove = REMOVE_REMAINS.load()
                await remove(record.id, settings=settings_here(), locations=locations_here(), clock=SYSTEM_CLOCK)
                return f"{record.id} is deleted"
            case _:
                await journal.archive(record.id, archived=command == "archive")
                return f"{record.id} is {'archived' if command == 'archive' else 'no longer archived'}"


async def _records(which: Which, *, limit: int) -> list[SessionRecord]:
    """The `limit` sessions changed last."""
    async with stored_sessions() as journal:
        return [] if journal is None else await _listed(journal, which, limit=limit)


async def _listed(journal: Journal, which: Which, *, limit: int) -> list[SessionRecord]:
    records: list[SessionRecord] = []
    cursor: str | None = None
    while len(records) < limit:
        size = min(MAX_PAGE, limit - len(records))
        page = await journal.list(
            cwd=str(which.cwd) if which.cwd else None,
            archived=which.archived,
            begun=which.begun,
            cursor=cursor,
            limit=size,
        )
        records += page.records
        if (cursor := page.next_cursor) is None:
            break
    return records


async def _read(wanted: str) -> tuple[SessionRecord, list[Event]]:
    async with stored_sessions() as journal:
        record = await find_session(journal, wanted)
        assert journal is not None  # else nothing is found
        return record, await journal.read(record.id)


def _show(record: SessionRecord, events: Sequence[Event]) -> None:
    print(Paint()(printable(record.title or "Untitled session"), "bold"))
    print(f"{record.id}  {record.model}  {record.mode}  {iso_time(record.updated_at)}\n{printable(record.cwd)}\n")
    print("\n".join(outline(events)) or "(nothing was said yet)")
