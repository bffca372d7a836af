"""The official TypeScript SDK's clients for WebSocket and streamable HTTP, as somebody else's idea of the protocol."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest
from anyio import to_thread

from tests.gateway.conftest import Serve
from tests.support.editors.exchange import Json, spoken, tool_calls
from tests.support.foreign.node import FOREIGN, foreign_modules, require_node
from tests.support.script_files import Script, call, hold, say, turn
from tests.support.servers.remote_server import RemoteServer

PATIENCE = 50.0  # seconds for the whole conversation

SCRIPT = Script(
    turn(say("Looking. "), call("read_file", path="a.txt")),
    turn(
        call("edit_file", path="a.txt", edits=[{"old_text": "hello", "new_text": "good bye"}]),
        call("shell", command="touch made.txt"),
    ),
    turn(say("Done.")),
    turn(say("Half"), hold("never")),
    turn(say("You are welcome.")),
    turn(say("Yes."), when="^a$"),
    turn(say("Yes."), when="^b$"),
)


def converse(server: RemoteServer, profile: str, project: Path) -> Json:
    """Run the client; returns what it says happened."""
    node = require_node()
    foreign_modules()
    plan: dict[str, Any] = {"url": server.url, "token": server.token, "profile": profile, "project": str(project)}
    done = subprocess.run(
        [*node.node, "--experimental-websocket", str(FOREIGN / "remote.mjs"), json.dumps(plan)],
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


@pytest.mark.parametrize("profile", ["websocket", "http"])
async def test_a_conversation_as_the_typescript_sdk_sees_it(
    serve: Serve, project: Path, profile: Literal["websocket", "http"]
) -> None:
    async with serve(script=SCRIPT) as server:
        summary = await to_thread.run_sync(converse, server, profile, project)
    assert summary["complaints"] == []
    assert summary["agent"] == "claw-acp"
    check_the_work(summary, project)
    check_the_way_back(summary)


def check_the_work(summary: Json, project: Path) -> None:
    live = summary["live"]
    assert summary["worked"]["stopReason"] == "end_turn"
    assert spoken(live, "agent_message_chunk") == "Looking. Done.Half"
    calls = list(tool_calls(live).values())
    assert [item["status"] for item in calls] == ["completed"] * 3
    assert summary["asked"] == [item["toolCallId"] for item in calls[1:]]
    assert (project / "a.txt").read_text() == "good bye\n"
    assert summary["cancelled"]["stopReason"] == "cancelled"
    assert any(update["sessionUpdate"] == "available_commands_update" for update in live)


def check_the_way_back(summary: Json) -> None:
    replayed = summary["replayed"]
    assert spoken(replayed, "user_message_chunk") == "WorkWait"
    assert spoken(replayed, "agent_message_chunk") == "Looking. Done.Half"
    assert summary["loaded"]["modes"]["currentModeId"] == "edit"
    assert summary["thanked"]["stopReason"] == "end_turn"
    assert summary["missing"]["code"] == summary["closed"]["code"] == -32002
    assert summary["closed"]["data"] == {"sessionId": summary["session"]}
    assert [result["stopReason"] for result in summary["both"]] == ["end_turn"] * 2
    assert summary["listed"] == 2
