"""The output of `claw-acp run`: text for people, or lines of JSON for programs."""

import json
import sys
from collections.abc import Sequence
from typing import Protocol

from claw_acp.cli.terminal.live_view import LiveView
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonValue
from claw_acp.core.printable import for_terminal
from claw_acp.rpc.errors import RpcError
from claw_acp.schema.content import TextContent
from claw_acp.schema.prompt import StopReason
from claw_acp.schema.updates import ContentChunk, Notice, SessionUpdate


class RunView(Protocol):
    """Shows a turn."""

    def draw(self, session: str, update: SessionUpdate) -> None:
        """Show one update."""
        ...

    def ended(self, session: str, stop: StopReason) -> None:
        """Handle the end of the turn."""
        ...

    def failed(self, error: ClawError | RpcError) -> None:
        """Handle a failure before or during the turn."""
        ...


class PlainText:
    """The answer on stdout as it streams; the agent's activity on stderr (`activity`).

    Args:
        activity: Draws the activity.
        problems: Problems of the configuration. They are shown now, and not when the session reports them again.
    """

    def __init__(self, activity: LiveView, *, problems: Sequence[str] = ()) -> None:
        self._activity = activity
        self._known = frozenset(problems)
        for text in problems:
            activity.line(text, colour="yellow")
        self._message: str | None = None
        self._open_line = False
        self._reported: str | None = None

    def draw(self, session: str, update: SessionUpdate) -> None:
        """See `RunView.draw`."""
        del session
        match update:
            case ContentChunk(session_update="agent_message_chunk", content=TextContent(text=text)):
                if self._message is not None and update.message_id != self._message:
                    self._end_line()
                self._message = update.message_id
                self._activity.section("answer")
                sys.stdout.write(for_terminal(text))
                sys.stdout.flush()
                self._open_line = not text.endswith("\n")
            case ContentChunk():
                pass  # thoughts and echoes are not the answer
            case Notice(title=title) if title in self._known:
                pass
            case _:
                self._end_line()
                self._activity.draw(update)
                self._reported = update.description if isinstance(update, Notice) else self._reported

    def ended(self, session: str, stop: StopReason) -> None:
        """See `RunView.ended`."""
        self._end_line()
        self._activity.end()
        if stop != "end_turn":
            self._activity.line(f"The turn ended early: {stop}.", colour="yellow")
        self._activity.line(f"Session {session}; continue it with --continue, or --session {session}", colour="dim")

    def failed(self, error: ClawError | RpcError) -> None:
        """See `RunView.failed`."""
        self._end_line()
        if error.message == self._reported:
            return  # the turn said so itself
        print(f"claw-acp run: {for_terminal(error.message)}", file=sys.stderr)

    def _end_line(self) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open_line = False


class JsonLines:
    """`{"sessionId", "update"}` for each update, then `{"sessionId", "stopReason"}` or `{"error"}`."""

    def draw(self, session: str, update: SessionUpdate) -> None:
        """See `RunView.draw`."""
        _print({"sessionId": session, "update": update.to_wire()})

    def ended(self, session: str, stop: StopReason) -> None:
        """See `RunView.ended`."""
        _print({"sessionId": session, "stopReason": stop})

    def failed(self, error: ClawError | RpcError) -> None:
        """See `RunView.failed`."""
        known: dict[str, JsonValue] = {"code": error.code, "message": error.message}
        _print({"error": known if error.data is None else {**known, "data": error.data}})


def _print(value: dict[str, JsonValue]) -> None:
    print(json.dumps(value, ensure_ascii=sys.stdout.isatty()), flush=True)
