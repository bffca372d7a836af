"""Frames of real conversations, in both versions of the protocol: what is broken by `mutations`."""

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.oracle import Json
from tests.support.script_files import Script, call, say, think, turn

GREETING = "Hello, world."


def script(project: Path) -> Script:
    """What the model plays. Whatever directory a broken frame opens a session in, it writes to the project alone."""
    path = str(project / "written.txt")
    return Script(
        turn(say("Wait"), {"wait_for": "never"}, when="slow"),
        turn(call("write_file", path=path, content="x"), call("read_file", path="a.txt"), when="tool"),
        turn(say("Done."), when="tool"),
        turn(call("shell", command="rm -f nothing-here"), when="command"),
        turn(say("Done."), when="command"),
        turn(think("A greeting."), say("Hello", ", ", "world.")),
        loop=True,
    )


PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
BLOCKS: Sequence[Json] = (
    {"type": "text", "text": "hello"},
    {"type": "text", "text": "slow"},
    {"type": "text", "text": "tool"},
    {"type": "text", "text": "command"},
    {"type": "text", "text": "/help"},
    {"type": "text", "text": "/mode plan"},
    {"type": "image", "data": PICTURE, "mimeType": "image/png"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt", "size": 6},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "note", "mimeType": "text/plain"}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": "AAAA"}, "annotations": {"audience": ["user"]}},
)
CAPABILITIES: Sequence[Json] = (
    {},
    {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True},
    {
        "fs": {"readTextFile": True, "writeTextFile": True},
        "terminal": True,
        "auth": {"terminal": True},
        "elicitation": {"form": {}, "url": {}},
        "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
        "plan": {},
    },
)


class Corpus:
    """Makes messages about the sessions that there are."""

    def __init__(self, random: Random, *, cwd: str, version: int) -> None:
        self._random = random
        self._cwd = cwd
        self._version = version
        self._ids = 0
        self.sessions: list[str] = []

    def initialize(self) -> Json:
        """The handshake."""
        who = {"name": "fuzz", "version": "1"}
        offered = self._random.choice(CAPABILITIES)
        params = {"protocolVersion": self._version, "clientInfo": who, "info": who, "clientCapabilities": offered}
        return self.request("initialize", {**params, "capabilities": {"elicitation": {"form": {}}}})

    def request(self, method: str, params: Json) -> Json:
        """A request with a fresh id."""
        self._ids += 1
        request_id: Any = self._ids if self._random.random() < 0.8 else f"id-{self._ids}"
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def opening(self) -> Json:
        """`session/new`."""
        return self.request("session/new", {"cwd": self._cwd, "mcpServers": []})

    def any(self) -> Json:
        """Any message; prompts are frequent, and sessions are not."""
        pick = self._random.random()
        if pick < 0.30:
            return self._prompt()
        if pick < 0.36 or not self.sessions:
            return self.opening()
        if pick < 0.50:
            return self._notification()
        if pick < 0.56:
            return self._answer()
        return self._other()

    def _session(self) -> str:
        return self._random.choice(self.sessions) if self.sessions else "ses_none"

    def _prompt(self) -> Json:
        count = self._random.choice((1, 1, 1, 2, 4))
        blocks = [dict(self._random.choice(BLOCKS)) for _ in range(count)]
        return self.request("session/prompt", {"sessionId": self._session(), "prompt": blocks})

    def _notification(self) -> Json:
        method, params = self._random.choice((
            ("session/cancel", {"sessionId": self._session()}),
            ("$/cancel_request", {"requestId": self._random.randrange(self._ids + 1)}),
            ("$/cancel_request", {"requestId": f"id-{self._ids}"}),
            ("_x/y", {"a": 1}),
            ("mcp/message", {"serverId": "s", "requestId": 1, "method": "x"}),
        ))  # fmt: skip
        return {"jsonrpc": "2.0", "method": method, "params": params}

    def _answer(self) -> Json:
        """An answer that nobody waits for, or that comes to the wrong question."""
        outcome: Json = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        choice: Json = self._random.choice(
            ({"result": outcome}, {"result": None}, {"error": {"code": -1, "message": "no"}})
        )
        return {"jsonrpc": "2.0", "id": self._random.randrange(40), **choice}

    def _other(self) -> Json:
        session, cwd = self._session(), self._cwd
        where: Json = {"sessionId": session, "cwd": cwd, "mcpServers": []}
        server = {"name": "s", "command": "/nonexistent/server", "args": ["a"], "env": [{"name": "A", "value": "b"}]}
        both: list[tuple[str, Json]] = [
            ("session/list", {}),
            ("session/list", {"cwd": cwd, "cursor": None}),
            ("session/list", {"cursor": "bm90aGluZw"}),
            ("session/resume", where),
            ("session/close", {"sessionId": session}),
            ("session/delete", {"sessionId": session}),
            ("session/fork", where),
            ("session/archive", {"sessionId": session}),
            ("session/unarchive", {"sessionId": session}),
            ("session/status", {"sessionId": session}),
            ("session/set_title", {"sessionId": session, "title": "A title"}),
            ("session/new", {"cwd": cwd, "mcpServers": [], "additionalDirectories": [cwd], "_meta": {"a": 1}}),
            (
                "session/new",
                {
                    "cwd": cwd,
                    "mcpServers": [{"type": "http", "name": "h", "url": "nowhere:9", "headers": []}],
                },
            ),
            ("auth/status", {}),
            ("providers/list", {}),
            ("foo/bar", {}),
            ("_x/y", {"a": [1, 2, {"b": None}]}),
        ]
        return self.request(
            *self._random.choice([*both, *(self._first(where, server) if self._version == 1 else self._second(where))])
        )

    def _first(self, where: Json, server: Json) -> list[tuple[str, Json]]:
        session = where["sessionId"]
        return [
            ("session/load", where),
            ("session/load", where),
            ("session/new", {**where, "mcpServers": [server]}),
            (
                "session/set_mode",
                {"sessionId": session, "modeId": self._random.choice(("plan", "ask", "edit", "auto"))},
            ),
            ("session/set_config_option", {"sessionId": session, "configId": "mode", "value": "plan"}),
            ("session/set_config_option", {"sessionId": session, "configId": "x", "type": "boolean", "value": True}),
            ("authenticate", {"methodId": "nothing"}),
        ]

    def _second(self, where: Json) -> list[tuple[str, Json]]:
        session = where["sessionId"]
        return [
            ("session/resume", {**where, "replayFrom": {"type": "start"}}),
            ("session/set_config_option", {"sessionId": session, "configId": "mode", "type": "id", "value": "plan"}),
            ("tool_call/cancel", {"sessionId": session, "toolCallId": "call_1"}),
            ("terminal/cancel", {"sessionId": session, "terminalId": "term_1"}),
            ("auth/login", {"methodId": "nothing"}),
        ]
