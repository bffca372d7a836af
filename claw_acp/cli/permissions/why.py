"""`claw-acp permissions why`: what decided about the calls of a session, from the audit log."""

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from claw_acp.cli.permissions.recorded import recorded
from claw_acp.cli.sessions.stored import find_session, last_session, stored_sessions
from claw_acp.cli.terminal.paint import Paint
from claw_acp.core.errors import ConfigError
from claw_acp.core.events import Event, ToolCallChanged
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import in_reading_order, printable
from claw_acp.core.value import Value, as_dict
from claw_acp.session.record import SessionRecord

KINDS: Final = frozenset({"call", "permission", "network", "outcome"})
LISTED: Final = 10  # calls, unless all are wanted
NO_RULE: Final = "No rule decided this, but the mode or a built-in protection."


class ExplainedCall(Value):
    """A call, and what is on record about it.

    Attributes:
        call: Its id.
        tool: Its name.
        title: Its title in the conversation.
        lines: The lines of the audit log, oldest first.
        refusal: What the conversation says about why it was not run.
    """

    call: str
    tool: str
    title: str
    lines: tuple[JsonObject, ...] = ()
    refusal: str = ""


def main(options: argparse.Namespace, project: Path) -> int:
    """Print what decided, the last call at the end."""
    record, events = anyio.run(partial(_read, options.session, project))
    calls = explained(events, [facts for facts in recorded(KINDS) if facts.get("session") == record.id])
    if options.call:
        calls = [_only(calls, options.call)]
    elif not options.all:
        calls = calls[-LISTED:]
    if options.json:
        print(json.dumps({"session": record.id, "calls": [as_dict(call) for call in calls]}, indent=2, default=dict))
        return 0
    print(f"{record.id}  {printable(record.title or '')}".rstrip())
    for call in calls:
        print("\n".join(["", *_lines(call)]))
    if not calls:
        print("It called no tool.")
    return 0


async def _read(wanted: str | None, project: Path) -> tuple[SessionRecord, Sequence[Event]]:
    async with stored_sessions() as journal:
        if wanted is not None:
            record = await find_session(journal, wanted)
        else:
            try:
                record = await last_session(journal, project)
            except ConfigError as error:
                raise ConfigError(f"there is no session of {project}; `claw-acp sessions list` shows them") from error
        assert journal is not None
        return record, await journal.read(record.id)


def explained(events: Sequence[Event], lines: Sequence[JsonObject]) -> list[ExplainedCall]:
    """The calls of a session in order, each with its lines of the log."""
    titles: dict[str, str] = {}
    names: dict[str, str] = {}
    refusals: dict[str, str] = {}
    for event in events:
        if isinstance(event, ToolCallChanged):
            names[event.item] = event.name or names.get(event.item, "")
            titles[event.item] = event.title or titles.get(event.item, "")
            refusals[event.item] = event.refusal or refusals.get(event.item, "")
    about: dict[str, list[JsonObject]] = {}
    for facts in lines:
        about.setdefault(str(facts.get("call", "")), []).append(facts)
    known = dict.fromkeys([*names, *filter(None, about)])
    return [
        ExplainedCall(
            call=call, tool=names.get(call) or str(about[call][0].get("tool", "")), title=titles.get(call, ""),
            lines=tuple(about.get(call, ())), refusal=refusals.get(call, ""),
        )
        for call in known
    ]  # fmt: skip


def _only(calls: Sequence[ExplainedCall], wanted: str) -> ExplainedCall:
    found = [call for call in calls if call.call == wanted] or [
        call for call in calls if call.call.lower().endswith(wanted.lower())
    ]
    if len(found) != 1:
        several = "several calls end so" if found else "the session has no such call"
        raise ConfigError(f"{printable(wanted)}: {several}; without it, `claw-acp permissions why` names the last ones")
    return found[0]


def _lines(call: ExplainedCall) -> Iterator[str]:
    yield f"{Paint()(call.call, 'bold')}  {call.tool}  {in_reading_order(printable(call.title))}".rstrip()
    for facts in call.lines:
        yield from (f"  {text}" for text in _told(facts))
    if call.refusal and not any(facts.get("status") == "not run" for facts in call.lines):
        yield f"  not run: {printable(call.refusal)}"
    if not call.lines and not call.refusal:
        yield "  Nothing is on record: it asked for nothing that is decided about, or the audit log is off."


def _told(facts: JsonObject) -> Iterator[str]:
    """A line of the log in words."""
    text = {name: _text(value) for name, value in facts.items()}
    at = text.get("at", "")[:19].replace("T", " ")
    match facts.get("kind"):
        case "permission":
            by = f" by {text['by']}" if text.get("by") else ""
            yield f"{at}  asked: {text.get('asked_because', '')}"
            yield f"{'':21}answer: {text.get('answer', '').replace('_', ' ')}{by}{_stored(facts)}"
        case "call":
            where = f"; it ran {text['sandbox']}" if text.get("sandbox", "none") != "none" else ""
            yield f"{at}  run in {text.get('mode')} mode{where}: {text.get('reason', '')}"
            yield f"{'':21}{_rule(text)}"
        case "network":
            yield f"{at}  connection {text.get('connection')}: {text.get('host')}:{text.get('port')} {text['reason']}"
        case _ if facts.get("status") == "not run":
            yield f"{at}  not run in {text.get('mode')} mode: {text.get('reason', '')}"
        case _:
            yield f"{at}  {text.get('status', 'ended')} after {text.get('seconds', '?')} s"


def _rule(text: dict[str, str]) -> str:
    return f"rule: {text['rule']}" if text.get("rule") else NO_RULE


def _stored(facts: JsonObject) -> str:
    stores = facts.get("stores")
    return f"; stored {', '.join(map(_text, stores))}" if isinstance(stores, list) and stores else ""


def _text(value: JsonValue) -> str:
    return "" if value is None else printable(value if isinstance(value, str) else json.dumps(value))
