"""Programs that we run, as the terminals of protocol 2: output is sent once, as it comes."""

from base64 import b64encode
from typing import Final

from claw_acp.core.events import CommandContent
from claw_acp.core.json_value import JsonObject, JsonValue

_OVERLAP: Final = 1024
"""Characters of earlier output to look for in a snapshot whose beginning was cut off; fewer are ambiguous."""


class Terminals:
    """The terminals of one session, in the state known to one client."""

    def __init__(self) -> None:
        # By id, the output that the client has: how many bytes of it, or the text where it may not see those.
        self._running: dict[str, int | str] = {}
        self._ended: set[str] = set()

    def runs(self, terminal_id: str) -> bool:
        """Return whether the client knows this terminal but not its end."""
        return terminal_id in self._running

    def draw(self, picture: CommandContent) -> list[JsonObject]:
        """The updates that bring the client's terminal to this snapshot; none once it has ended."""
        terminal_id = picture.terminal_id
        if terminal_id in self._ended:
            return []
        change: dict[str, JsonValue] = {}
        chunk: JsonObject | None = None
        before = self._running.get(terminal_id)
        data, continues = _output(picture, before)
        if before is None:
            change |= {"command": picture.line, "cwd": picture.cwd}
            if picture.running:
                change["capabilities"] = {"cancel": {}}
        if continues and data:
            chunk = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id, "data": _encoded(data)}
        elif not continues and (data or before is not None):
            change["output"] = {"data": _encoded(data)}
        self._running[terminal_id] = picture.text if picture.raw is None else picture.printed
        if not picture.running:
            change |= {"exitStatus": _exit_status(picture)} | ({} if before is None else {"capabilities": None})
            del self._running[terminal_id]
            self._ended.add(terminal_id)
        update: JsonObject = {"sessionUpdate": "terminal_update", "terminalId": terminal_id, **change}
        return [*([chunk] if chunk else []), *([update] if change else [])]


def _output(picture: CommandContent, before: int | str | None) -> tuple[bytes, bool]:
    """The output that the client lacks, and whether it continues what the client has; else it replaces that."""
    raw = picture.raw
    if raw is None:
        new = _continuation(picture.text, before) if isinstance(before, str) else None
        return (picture.text if new is None else new).encode("utf-8", "replace"), new is not None
    if isinstance(before, int) and (new_bytes := picture.printed - before) <= len(raw):
        return raw[len(raw) - new_bytes :], True
    return raw, False


def _continuation(now: str, before: str) -> str | None:
    """The text printed since; None when the snapshot shows something else altogether."""
    if now.startswith(before):
        return now[len(before) :]
    overlap = before[-_OVERLAP:]
    found = now.rfind(overlap) if len(overlap) == _OVERLAP else -1
    return None if found < 0 else now[found + len(overlap) :]


def _encoded(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def _exit_status(picture: CommandContent) -> JsonObject:
    """The exit status; an end with neither code nor signal is an end all the same."""
    known = {"exitCode": picture.code, "signal": picture.signal}
    return {key: value for key, value in known.items() if value is not None}
