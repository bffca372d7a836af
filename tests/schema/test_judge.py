"""The judge lets a well-behaved agent pass and names each way of misbehaving."""

from typing import Any

import pytest

from tests.schema.examples import MODES, OPTIONS, TEXT, TOOL
from tests.support.judges.official_schema import Breach, Judge, OfficialSchema

Object = dict[str, Any]
ALL_CAPABILITIES: Object = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "terminal": True,
    "session": {"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}},
    "elicitation": {"form": {}},
}
OFFERED: Object = {
    "loadSession": True,
    "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
}
CHUNK: Object = {"sessionUpdate": "agent_message_chunk", "content": TEXT}
COMMANDS: Object = {"sessionUpdate": "available_commands_update", "availableCommands": []}
OPTION: Object = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}


class Talk:
    """A connection under judgement, spoken line by line; the client counts its requests from 1."""

    def __init__(self, capabilities: Object | None = None, *, offered: Object = OFFERED, **options: Any) -> None:
        self.judge = Judge(OfficialSchema.load(), **options)
        self.last = 0
        self.ask("initialize", protocolVersion=1, clientCapabilities=capabilities or {})
        self.answer(protocolVersion=1, agentCapabilities=offered)

    def ask(self, method: str, **params: object) -> int:
        self.last += 1
        self.judge.client_sent({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def tell(self, method: str, **params: object) -> None:
        self.judge.client_sent({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, of: int | None = None, /, **result: object) -> None:
        self.judge.agent_sent({"jsonrpc": "2.0", "id": of or self.last, "result": result})

    def fail(self, code: int, *, of: int | None = None) -> None:
        self.judge.agent_sent({"jsonrpc": "2.0", "id": of or self.last, "error": {"code": code, "message": "no"}})

    def update(self, session: str = "s", /, **update: object) -> None:
        params = {"sessionId": session, "update": update}
        self.judge.agent_sent({"jsonrpc": "2.0", "method": "session/update", "params": params})

    def call(self, method: str, /, id: object = "a1", **params: object) -> None:
        self.judge.agent_sent({"jsonrpc": "2.0", "id": id, "method": method, "params": params})

    def open(self, **result: object) -> None:
        self.ask("session/new", cwd="/work", mcpServers=[])
        self.answer(sessionId="s", **result)

    def prompt(self) -> int:
        return self.ask("session/prompt", sessionId="s", prompt=[TEXT])


def test_a_whole_conversation_passes() -> None:
    talk = Talk(ALL_CAPABILITIES)
    talk.open(modes=MODES, configOptions=OPTIONS)
    talk.update(**COMMANDS)
    talk.prompt()
    talk.update(**CHUNK)
    talk.update(sessionUpdate="tool_call", **TOOL)
    talk.call("session/request_permission", sessionId="s", toolCall={"toolCallId": "call_1"}, options=[OPTION])
    talk.judge.client_sent({"jsonrpc": "2.0", "id": "a1", "result": {"outcome": {"outcome": "cancelled"}}})
    talk.call("fs/read_text_file", sessionId="s", path="/project/a.py")
    talk.update(sessionUpdate="tool_call_update", toolCallId="call_1", status="completed")
    talk.update(sessionUpdate="notice", severity="info", title="Done")
    assert talk.judge.unanswered == ["session/prompt"]
    talk.answer(stopReason="end_turn")
    talk.update(sessionUpdate="session_info_update", title="First")
    talk.ask("session/close", sessionId="s")
    talk.answer()
    talk.ask("session/load", sessionId="s", cwd="/work", mcpServers=[])
    talk.update(**CHUNK)
    talk.update(sessionUpdate="tool_call", **TOOL)
    talk.answer()
    talk.ask("_own/thing")
    talk.answer(anything=1)
    talk.judge.client_sent("not even an object")
    talk.judge.agent_sent({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "not JSON"}})
    assert talk.judge.unanswered == []


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ([], "must be an object"),
        ({"id": 2, "result": {}}, "jsonrpc"),
        ({"jsonrpc": "2.0", "id": 2, "result": {}, "error": {}}, "exactly one"),
        ({"jsonrpc": "2.0", "id": 2}, "exactly one"),
        ({"jsonrpc": "2.0", "id": 2, "result": {}, "_meta": {}}, "no key _meta"),
        ({"jsonrpc": "2.0", "result": {}}, "needs an `id`"),
        ({"jsonrpc": "2.0", "id": 2.0, "result": {"sessionId": "s"}}, "`id` must be"),
        ({"jsonrpc": "2.0", "id": "2", "result": {"sessionId": "s"}}, "no request which waits"),
        ({"jsonrpc": "2.0", "id": True, "result": {"sessionId": "s"}}, "`id` must be"),
        ({"jsonrpc": "2.0", "id": 9, "result": {}}, "no request which waits"),
        ({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "x"}}, "no request which waits"),
        ({"jsonrpc": "2.0", "id": 2, "result": {}}, "'sessionId' is a required property"),
        ({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s", "extra": 1}}, r"\$.extra is no key"),
        ({"jsonrpc": "2.0", "id": 2, "error": {"code": "x", "message": "y"}}, r"error \(Error\)"),
        ({"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "y", "more": 1}}, r"\$.more is no key"),
        ({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {}}, "no request an agent may send"),
        ({"jsonrpc": "2.0", "method": "session/cancel", "params": {}}, "no notification an agent may send"),
        ({"jsonrpc": "2.0", "method": 7}, "`method` must be"),
        ({"jsonrpc": "2.0", "method": "_own", "params": 7}, "`params` must be"),
    ],
)
def test_a_frame_that_is_wrong_in_itself_is_refused(frame: object, reason: str) -> None:
    talk = Talk()
    talk.ask("session/new", cwd="/work", mcpServers=[])
    with pytest.raises(Breach, match=reason):
        talk.judge.agent_sent(frame)


def test_a_stray_key_deep_inside_is_refused_and_one_in_meta_is_not() -> None:
    talk = Talk()
    talk.open()
    talk.prompt()
    talk.update(**CHUNK, _meta={"own": {"deep": 1}})
    with pytest.raises(Breach, match=r"\$.update.content.colour is no key"):
        talk.update(sessionUpdate="agent_message_chunk", content={**TEXT, "colour": "red"})


def test_a_breach_shows_the_frame_cut_short() -> None:
    with pytest.raises(Breach, match=r"frame: .*… \(\d+ characters\)$"):
        Talk().judge.agent_sent({"jsonrpc": "2.0", "method": "x" * 5000})


def test_nothing_but_the_answer_may_come_before_the_answer_to_initialize() -> None:
    judge = Judge(OfficialSchema.load())
    judge.client_sent({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}})
    with pytest.raises(Breach, match="before the answer to `initialize`"):
        judge.agent_sent({"jsonrpc": "2.0", "method": "elicitation/complete", "params": {"elicitationId": "e"}})


def test_a_request_before_initialize_must_be_refused_as_invalid() -> None:
    judge = Judge(OfficialSchema.load())
    judge.client_sent({"jsonrpc": "2.0", "id": 0, "method": "session/list", "params": {}})
    with pytest.raises(Breach, match="-32600"):
        judge.agent_sent({"jsonrpc": "2.0", "id": 0, "result": {"sessions": []}})


def test_no_frame_may_name_a_session_before_the_answer_that_opens_it() -> None:
    talk = Talk()
    talk.ask("session/new", cwd="/work", mcpServers=[])
    with pytest.raises(Breach, match="session s is not open"):
        talk.update(**COMMANDS)


def test_no_update_of_a_turn_may_follow_its_answer() -> None:
    talk = Talk()
    talk.open()
    talk.prompt()
    talk.answer(stopReason="end_turn")
    with pytest.raises(Breach, match="belongs to a turn"):
        talk.update(sessionUpdate="usage_update", used=1, size=2)


def test_a_second_prompt_that_waits_keeps_the_session_busy() -> None:
    talk = Talk()
    talk.open()
    first, second = talk.prompt(), talk.prompt()
    talk.answer(first, stopReason="end_turn")
    talk.update(**CHUNK)
    talk.answer(second, stopReason="end_turn")
    with pytest.raises(Breach, match="belongs to a turn"):
        talk.update(**CHUNK)


def test_replay_ends_with_the_answer_to_load() -> None:
    talk = Talk()
    talk.ask("session/load", sessionId="s", cwd="/work", mcpServers=[])
    talk.update(**CHUNK)
    talk.answer()
    with pytest.raises(Breach, match="belongs to a turn"):
        talk.update(**CHUNK)


def test_a_failed_load_opens_nothing() -> None:
    talk = Talk()
    talk.ask("session/load", sessionId="s", cwd="/work", mcpServers=[])
    talk.fail(-32002)
    with pytest.raises(Breach, match="not open"):
        talk.update(**COMMANDS)


def test_resume_sends_no_history() -> None:
    talk = Talk()
    talk.ask("session/resume", sessionId="s", cwd="/work")
    talk.update(**COMMANDS)
    with pytest.raises(Breach, match="belongs to a turn"):
        talk.update(**CHUNK)


def test_a_closed_session_is_silent() -> None:
    talk = Talk()
    talk.open()
    talk.ask("session/close", sessionId="s")
    talk.answer()
    with pytest.raises(Breach, match="not open"):
        talk.update(**COMMANDS)


def test_permission_is_asked_for_announced_tool_calls_only() -> None:
    talk = Talk()
    talk.open()
    talk.prompt()
    with pytest.raises(Breach, match="never announced"):
        talk.call("session/request_permission", sessionId="s", toolCall={"toolCallId": "c"}, options=[OPTION])


def test_a_tool_call_is_announced_once_and_before_its_updates() -> None:
    talk = Talk()
    talk.open()
    talk.prompt()
    with pytest.raises(Breach, match="never announced"):
        talk.update(sessionUpdate="tool_call_update", toolCallId="call_1")
    talk.update(sessionUpdate="tool_call", **TOOL)
    with pytest.raises(Breach, match="announced twice"):
        talk.update(sessionUpdate="tool_call", **TOOL)


@pytest.mark.parametrize("ending", ["end_turn", -32603])
def test_a_cancelled_turn_ends_as_cancelled(ending: str | int) -> None:
    talk = Talk()
    talk.open()
    talk.prompt()
    talk.tell("session/cancel", sessionId="s")
    talk.update(**CHUNK)
    with pytest.raises(Breach, match="must end with the stop reason `cancelled`"):
        talk.fail(ending) if isinstance(ending, int) else talk.answer(stopReason=ending)


def test_a_cancel_may_come_too_late_where_the_test_says_so() -> None:
    talk = Talk(late_cancel="allowed")
    talk.open()
    talk.prompt()
    talk.tell("session/cancel", sessionId="s")
    talk.answer(stopReason="end_turn")
    assert talk.judge.unanswered == []


def test_a_withdrawn_prompt_may_end_with_the_error_for_it() -> None:
    talk = Talk()
    talk.open()
    talk.tell("$/cancel_request", requestId=talk.prompt())
    talk.tell("session/cancel", sessionId="s")
    talk.fail(-32800)
    assert talk.judge.unanswered == []


@pytest.mark.parametrize(
    ("method", "params", "capability"),
    [
        ("fs/read_text_file", {"path": "/a"}, "fs.readTextFile"),
        ("fs/write_text_file", {"path": "/a", "content": ""}, "fs.writeTextFile"),
        ("terminal/create", {"command": "ls"}, "terminal"),
        (
            "elicitation/create",
            {"mode": "url", "message": "m", "elicitationId": "e", "url": "https://example.org"},
            "elicitation.url",
        ),
    ],
)
def test_what_the_client_cannot_do_is_not_asked_of_it(method: str, params: Object, capability: str) -> None:
    talk = Talk({"fs": {"readTextFile": "yes"}, "elicitation": {"form": {}}})
    talk.open()
    with pytest.raises(Breach, match=f"capability `{capability}`"):
        talk.call(method, sessionId="s", **params)


PLAN: Object = {"type": "items", "planId": "p", "entries": []}
CHILD_MESSAGE: Object = {"messageId": "m", "content": TEXT}


@pytest.mark.parametrize(
    ("update", "capability"),
    [
        ({"sessionUpdate": "plan_update", "plan": PLAN}, "plan"),
        ({"sessionUpdate": "plan_removed", "planId": "p"}, "plan"),
        ({"sessionUpdate": "subagent_update", "sessionId": "s2"}, "subagents"),
        ({"sessionUpdate": "session_message", "messageId": "m"}, "subagents"),
        ({"sessionUpdate": "session_message_chunk", **CHILD_MESSAGE}, "subagents"),
    ],
)
def test_unstable_updates_go_to_clients_that_asked_for_them(update: Object, capability: str) -> None:
    offers: tuple[Object, Object] = ({}, {capability: {}})
    for capabilities in offers:
        talk = Talk(capabilities)
        talk.open()
        talk.prompt()
        if capabilities:
            talk.update(**update)
            continue
        with pytest.raises(Breach, match=f"capability `{capability}`"):
            talk.update(**update)


@pytest.mark.parametrize("method", ["fork", "archive", "unarchive", "status", "set_title", "close"])
def test_what_was_not_offered_is_not_served(method: str) -> None:
    talk = Talk(offered={})
    talk.open()
    talk.ask(f"session/{method}", sessionId="s")
    answers = {"fork": {"sessionId": "s2"}, "status": {"status": "open"}, "set_title": {"title": "t"}}
    with pytest.raises(Breach, match="is not offered"):
        talk.answer(**answers.get(method, {}))


def test_what_was_not_offered_is_not_sent() -> None:
    with pytest.raises(Breach, match=r"auth\.status"):
        Talk().judge.agent_sent(
            {"jsonrpc": "2.0", "method": "auth/status_update", "params": {"state": "unknown", "accounts": []}}
        )


@pytest.mark.parametrize("offers", [True, False])
@pytest.mark.parametrize("says", [True, False])
def test_a_list_says_what_is_archived_exactly_where_sessions_can_be(*, offers: bool, says: bool) -> None:
    archive: Object = {"archive": {}} if offers else {}
    talk = Talk(offered={"sessionCapabilities": {"list": {}, **archive}})
    talk.ask("session/list")
    listed: Object = {"sessionId": "s", "cwd": "/"} | ({"archived": False} if says else {})
    if offers == says:
        talk.answer(sessions=[listed])
        return
    with pytest.raises(Breach, match="archived"):
        talk.answer(sessions=[listed])


def test_a_fork_opens_the_copy_and_an_archived_session_is_closed() -> None:
    talk = Talk(offered={"sessionCapabilities": {"fork": {}, "archive": {}}})
    talk.open()
    talk.ask("session/fork", sessionId="s", cwd="/work")
    talk.answer(sessionId="s2")
    talk.update("s2", **COMMANDS)
    talk.ask("session/archive", sessionId="s")
    talk.answer()
    with pytest.raises(Breach, match="not open"):
        talk.update(**COMMANDS)


def test_turns_of_others_are_seen_where_the_test_says_so() -> None:
    talk = Talk(prompted_by="anyone")
    talk.open()
    talk.update(**CHUNK)
    with pytest.raises(Breach, match="not open"):
        talk.update("s2", **CHUNK)


def test_what_the_client_cannot_show_is_not_sent() -> None:
    talk = Talk()
    with pytest.raises(Breach, match="boolean option"):
        talk.open(configOptions=OPTIONS)
    talk = Talk()
    talk.open()
    talk.prompt()
    with pytest.raises(Breach, match=r"session\.notices"):
        talk.update(sessionUpdate="notice", severity="info", title="x")


def test_an_id_of_the_agent_is_not_used_twice_at_once() -> None:
    talk = Talk(ALL_CAPABILITIES)
    talk.open()
    talk.call("fs/read_text_file", sessionId="s", path="/a")
    with pytest.raises(Breach, match="still waits"):
        talk.call("fs/read_text_file", sessionId="s", path="/b")
    talk.judge.client_sent({"jsonrpc": "2.0", "id": "a1", "result": {"content": ""}})
    talk.call("fs/read_text_file", sessionId="s", path="/b")


@pytest.mark.parametrize(("version", "unstable"), [(1, True), (2, False), (2, True)])
def test_the_other_official_schemas_can_be_loaded_too(version: int, *, unstable: bool) -> None:
    schema = OfficialSchema.load(version, unstable=unstable)
    assert ("agent", "session/prompt") in schema.requests
    assert schema.problems("TextContent", {"text": "x"}) == []
    assert schema.problems("TextContent", {}) != []
