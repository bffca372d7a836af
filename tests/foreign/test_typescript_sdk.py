"""The official TypeScript SDK drives the program through one whole conversation in two processes (`client.mjs`)."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tests.support.foreign_desk import Desk
from tests.support.node import FOREIGN, foreign_modules, require_node
from tests.support.official_schema import Judge, OfficialSchema
from tests.support.script_files import Script, call, expect, hold, say, think, turn

PATIENCE = 50.0  # seconds for the whole conversation; a test may take 60

Json = dict[str, Any]

CHOICES = [{"label": "red", "description": "warm"}, {"label": "blue"}]
SCRIPT = Script(
    turn(think("Look first."), say("Looking. "), call("read_file", path="a.txt")),
    turn(
        expect("being typed"),
        call("edit_file", path="a.txt", edits=[{"old_text": "being typed", "new_text": "edited"}]),
        call("shell", command="touch made.txt && echo from-the-terminal"),
        call("plan", entries=[{"content": "Finish", "priority": "high", "status": "in_progress"}]),
        call(
            "ask_user", questions=[{"question": "Name?"}, {"question": "Which?", "kind": "choice", "options": CHOICES}]
        ),
    ),
    turn(expect("- Name? → Claw\n- Which? → red\n- The user adds: Claw"), say("Done.")),
    turn(say("Half"), hold("never")),
    turn(say("You are welcome.")),
)


def converse(desk: Desk) -> Json:
    """Run the client; returns what it says happened."""
    node = require_node()
    foreign_modules()
    desk.plays(SCRIPT)
    path = desk.file("a.txt", "on disk\n")
    plan = {
        "command": [sys.executable, "-m", "claw_acp"],
        "project": str(desk.project),
        "buffer": {"path": str(path), "text": "being typed\n"},
    }
    done = subprocess.run(
        [*node.node, str(FOREIGN / "client.mjs"), json.dumps(plan)],
        cwd=desk.home,
        env={**os.environ, "HOME": str(desk.home), "CLAW_ACP_HOME": str(desk.claw)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def spoken(updates: Sequence[Json], kind: str) -> str:
    return "".join(update["content"]["text"] for update in updates if update["sessionUpdate"] == kind)


def tool_calls(updates: Sequence[Json]) -> list[Json]:
    """Tool calls as a client ends up seeing them."""
    calls: dict[str, Json] = {}
    for update in updates:
        if update["sessionUpdate"] in {"tool_call", "tool_call_update"}:
            calls.setdefault(update["toolCallId"], {}).update(update)
    return list(calls.values())


def test_a_whole_conversation_as_the_typescript_sdk_sees_it(desk: Desk) -> None:
    summary = converse(desk)
    assert summary["complaints"] == []
    assert (summary["agent"], summary["version"], summary["exits"]) == ("claw-acp", 1, [0, 0])
    assert summary["modes"] == ["plan", "ask", "edit", "auto"]
    assert summary["options"] == ["mode", "model", "web"]
    check_the_work(desk, summary)
    check_the_cancelled_turn(summary)
    check_the_second_process(summary)
    for frames in summary["frames"]:
        check_every_frame(frames)


def check_the_work(desk: Desk, summary: Json) -> None:
    path = str(desk.project / "a.txt")
    assert summary["worked"] == {"stopReason": "end_turn"}
    assert spoken(summary["live"], "agent_thought_chunk") == "Look first."
    assert spoken(summary["live"], "agent_message_chunk").startswith("Looking. Done.")
    read, edit, shell, plan, asking = tool_calls(summary["live"])
    assert [item["status"] for item in (read, edit, shell, plan, asking)] == ["completed"] * 5
    assert [item["kind"] for item in (read, edit, shell, plan, asking)] == ["read", "edit", "execute", "think", "other"]
    (form,) = summary["forms"]
    assert (form["mode"], form["toolCallId"]) == ("form", asking["toolCallId"])
    assert edit["content"] == [
        {"type": "diff", "path": path, "oldText": "being typed\n", "newText": "edited\n"},
    ]
    assert summary["writes"] == {path: "edited\n"}
    assert shell["content"] == [{"type": "terminal", "terminalId": "terminal-1"}]
    assert summary["terminals"]["terminal-1"]["released"] is True
    assert (desk.project / "made.txt").exists()
    asked = [question["call"]["toolCallId"] for question in summary["permissions"]]
    assert asked == [edit["toolCallId"], shell["toolCallId"]]
    assert any(update["sessionUpdate"] == "available_commands_update" for update in summary["live"])


def check_the_cancelled_turn(summary: Json) -> None:
    assert summary["cancelled"] == {"stopReason": "cancelled"}
    (listed,) = summary["listed"]
    assert (listed["sessionId"], listed["title"]) == (summary["session"], "Work")


def check_the_second_process(summary: Json) -> None:
    live, replayed = summary["live"], summary["replayed"]
    assert spoken(replayed, "user_message_chunk") == "WorkWait"
    assert spoken(replayed, "agent_message_chunk") == spoken(live, "agent_message_chunk") == "Looking. Done.Half"
    assert [item["status"] for item in tool_calls(replayed)] == ["completed"] * 5
    assert summary["loaded"]["modes"]["currentModeId"] == "edit"
    assert summary["thanked"] == {"stopReason": "end_turn"}
    assert summary["closed"]["code"] == -32002
    assert summary["closed"]["data"] == {"sessionId": summary["session"]}
    assert summary["left"] == 0


def check_every_frame(frames: Sequence[Json]) -> None:
    judge = Judge(OfficialSchema.load())
    for frame in frames:
        (judge.client_sent if frame["sent"] else judge.agent_sent)(frame["message"])
    assert judge.unanswered == []
