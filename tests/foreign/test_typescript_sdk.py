"""The official TypeScript SDK drives the program through one whole conversation in two processes (`client.mjs`)."""

from tests.support.editors.exchange import Json, spoken, tool_calls
from tests.support.foreign.desk import Desk
from tests.support.foreign.typescript import reported
from tests.support.script_files import Script, call, expect, hold, say, think, turn

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


async def test_a_whole_conversation_as_the_typescript_sdk_sees_it(desk: Desk) -> None:
    desk.plays(SCRIPT)
    path = desk.file("a.txt", "on disk\n")
    summary = await reported("client.mjs", desk, buffer={"path": str(path), "text": "being typed\n"})
    assert (summary["agent"], summary["version"], summary["exits"]) == ("claw-acp", 1, [0, 0])
    assert summary["modes"] == ["plan", "ask", "edit", "auto"]
    assert summary["options"] == ["mode", "model", "web"]
    check_the_work(desk, summary)
    check_the_cancelled_turn(summary)
    check_the_second_process(summary)


def check_the_work(desk: Desk, summary: Json) -> None:
    path = str(desk.project / "a.txt")
    assert summary["worked"] == {"stopReason": "end_turn"}
    assert spoken(summary["live"], "agent_thought_chunk") == "Look first."
    assert spoken(summary["live"], "agent_message_chunk").startswith("Looking. Done.")
    read, edit, shell, plan, asking = tool_calls(summary["live"]).values()
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
    assert [item["status"] for item in tool_calls(replayed).values()] == ["completed"] * 5
    assert summary["loaded"]["modes"]["currentModeId"] == "edit"
    assert summary["thanked"] == {"stopReason": "end_turn"}
    assert summary["closed"]["code"] == -32002
    assert summary["closed"]["data"] == {"sessionId": summary["session"]}
    assert summary["left"] == 0
