"""The official TypeScript SDK's client of protocol 2 drives the program through one conversation (`client_v2.mjs`)."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.editors.editor_v2 import printed, said
from tests.support.editors.exchange import tool_calls
from tests.support.foreign.desk import Desk
from tests.support.foreign.node import FOREIGN, foreign_modules, require_node
from tests.support.judges.official_schema import Judge, OfficialSchema
from tests.support.script_files import Script, call, hold, say, think, turn

PATIENCE = 50.0  # seconds for the whole conversation; a test may take 60

Json = dict[str, Any]

SCRIPT = Script(
    turn(think("Look first."), say("Looking. "), call("read_file", path="a.txt"), when="^Work"),
    turn(
        call("edit_file", path="a.txt", edits=[{"old_text": "one", "new_text": "two"}]),
        call("shell", command="echo $((20+1)) > made.txt; echo from-the-terminal"),
        call("plan", entries=[{"content": "Finish", "priority": "high", "status": "in_progress"}]),
        when="^Work",
    ),
    turn(say("Done."), when="^Work"),
    turn(say("Half"), hold("never"), when="^Wait"),
    turn(call("write_file", path="never.txt", content="x"), when="^Ask"),
    turn(call("shell", command="echo serving; sleep 60", background=True), when="^Serve"),
    turn(say("It serves."), when="^Serve"),
    turn(call("shell", command="sleep 60"), when="^Stop"),
    turn(say("Then not."), when="^Stop"),
    turn(say("You are welcome."), when="^Thank"),
)


def converse(desk: Desk) -> Json:
    """Run the client; returns what it says happened."""
    node = require_node()
    foreign_modules()
    desk.plays(SCRIPT)
    desk.file("a.txt", "one\n")
    plan = {"command": [sys.executable, "-m", "claw_acp"], "project": str(desk.project)}
    done = subprocess.run(
        [*node.node, str(FOREIGN / "client_v2.mjs"), json.dumps(plan)],
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


@pytest.mark.rule("v2.open-enums", "v2.id-reuse")
def test_a_whole_conversation_as_the_typescript_sdk_sees_it(desk: Desk) -> None:
    summary = converse(desk)
    assert (summary["complaints"], summary["customs"]) == ([], [])
    assert (summary["agent"], summary["version"], summary["exits"]) == ("claw-acp", 2, [0, 0])
    assert summary["options"][:2] == ["mode", "model"]
    assert "help" in summary["commands"]
    check_the_work(desk, summary)
    check_what_was_stopped(desk, summary)
    check_the_second_process(summary)
    for frames in summary["frames"]:
        check_every_frame(frames)


def check_the_work(desk: Desk, summary: Json) -> None:
    worked = summary["worked"]
    assert (worked["stopReason"], worked["text"]) == ("end_turn", "Looking. Done.")
    assert worked["states"] == ["running", "requires_action", "running", "requires_action", "running", "idle"]
    read, edit, shell, plan = tool_calls(worked["updates"]).values()
    assert [item["status"] for item in (read, edit, shell, plan)] == ["completed"] * 4
    assert [question["subject"]["type"] for question in summary["permissions"]] == ["tool_call", "command", "tool_call"]
    assert edit["content"][0]["changes"][0]["path"] == str(desk.project / "a.txt")
    assert (desk.project / "a.txt").read_text() == "two\n"
    assert (desk.project / "made.txt").read_text() == "21\n"
    assert printed(worked["updates"], shell["content"][0]["terminalId"]) == "from-the-terminal\n"


def check_what_was_stopped(desk: Desk, summary: Json) -> None:
    assert (summary["cancelled"]["stopReason"], summary["cancelled"]["text"]) == ("cancelled", "Half")
    assert summary["unanswered"] == "cancelled"
    assert not (desk.project / "never.txt").exists()
    assert summary["mode"] == "auto"
    assert (summary["served"]["text"], summary["cancellable"], summary["stillCancellable"]) == (
        "It serves.",
        True,
        False,
    )
    (stopped,) = tool_calls(summary["stopped"]["updates"]).values()
    assert (stopped["status"], summary["stopped"]["text"]) == ("cancelled", "Then not.")
    assert summary["stopped"]["stopReason"] == "end_turn"
    assert [session["sessionId"] for session in summary["listed"]] == [summary["session"]]


def check_the_second_process(summary: Json) -> None:
    replayed = summary["replayed"]["updates"]
    users = [update for update in replayed if update["sessionUpdate"] == "user_message"]
    assert [user["content"][0]["text"] for user in users] == ["Work", "Wait", "Ask", "Serve", "Stop the call"]
    assert users[0]["messageId"] == summary["workId"]
    assert said(replayed, "agent_message") == "Looking. Done.HalfIt serves.Then not."
    assert summary["thanked"] == "You are welcome."
    assert (summary["closed"]["code"], summary["left"]) == (-32002, 0)
    assert summary["closed"]["data"] == {"sessionId": summary["session"]}
    assert len(summary["resumed"]["configOptions"]) >= 2


def check_every_frame(frames: Sequence[Json]) -> None:
    judge = Judge(OfficialSchema.load(2))
    for frame in frames:
        (judge.client_sent if frame["sent"] else judge.agent_sent)(frame["message"])
    assert judge.unanswered == []
