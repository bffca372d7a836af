"""One recorded message as one line."""

import json
from collections.abc import Callable, Mapping, Sequence

from claw_acp.cli.terminal.paint import Paint
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.telemetry.recording import Entry

LONGEST = 110  # characters of what a message is about
SESSION_SHOWN = 6  # the last characters of a session's id; the first ones are those of its neighbours too
ARROWS = {"in": "→", "out": "←"}


class TraceLine:
    """Makes lines; it must get every entry, also unprinted ones, to know the start of a recording."""

    def __init__(self, paint: Paint) -> None:
        self._paint = paint
        self._began: dict[str, float] = {}

    def see(self, entry: Entry) -> None:
        """Note the start of a recording."""
        if entry.time is not None:
            self._began.setdefault(entry.recording, entry.time)

    def text(self, entry: Entry) -> str:
        """The line."""
        began = self._began.get(entry.recording)
        since = "" if entry.time is None or began is None else f"{entry.time - began:.3f}"
        about = printable(" ".join(_about(entry).split()))
        if len(about) > LONGEST:
            about = f"{about[:LONGEST]}…"
        name = _name(entry)
        if entry.kind == "error":
            name = self._paint(name, "red")
        elif entry.kind != "notification":
            name = self._paint(name, "bold")
        session = self._paint(f"[{entry.session[-SESSION_SHOWN:]}] ", "dim") if entry.session else ""
        return f"{since:>9} {ARROWS[entry.direction]} {name}  {session}{about}".rstrip()


def _name(entry: Entry) -> str:
    took = "" if entry.took is None else f" ({_duration(entry.took)})"
    match entry.kind:
        case "result":
            return f"= {entry.method or 'answer to nothing recorded'}{took}"
        case "error":
            return f"! {entry.method or 'answer to nothing recorded'}{took}"
        case "other":
            return "? no JSON-RPC message"
        case "request" | "notification":
            return str(entry.update.get("sessionUpdate") or entry.method)


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _about(entry: Entry) -> str:
    match entry.kind:
        case "error":
            error = _object(entry.frame.get("error"))
            return f"{error.get('code')}: {error.get('message')}"
        case "result":
            return _result(entry)
        case "other":
            return entry.text or json.dumps(entry.frame)
        case "request" | "notification":
            tell = _TELLERS.get(entry.method, _rest)
            return tell(entry.update or entry.params)


def _result(entry: Entry) -> str:
    result = entry.frame.get("result")
    known = _object(result)
    for key in ("stopReason", "messageId", "terminalId"):
        if key in known:
            return str(known[key])
    if "sessions" in known and isinstance(known["sessions"], Sequence):
        return f"{len(known['sessions'])} session(s)"
    outcome = _object(known.get("outcome"))
    if outcome:
        return str(outcome.get("optionId") or outcome.get("outcome"))
    return _rest(known) if known else json.dumps(result)


def _update(update: JsonObject) -> str:
    content = update.get("content")
    if isinstance(content, Mapping):
        return _block(content)
    if title := update.get("title"):
        return f"{title} {update.get('status', '')}"
    if status := update.get("status"):
        return str(status)
    return _rest({key: value for key, value in update.items() if key != "sessionUpdate"})


def _prompt(params: JsonObject) -> str:
    blocks = params.get("prompt")
    return " ".join(map(_block, blocks)) if isinstance(blocks, Sequence) and not isinstance(blocks, str) else ""


def _permission(params: JsonObject) -> str:
    return str(params.get("title") or _object(params.get("toolCall")).get("title") or "")


def _block(block: JsonValue) -> str:
    known = _object(block)
    if known.get("type") == "text":
        return json.dumps(known.get("text"), ensure_ascii=False)
    return f"<{known.get('type')} {known.get('uri') or known.get('mimeType') or ''}>"


def _rest(params: JsonObject) -> str:
    """A short form of any other params."""
    shown = {key: value for key, value in params.items() if key not in {"sessionId", "_meta"}}
    return json.dumps(shown, ensure_ascii=False) if shown else ""


_TELLERS: Mapping[str, Callable[[JsonObject], str]] = {
    "session/update": _update,
    "session/prompt": _prompt,
    "session/request_permission": _permission,
}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
