"""The judge of protocol 2 lets a well-behaved agent pass and names each way of misbehaving."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.judges.official_schema import Breach, Judge, OfficialSchema

Object = dict[str, Any]
TEXT: Object = {"type": "text", "text": "hi"}
INFO: Object = {"name": "me", "version": "1"}
OPTION: Object = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
DIFF: Object = {
    "type": "diff",
    "changes": [{"operation": "modify", "path": "/a"}],
    "patch": {"format": "git_patch", "text": "diff --git /a /a\n"},
}


class Talk:
    """A connection under judgement, spoken line by line; the client counts its requests from 1."""

    def __init__(self, **capabilities: object) -> None:
        self.judge = Judge(OfficialSchema.load(2))
        self.last = 0
        self.ask("initialize", protocolVersion=2, info=INFO, capabilities=capabilities)
        self.answer(protocolVersion=2, info=INFO, capabilities={"session": {}})
        self.ask("session/new", cwd="/work")
        self.answer(sessionId="s")

    def ask(self, method: str, **params: object) -> int:
        self.last += 1
        self.judge.client_sent({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def tell(self, method: str, **params: object) -> None:
        self.judge.client_sent({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, **result: object) -> None:
        self.judge.agent_sent({"jsonrpc": "2.0", "id": self.last, "result": result})

    def update(self, kind: str, /, **update: object) -> None:
        params = {"sessionId": "s", "update": {"sessionUpdate": kind, **update}}
        self.judge.agent_sent({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def state(self, state: str, **more: object) -> None:
        update: Object = {"state": state, "background": [], **more}
        self.update("state_update", **update)

    def run(self) -> "Talk":
        """A turn begins."""
        self.ask("session/prompt", sessionId="s", prompt=[TEXT])
        self.state("running")
        self.update("user_message", messageId="m1", content=[TEXT])
        self.answer(messageId="m1")
        return self

    def call(self, **more: object) -> None:
        self.update("tool_call_update", **{"toolCallId": "c", "title": "Look", "status": "pending", **more})

    def terminal(self, **more: object) -> None:
        self.update("terminal_update", **{"terminalId": "t", "command": "ls", "cwd": "/work", **more})

    def permission(self, **more: object) -> None:
        subject: Object = {"type": "tool_call", "toolCall": {"toolCallId": "c"}}
        params = {"sessionId": "s", "title": "May it?", "subject": subject, "options": [OPTION], **more}
        self.judge.agent_sent({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params})

    def resume(self, **params: object) -> "Talk":
        self.ask("session/resume", sessionId="s", cwd="/work", **params)
        return self


def test_a_whole_conversation_passes() -> None:
    talk = Talk().run()
    talk.update("agent_message_chunk", messageId="m2", content=TEXT)
    talk.call(capabilities={"cancel": {}})
    talk.state("requires_action")
    talk.permission()
    talk.state("running")
    talk.terminal(capabilities={"cancel": {}})
    talk.call(content=[DIFF, {"type": "terminal", "terminalId": "t"}])
    talk.update("terminal_output_chunk", terminalId="t", data="aGk=")
    talk.call(status="completed", capabilities=None)
    talk.state("idle", stopReason="end_turn", background=[{"type": "terminal", "terminalId": "t"}])
    talk.update("terminal_update", terminalId="t", exitStatus={}, capabilities=None)
    talk.state("idle")
    talk.update("notice", severity="info", title="Done")
    talk.resume(replayFrom={"type": "start"})
    talk.update("user_message", messageId="m1", content=[TEXT])
    talk.terminal(exitStatus={}, output={"data": ""})
    talk.call(status="completed")
    talk.state("idle")
    talk.answer()
    talk.ask("session/close", sessionId="s")
    talk.answer()
    assert talk.judge.unanswered == []


def _cancelled(talk: Talk) -> None:
    talk.run().tell("session/cancel", sessionId="s")
    talk.state("idle", stopReason="end_turn")


def _final(talk: Talk, **more: object) -> None:
    talk.run().call(status="completed")
    talk.call(**more)


def _ended(talk: Talk) -> None:
    talk.run().terminal(exitStatus={})
    talk.update("terminal_output_chunk", terminalId="t", data="aGk=")


def _dropped(talk: Talk) -> None:
    talk.run().terminal()
    talk.state("running", background=[{"type": "terminal", "terminalId": "t"}])
    talk.state("running", background=[])


def _closed(talk: Talk, *, running: bool) -> None:
    if running:
        talk.run()
    talk.ask("session/close", sessionId="s")
    talk.answer()
    talk.state("idle")


def _two_prompts(talk: Talk) -> None:
    talk.run()
    talk.ask("session/prompt", sessionId="s", prompt=[TEXT])
    talk.answer(messageId="m1")


def _unshown(talk: Talk) -> None:
    talk.ask("session/prompt", sessionId="s", prompt=[TEXT])
    talk.answer(messageId="m9")


def _resumed(talk: Talk, *updates: Callable[[], None], **params: object) -> None:
    talk.resume(**params)
    for update in updates:
        update()
    talk.answer()


START: Object = {"replayFrom": {"type": "start"}}
BREACHES: dict[str, Callable[[Talk], None]] = {
    "belongs to work": lambda talk: talk.update("agent_message_chunk", messageId="m", content=TEXT),
    "without a reason": lambda talk: talk.run().state("idle"),
    "reason `cancelled`": _cancelled,
    "without saying why": lambda talk: talk.run().state("idle", stopReason="error"),
    "leaves out the background": lambda talk: talk.update("state_update", state="running"),
    "not known to run": lambda talk: talk.state("running", background=[{"type": "terminal", "terminalId": "t"}]),
    "no longer listed": _dropped,
    "changes after its end": _final,
    "is over can be cancelled": lambda talk: talk.run().call(status="failed", capabilities={"cancel": {}}),
    "without a title": lambda talk: talk.run().call(title=None),
    "without its command": lambda talk: talk.run().terminal(command=None),
    "does not run": _ended,
    "not base64": lambda talk: talk.run().terminal(output={"data": "?"}),
    "was never announced": lambda talk: talk.run().call(content=[{"type": "terminal", "terminalId": "t"}]),
    "grows and was never": lambda talk: talk.run().update(
        "tool_call_content_chunk", toolCallId="c", content={"type": "content", "content": TEXT}
    ),
    "does not name /b": lambda talk: talk.run().call(
        content=[{**DIFF, "changes": [{"operation": "add", "path": "/b"}]}]
    ),
    "never announced": lambda talk: talk.run().permission(),
    "options of a permission": lambda talk: (talk.run().call(), talk.permission(options=[OPTION, OPTION]))[0],
    "permission is asked for work": lambda talk: talk.permission(),
    "which was not shown": _unshown,
    "two prompts are answered": _two_prompts,
    "end of work was not reported": lambda talk: _closed(talk, running=True),
    "session s is not open": lambda talk: _closed(talk, running=False),
    "without a state": _resumed,
    "a notice is replayed": lambda talk: _resumed(
        talk, lambda: talk.update("notice", severity="info", title="x"), **START
    ),
    "not part of the stable": lambda talk: talk.run().update("plan_removed", planId="p"),
    "names of commands": lambda talk: talk.update(
        "available_commands_update", availableCommands=[{"type": "command", "name": "a b", "description": "d"}]
    ),
    "values of option": lambda talk: talk.update(
        "config_option_update",
        configOptions=[
            {
                "configId": "x",
                "name": "X",
                "type": "select",
                "currentValue": "b",
                "options": [{"value": "a", "name": "A"}],
            }
        ],
    ),
    "needs the client's capability": lambda talk: talk.judge.agent_sent(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "elicitation/create",
            "params": {
                "sessionId": "s",
                "mode": "form",
                "message": "m",
                "requestedSchema": {"type": "object", "properties": {}},
            },
        }
    ),
    "is no request an agent": lambda talk: talk.judge.agent_sent(
        {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}}
    ),
    "paused_for_ever": lambda talk: talk.run().call(status="paused_for_ever"),
    "is not one of": lambda talk: talk.update("hologram_update"),
    "is no key of": lambda talk: talk.state("running", mood="good"),
}


@pytest.mark.parametrize("reason", BREACHES)
def test_a_breach_is_named(reason: str) -> None:
    with pytest.raises(Breach, match=reason):
        BREACHES[reason](Talk())
