"""The minimal agent in protocol 2, and faults of it: `minimal_v2.py [--fault NAME[,NAME...]]`."""
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# ruff: noqa: ARG002 - an overridden method has the arguments of the one it stands for

import sys
import threading
from typing import Any

from tests.verify.agents.minimal import HOME, STYLES, Agent, Failure, Json, Session

MARKS: Json = {"image": {}, "audio": {}, "embeddedContext": {}}
CAPABILITIES = {"session": {"prompt": MARKS, "mcp": {"stdio": {}}, "delete": {}, "additionalDirectories": {}}}


class MinimalV2(Agent):
    """Protocol 2 and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        for gone in ("authenticate", "logout", "session/load", "session/set_mode"):
            del self.methods[gone]
        self.methods |= {
            "auth/login": self.authenticate,
            "auth/logout": self.logout,
            "tool_call/cancel": self.cancel_work,
            "terminal/cancel": self.cancel_work,
        }
        self.closed: set[str] = set()

    # ------------------------------------------------------------------ the wire

    def request(self, request_id: Any, method: str, params: Any) -> None:
        """See `Agent`. Ids are strings or integers."""
        if not isinstance(request_id, str | int) and self.refuses_id():
            self.write({"id": None, "error": {"code": -32600, "message": "the id must be a string or an integer"}})
            return
        super().request(request_id, method, params)

    def refuses_id(self) -> bool:
        """Whether null and fractions are no ids."""
        return True

    def update(self, session: str, update: Json) -> None:
        """See `Agent`. A closed session is silent."""
        with self.lock:
            if session not in self.closed:
                super().update(session, update)

    # ------------------------------------------------------------------ initialize

    def initialize(self, params: Json) -> Json:
        """See `Agent`."""
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 65535:
            raise Failure(-32602, "protocolVersion must be an integer")
        if version < 2:
            raise Failure(-32022, "only version 2", {"requested": version, "supported": [2]})
        if version == 2:
            self.check_info(params.get("info"))
        self.client = params.get("capabilities") or {}
        return self.hello(version)

    def check_info(self, info: Any) -> None:
        """Refuse a client that does not say who it is."""
        if not isinstance(info, dict):
            raise Failure(-32602, "info is missing")

    def hello(self, _version: int) -> Json:
        """See `Agent`."""
        methods = [{"type": "agent", "methodId": "key", "name": "A key"}]
        if self.offers("auth", "terminal"):
            methods.append({"type": "terminal", "methodId": "tty", "name": "Terminal"})
        info = {"name": "minimal v2", "version": "1.0"}
        return {"protocolVersion": 2, "info": info, "capabilities": CAPABILITIES, "authMethods": methods}

    # ------------------------------------------------------------------ sessions

    def check_place(self, params: Json) -> None:
        """See `Agent`."""
        kinds = {server.get("type") for server in params.get("mcpServers") or ()}
        super().check_place({**params, "mcpServers": []})
        if kinds - {"stdio"}:
            raise Failure(-32602, "that kind of MCP server is not offered")

    def settings(self, session: Session) -> Json:
        """See `Agent`."""
        return {"configOptions": self.options(session)}

    def options(self, session: Session) -> list[Json]:
        """See `Agent`."""
        chosen: Json = {"type": "select", "currentValue": session.style, "options": STYLES}
        return [{"configId": "style", "name": "Style", **chosen}]

    def set_option(self, params: Json) -> Json:
        """See `Agent`."""
        if params.get("type") != "id":
            raise Failure(-32602, "an id is wanted")
        return super().set_option(params)

    def commands(self, session: str) -> None:
        """See `Agent`."""
        command = {"type": "command", "name": "help", "description": "Say what can be done"}
        self.update(session, {"sessionUpdate": "available_commands_update", "availableCommands": [command]})

    def resume(self, params: Json) -> Json:
        """See `Agent`. The history is shown if the client wants it."""
        wanted = params.get("replayFrom")
        if wanted is not None and wanted.get("type") != "start":
            raise Failure(-32602, "unknown replayFrom")
        session = self.stored(params)
        self.closed.discard(session.name)
        if wanted is not None:
            self.replay(session)
        self.state(session, "idle")
        return self.settings(session)

    def replay(self, session: Session) -> None:
        """Show the history, in whole messages."""
        for update in session.history:
            self.update(session.name, self.whole(update))

    def whole(self, update: Json) -> Json:
        """A message for its only chunk."""
        kind = update["sessionUpdate"]
        if not kind.endswith("_chunk"):
            return update
        return {**update, "sessionUpdate": kind.removesuffix("_chunk"), "content": [update["content"]]}

    def forget(self, session: Session) -> None:
        """See `Agent`. From now on nothing more is said of it."""
        super().forget(session)
        with self.lock:
            self.closed.add(session.name)

    def cancel_work(self, params: Json) -> Json:
        """Nothing here can be cancelled by itself."""
        raise Failure(-32602, "that cannot be cancelled")

    # ------------------------------------------------------------------ turns

    def state(self, session: Session, state: str, **more: Any) -> None:
        """Tell the state."""
        self.update(session.name, {"sessionUpdate": "state_update", "state": state, **more})

    def run_turn(self, request_id: Any, session: Session, blocks: list[Json]) -> None:
        """See `Agent`. The prompt is answered when it has become a message."""
        with session.turn:
            name = self.message_id()
            text = " ".join(block.get("text", "") for block in blocks)
            self.begin(session)
            user = {"sessionUpdate": "user_message", "messageId": name, "content": [{"type": "text", "text": text}]}
            self.tell(session, user)
            self.taken_in(request_id, name)
            reason = self.work(session, text)["result"]["stopReason"]
            self.save(session)
            session.running -= 1
            session.cancelled.clear()
            self.rest(session, reason)

    def message_id(self) -> str:
        """An id for what the user said."""
        return self.new_id()

    def begin(self, session: Session) -> None:
        """The turn begins."""
        self.state(session, "running")

    def taken_in(self, request_id: Any, name: str) -> None:
        """The prompt is a message."""
        self.answer(request_id, result={"messageId": name})

    def rest(self, session: Session, reason: str) -> None:
        """The turn is over."""
        self.state(session, "idle", stopReason=reason)

    def say(self, session: Session, text: str, *, kind: str = "agent_message_chunk", shown: bool = True) -> None:
        """See `Agent`."""
        block = {"type": "text", "text": text}
        self.tell(session, {"sessionUpdate": kind, "messageId": self.new_id(), "content": block}, shown=shown)

    def announce(self, session: Session, name: str) -> None:
        """See `Agent`."""
        call = {"sessionUpdate": "tool_call_update", "toolCallId": name, "title": "Touch a.txt", "kind": "edit"}
        self.tell(session, {**call, "status": "pending", "locations": [{"path": f"{session.cwd}/a.txt"}]})

    def permitted(self, session: Session, name: str) -> bool:
        """See `Agent`. A question is withdrawn when its turn is cancelled."""
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        options.append({"optionId": "no", "name": "No", "kind": "reject_once"})
        subject = {"type": "tool_call", "toolCall": {"toolCallId": name}}
        asked = {"sessionId": session.name, "title": "Touch a.txt?", "subject": subject, "options": options}
        self.state(session, "requires_action")
        with self.lock:
            self.ids += 1
            number = self.ids
            arrived, answers = self.waiting[number] = (threading.Event(), [])
        self.write({"id": number, "method": "session/request_permission", "params": asked})
        while not arrived.wait(0.01):
            if session.cancelled.is_set() and self.withdraws():
                self.write({"method": "$/cancel_request", "params": {"requestId": number}})
                break
        self.state(session, "running")
        return bool(answers) and self.is_approval(answers[0])

    def withdraws(self) -> bool:
        """Whether a question ends with its turn."""
        return True

    def use_client(self, session: Session) -> None:
        """Clients have neither files nor terminals."""


# ------------------------------------------------------------------ faults


class TakesNullIds(MinimalV2):
    """Serves requests without a proper id."""

    def refuses_id(self) -> bool:
        return False


class TakesAnonymous(MinimalV2):
    """Does not want to know who the client is."""

    def check_info(self, info: Any) -> None:
        """Nothing."""


class KeepsLoad(MinimalV2):
    """Still serves a method of protocol 1."""

    def __init__(self) -> None:
        super().__init__()
        self.methods["session/load"] = self.resume


class OtherMessageId(MinimalV2):
    """Answers with an id that no message has."""

    def taken_in(self, request_id: Any, name: str) -> None:
        super().taken_in(request_id, f"not-{name}")


class NeverRuns(MinimalV2):
    """Does not say that it runs."""

    def begin(self, session: Session) -> None:
        """Nothing."""


class NeverAsks(MinimalV2):
    """Does not say that it waits for an answer."""

    def state(self, session: Session, state: str, **more: Any) -> None:
        if state != "requires_action":
            super().state(session, state, **more)


class NoIds(MinimalV2):
    """Sends messages without ids."""

    def update(self, session: str, update: Json) -> None:
        nameless = update["sessionUpdate"] == "agent_message_chunk"
        super().update(session, {key: value for key, value in update.items() if not nameless or key != "messageId"})


class OwnStatus(MinimalV2):
    """Uses a status that the protocol does not have."""

    def settle(self, session: Session, name: str, status: str) -> None:
        super().settle(session, name, "done" if status == "completed" else status)


class SpeaksIdle(MinimalV2):
    """Says something after its turn."""

    def rest(self, session: Session, reason: str) -> None:
        super().rest(session, reason)
        self.say(session, "By the way.")
        self.save(session)


class RestsTwice(MinimalV2):
    """Tells the end of a turn twice."""

    def rest(self, session: Session, reason: str) -> None:
        super().rest(session, reason)
        super().rest(session, reason)


class ResumesSilently(MinimalV2):
    """Shows nothing, although it is asked to."""

    def replay(self, session: Session) -> None:
        """Nothing."""


class StateFirst(MinimalV2):
    """Tells the state before the history."""

    def resume(self, params: Json) -> Json:
        session = self.stored(params)
        self.state(session, "idle")
        if params.get("replayFrom") is not None:
            self.replay(session)
        return self.settings(session)


class NewIds(MinimalV2):
    """Shows the history under new ids."""

    def replay(self, session: Session) -> None:
        session.history = [{**update, "messageId": self.new_id()} for update in session.history]
        super().replay(session)


class TalksAfterClose(MinimalV2):
    """Ends the work of a closed session after the answer."""

    def close(self, params: Json) -> Json:
        session = self.session(params)
        threading.Timer(0.05, self.cancel, [session]).start()
        del self.sessions[session.name]
        return {}


class ReplaysChunks(MinimalV2):
    """Shows the history in chunks that add to what is there."""

    def whole(self, update: Json) -> Json:
        return update


class WantsServers(MinimalV2):
    """Needs `mcpServers`."""

    def new(self, params: Json) -> Json:
        if "mcpServers" not in params:
            raise Failure(-32602, "mcpServers is missing")
        return super().new(params)


class SameMessageId(MinimalV2):
    """Gives every prompt the same id."""

    def message_id(self) -> str:
        return "msg"


class Flags(MinimalV2):
    """Tells a capability by true."""

    def hello(self, _version: int) -> Json:
        return super().hello(_version) | {"capabilities": {"session": {**CAPABILITIES["session"], "delete": True}}}


class Untitled(MinimalV2):
    """Begins tool calls without a title."""

    def update(self, session: str, update: Json) -> None:
        super().update(session, {key: value for key, value in update.items() if key != "title"})


class KeepsQuestions(MinimalV2):
    """Leaves questions open when their turn is cancelled."""

    def withdraws(self) -> bool:
        return False


class CancelsAnything(MinimalV2):
    """Says yes to cancelling what is not there."""

    def cancel_work(self, params: Json) -> Json:
        return {}


class OldFiles(MinimalV2):
    """Reads the client's files, as in protocol 1."""

    def work(self, session: Session, text: str) -> Json:
        self.ask("fs/read_text_file", {"sessionId": session.name, "path": f"{session.cwd}/a.txt"})
        return super().work(session, text)


class CancelEndsTurn(MinimalV2):
    """Ends a cancelled turn as if it had ended by itself."""

    def stopped(self) -> Json:
        return {"result": {"stopReason": "end_turn"}}


FAULTS: dict[str, type[Agent]] = {
    kind.__name__: kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, MinimalV2)
}

if __name__ == "__main__":
    HOME.mkdir(parents=True, exist_ok=True)
    names = sys.argv[sys.argv.index("--fault") + 1].split(",") if "--fault" in sys.argv else ["MinimalV2"]
    type("Faulty", tuple(FAULTS[name] for name in names), {})().run()
