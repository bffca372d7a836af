"""What can be done with sessions, through the unstable surface of the official TypeScript SDK (`sessions.mjs`)."""

from typing import cast

import pytest

from tests.support.editors.exchange import Json, spoken, tool_calls
from tests.support.foreign.desk import Desk
from tests.support.foreign.models import address, conversation, powered
from tests.support.foreign.typescript import reported
from tests.support.script_files import Script, call, expect, hold, say, turn
from tests.support.servers.model_server import ModelServer
from tests.support.trust import trust_all

STEPS = [{"content": "look", "priority": "high", "status": "in_progress"}]
QUESTIONS = [
    {"question": "Name?"},
    {"question": "Which?", "kind": "choice", "options": [{"label": "red"}, {"label": "blue"}]},
]
SCRIPT = Script(
    turn(expect("Fix a.txt at once."), call("plan", entries=STEPS), when="Fix"),
    turn(call("ask_user", questions=QUESTIONS), when="Fix"),
    turn(expect("→ Claw"), call("plan", entries=[]), when="Fix"),
    turn(say("fixed"), when="Fix"),
    turn(say("Half"), hold("never"), when="Wait"),
    turn(call("write_file", path="never.txt", content="x"), when="Write"),
    turn(say("You are welcome."), when="Thank"),
)


@pytest.mark.rule("initialize.capabilities-honest", "config.complete", "session.fork", "session.archived-flag")
@pytest.mark.rule("session.status-pure", "session.title-kept", "plan.operations-gated", "update.notice-gated")
@pytest.mark.rule("session.system-prompt-text", "commands.after-answer", "cancel.request", "elicitation.gated")
async def test_sessions_as_the_typescript_sdk_sees_them(desk: Desk, server: ModelServer) -> None:
    powered(desk, "openai", address(server, "openai"))
    desk.plays(SCRIPT, config="colour = 'green'")
    folder = desk.project / ".claw" / "commands"
    folder.mkdir(parents=True)
    (folder / "fix.md").write_text("---\ndescription: Fix a file\nargument-hint: <file>\n---\nFix $1 at once.\n")
    trust_all(desk.project, home=desk.home)
    server.will_say("in rhymes")
    server.will_say("decided")
    env = {**desk.env, "CLAW_ACP_LOG": "error"}  # the mistake above is a warning
    report = await reported("sessions.mjs", desk, env=env, model="openai/gpt-5-mini")
    check_what_is_offered(report["hello"])
    check_the_settings(report)
    check_what_the_model_heard(server)
    check_the_copy(report)
    check_the_work(report)
    check_what_was_cancelled(report)


def check_what_is_offered(hello: Json) -> None:
    offered = hello["agentCapabilities"]
    assert {"fork", "archive", "status", "title", "systemPrompt"} <= set(offered["sessionCapabilities"])
    assert {"auth", "providers"} <= set(offered)
    assert [method["id"] for method in hello["authMethods"]] == ["api-key"]


def check_the_settings(report: Json) -> None:
    current = [{option["id"]: option["currentValue"] for option in options} for options in report["options"]]
    assert current[-1] == {"mode": "plan", "model": "openai/gpt-5-mini", "thought_level": "high", "web": False}
    assert [options["thought_level"] for options in current] == ["default", "high", "high", "high"]
    (web,) = [option for option in report["options"][-1] if option["id"] == "web"]
    assert web["type"] == "boolean"
    assert report["wrongOption"]["code"] == -32602
    assert report["answered"]["usage"] == {"totalTokens": 15, "inputTokens": 10, "outputTokens": 5}


def check_what_the_model_heard(server: ModelServer) -> None:
    poet, judge = [cast("Json", request.json) for request in server.requests]
    first, second = [request["messages"][0]["content"] for request in (poet, judge)]
    assert first.startswith("You are Claw")
    assert first.endswith("Speak in rhymes.\n")
    assert second.startswith("You are a judge.\n")
    assert "You are Claw" not in second
    assert [message["content"] for message in conversation(server.requests[1])] == ["Hello", "in rhymes", "Decide"]
    assert poet["reasoning_effort"] == judge["reasoning_effort"] == "high"
    assert "fetch" not in [tool["function"]["name"] for tool in poet["tools"]]


def check_the_copy(report: Json) -> None:
    copy = report["copy"]
    assert copy["mode"] == "plan"
    assert report["titled"] == {"title": "The copy"}
    assert report["statuses"] == [{"status": "open"}, {"status": "saved"}]
    (archived,) = report["archived"]
    assert (archived["sessionId"], archived["title"], archived["archived"]) == (copy["id"], "The copy", True)
    assert [session["archived"] for session in report["all"]] == [False, False]
    assert report["loaded"]["modes"]["currentModeId"] == "plan"
    assert spoken(report["replayed"], "user_message_chunk") == "HelloDecide"
    assert spoken(report["replayed"], "agent_message_chunk") == "in rhymesdecided"
    assert (report["unknown"]["code"], report["unknown"]["data"]) == (-32002, {"sessionId": copy["id"]})


def check_the_work(report: Json) -> None:
    (notice,) = [update for update in report["opened"] if update["sessionUpdate"] == "notice"]
    assert "colour: unknown key" in notice["title"]
    commands = next(update for update in report["opened"] if update["sessionUpdate"] == "available_commands_update")
    (fix,) = [command for command in commands["availableCommands"] if command["name"] == "fix"]
    assert fix == {"name": "fix", "description": "Fix a file (project)", "input": {"hint": "<file>"}}
    assert report["fixed"] == {"stopReason": "end_turn"}
    first, removed = [update for update in report["work"] if update["sessionUpdate"].startswith("plan")]
    assert (first["plan"]["type"], first["plan"]["entries"]) == ("items", STEPS)
    assert removed == {"sessionUpdate": "plan_removed", "planId": first["plan"]["planId"]}
    (form,) = report["forms"]
    (asking,) = [it for it in tool_calls(report["work"]).values() if it.get("name") == "ask_user"]
    assert (form["mode"], form["toolCallId"], asking["status"]) == ("form", asking["toolCallId"], "completed")


def check_what_was_cancelled(report: Json) -> None:
    assert report["withdrawn"] in ({"stopReason": "cancelled"}, {"code": -32800})
    assert report["question"]["toolCall"]["title"] == "Write never.txt"
    assert report["unanswered"] == {"stopReason": "cancelled"}
    assert report["thanked"] == {"stopReason": "end_turn"}
