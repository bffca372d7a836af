"""The minimal agent with faults: `faulty.py --fault NAME[,NAME...]`. Each is a class of a few lines.

Faults that do not meddle with the same method can be had together.
"""
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# ruff: noqa: ARG002 - an overridden method has the arguments of the one it stands for

import json
import os
import sys
import threading
from typing import Any, ClassVar

from tests.verify.agents.minimal import HOME, Agent, Failure, Json, Session

# ------------------------------------------------------------------ lines


class Banner(Agent):
    """Greets on stdout before anything else."""

    def run(self) -> None:
        print("Welcome to the agent!", flush=True)
        super().run()


class Logs(Agent):
    """Logs to stdout while it works."""

    def work(self, session: Session, text: str) -> Json:
        print("INFO working", flush=True)
        return super().work(session, text)


class Pretty(Agent):
    """Writes JSON over many lines."""

    def encode(self, message: Json) -> bytes:
        return json.dumps(message, indent=2).encode() + b"\n"


class Latin(Agent):
    """Writes Latin-1."""

    def encode(self, message: Json) -> bytes:
        return json.dumps(message).replace("Hello", "Gr\xfcezi").encode("latin-1") + b"\n"


class NotANumber(Agent):
    """Writes NaN."""

    def settle(self, session: Session, name: str, status: str) -> None:
        output = {"seconds": float("nan")}
        update = {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": status, "rawOutput": output}
        self.tell(session, update)

    def save(self, session: Session) -> None:
        for update in session.history:
            update.pop("rawOutput", None)
        super().save(session)


class ShortLines(Agent):
    """Dies of a line of more than 64 KiB."""

    def take(self, line: bytes) -> None:
        if len(line) > 65536:
            raise SystemExit("Separator is found, but chunk is longer than limit")
        super().take(line)


class SplitsLines(Agent):
    """Takes U+2028 and others for ends of lines."""

    def take(self, line: bytes) -> None:
        for piece in line.decode("utf-8", "replace").splitlines():
            if piece.strip():
                super().take(piece.encode("utf-8", "replace"))


class DiesOfGarbage(Agent):
    """Dies of a line that is no JSON."""

    def parse_error(self, error: Exception) -> None:
        raise SystemExit(str(error))


class DiesOfArrays(Agent):
    """Dies of an array."""

    def no_object(self, _message: Any) -> None:
        if isinstance(_message, list):
            raise SystemExit("'list' object has no attribute 'get'")
        super().no_object(_message)


class NoParseError(Agent):
    """Drops what is no JSON."""

    def parse_error(self, error: Exception) -> None:
        print(error, file=sys.stderr)


class RunsBatches(Agent):
    """Executes the requests in a batch."""

    def no_object(self, _message: Any) -> None:
        for item in _message if isinstance(_message, list) else ():
            super().take(json.dumps(item).encode())
        if not isinstance(_message, list):
            super().no_object(_message)


# ------------------------------------------------------------------ JSON-RPC


class TextIds(Agent):
    """Answers with ids that are strings."""

    def answer(self, request_id: Any, **outcome: Any) -> None:
        super().answer(str(request_id), **outcome)


class DoubleIds(Agent):
    """Keeps ids in doubles."""

    def answer(self, request_id: Any, **outcome: Any) -> None:
        super().answer(int(float(request_id)) if isinstance(request_id, int) else request_id, **outcome)


class AnswersExtensions(Agent):
    """Answers unknown extensions with null."""

    def unknown(self, method: str) -> Any:
        return {} if method.startswith("_") else super().unknown(method)


class AnswersNotifications(Agent):
    """Answers unknown notifications with an error."""

    def notified(self, method: str, params: Any) -> None:
        if method not in {"session/cancel", "$/cancel_request"}:
            self.write({"id": None, "error": {"code": -32601, "message": "Method not found"}})
        super().notified(method, params)


class InternalErrors(Agent):
    """Calls wrong parameters an internal error."""

    def answer(self, request_id: Any, **outcome: Any) -> None:
        message = outcome.get("error", {}).get("message")
        if message in {"sessionId must be a string", "cwd must be absolute", "prompt must be an array"}:
            outcome["error"]["code"] = -32603
        super().answer(request_id, **outcome)


class TwoAnswers(Agent):
    """Ends each turn twice."""

    def end_turn(self, request_id: Any, _session: Session, outcome: Json) -> None:
        super().end_turn(request_id, _session, outcome)
        super().end_turn(request_id, _session, outcome)


class SharedIds(Agent):
    """Takes a request of the client's that carries an id of its own for the answer."""

    def request(self, request_id: Any, method: str, params: Any) -> None:
        if isinstance(request_id, int) and request_id in self.waiting:
            self.answered({"id": request_id, "result": None})
            return
        super().request(request_id, method, params)


# ------------------------------------------------------------------ initialize


class EchoesVersion(Agent):
    """Speaks every version."""

    def hello(self, _version: int) -> Json:
        return super().hello(_version) | {"protocolVersion": _version}


class TextVersion(Agent):
    """Gives the version as a string."""

    def hello(self, _version: int) -> Json:
        return super().hello(_version) | {"protocolVersion": "1"}


class TakesTextVersion(Agent):
    """Takes anything for a version."""

    def initialize(self, params: Json) -> Json:
        return super().initialize({**params, "protocolVersion": 1})


class StrictCapabilities(Agent):
    """Refuses a capability that is malformed."""

    def initialize(self, params: Json) -> Json:
        if not isinstance((params.get("clientCapabilities") or {}).get("terminal", False), bool):
            raise Failure(-32602, "terminal must be a boolean")
        return super().initialize(params)


class NeverFirst(Agent):
    """Serves requests before `initialize`."""

    def early(self, _method: str) -> Any:
        self.client = {}
        return self.new({"cwd": "/", "mcpServers": []})


class Anonymous(Agent):
    """Does not say who it is."""

    def hello(self, _version: int) -> Json:
        return {key: value for key, value in super().hello(_version).items() if key != "agentInfo"}


class TerminalLogin(Agent):
    """Offers a terminal login to everybody."""

    def terminal_methods(self) -> list[Json]:
        return [{"id": "tty", "name": "Terminal", "type": "terminal"}]


class RootFields(Agent):
    """Puts fields of its own beside those of the protocol."""

    def hello(self, _version: int) -> Json:
        return super().hello(_version) | {"workspaceDir": "/"}


# ------------------------------------------------------------------ sessions


class EarlyCommands(Agent):
    """Tells the commands before it answers session/new."""

    def connect_servers(self, session: Session, servers: list[Json]) -> None:
        self.commands(session.name)
        super().connect_servers(session, servers)

    def after(self, method: str, result: Json) -> None:
        """Nothing."""


class SlashCommands(Agent):
    """Names commands with their slash."""

    def commands(self, session: str) -> None:
        command = {"name": "/help", "description": "Say what can be done"}
        self.update(session, {"sessionUpdate": "available_commands_update", "availableCommands": [command]})


class UnknownMode(Agent):
    """Is in a mode that does not exist."""

    def settings(self, session: Session) -> Json:
        settings = super().settings(session)
        return settings | {"modes": {**settings["modes"], "currentModeId": "chat"}}


class PartialOptions(Agent):
    """Answers with nothing but the option that was set."""

    def set_option(self, params: Json) -> Json:
        options = super().set_option(params)["configOptions"]
        return {"configOptions": [option for option in options if option["id"] == params["configId"]]}


class Switches(Agent):
    """Shows switches to clients that do not know them."""

    def shows_switches(self) -> bool:
        return True


class VagueNotFound(Agent):
    """Calls an unknown session an internal error."""

    def not_found(self, name: str) -> Failure:
        return Failure(-32603, "Internal error")


class NullList(Agent):
    """Lists nothing as null."""

    def list_sessions(self, params: Json) -> Json:
        return {"sessions": super().list_sessions(params)["sessions"] or None}


class WholeList(Agent):
    """Ignores the directory."""

    def list_sessions(self, params: Json) -> Json:
        return super().list_sessions({key: value for key, value in params.items() if key != "cwd"})


class VagueDates(Agent):
    """Gives times that are none."""

    def list_sessions(self, params: Json) -> Json:
        sessions = super().list_sessions(params)["sessions"]
        return {"sessions": [session | {"updatedAt": "yesterday"} for session in sessions]}


class KeepsDeleted(Agent):
    """Does not delete."""

    def delete(self, params: Json) -> Json:
        return {}


class IgnoresServers(Agent):
    """Never starts the MCP servers of the client."""

    def connect_servers(self, session: Session, servers: list[Json]) -> None:
        """Nothing."""


class FailsWithServers(Agent):
    """Refuses a session whose MCP server cannot be started."""

    def connect_servers(self, session: Session, servers: list[Json]) -> None:
        super().connect_servers(session, servers)
        if len(session.servers) < len(servers):
            raise Failure(-32603, "an MCP server cannot be started")


class NoReplay(Agent):
    """Loads without showing anything."""

    def load(self, params: Json) -> Json:
        return self.resume(params)


class LateReplay(Agent):
    """Shows the conversation after the answer."""

    def request(self, request_id: Any, method: str, params: Any) -> None:
        super().request(request_id, "session/resume" if method == "session/load" else method, params)
        if method == "session/load" and params["sessionId"] in self.sessions:
            for update in self.sessions[params["sessionId"]].history:
                self.update(params["sessionId"], update)


class DoublesHistory(Agent):
    """Keeps what it replays once more."""

    def load(self, params: Json) -> Json:
        result = super().load(params)
        session = self.sessions[params["sessionId"]]
        session.history = [*session.history, *session.history]
        self.save(session)
        return result


class ResumeReplays(Agent):
    """Shows the conversation when it resumes."""

    def resume(self, params: Json) -> Json:
        return self.load(params)


# ------------------------------------------------------------------ turns


class LateUpdate(Agent):
    """Says the last word after the answer."""

    def end_turn(self, request_id: Any, _session: Session, outcome: Json) -> None:
        super().end_turn(request_id, _session, outcome)
        self.say(_session, "By the way.")


class Silent(Agent):
    """Ends turns without a word."""

    def say(self, session: Session, text: str, *, kind: str = "agent_message_chunk", shown: bool = True) -> None:
        super().say(session, text, kind=kind, shown=shown and text != "Hello.")


class NoPictures(Agent):
    """Refuses the pictures that it offers to take."""

    def check_blocks(self, blocks: Any) -> None:
        super().check_blocks(blocks)
        if any(block["type"] == "image" for block in blocks):
            raise Failure(-32602, "no pictures")


class CancelFails(Agent):
    """Answers a cancelled prompt with an error."""

    def stopped(self) -> Json:
        return {"error": {"code": -32800, "message": "Request cancelled"}}


class CancelIgnored(Agent):
    """Does not hear session/cancel."""

    def notified(self, method: str, params: Any) -> None:
        if method != "session/cancel":
            super().notified(method, params)


class CancelLingers(Agent):
    """Lets a cancel without a turn cancel the next one."""

    def cancel(self, session: Session) -> None:
        session.cancelled.set()

    def work(self, session: Session, text: str) -> Json:
        return self.stopped() if session.cancelled.is_set() else super().work(session, text)


class CancelsAll(Agent):
    """Cancels every turn there is, that of the session it is about as the last."""

    def cancel(self, session: Session) -> None:
        for each in self.sessions.values():
            if each is not session and each.running:
                super().cancel(each)
                with each.turn:
                    pass  # it is over, and its prompt answered
        super().cancel(session)


class CloseWaits(Agent):
    """Lets the turn of a closed session run on."""

    def close(self, params: Json) -> Json:
        session = self.session(params)
        self.stop_servers(session)
        del self.sessions[session.name]
        return {}


# ------------------------------------------------------------------ tools


class CallIdsTwice(Agent):
    """Announces each tool call twice."""

    def announce(self, session: Session, name: str) -> None:
        super().announce(session, name)
        super().announce(session, name)


class CallIdsRestart(Agent):
    """Counts tool calls from 1 in every process."""

    counts: ClassVar[dict[str, int]] = {}

    def new_call_id(self, _session: Session) -> str:
        self.counts[_session.name] = self.counts.get(_session.name, 0) + 1
        return f"call_{self.counts[_session.name]}"


class AsksFirst(Agent):
    """Asks for permission for a call that it announces afterwards."""

    def use_tool(self, session: Session) -> None:
        name = self.new_call_id(session)
        done = self.permitted(session, name)
        self.announce(session, name)
        self.settle(session, name, "completed" if done else "failed")


class NeverSettles(Agent):
    """Leaves tool calls pending."""

    def settle(self, session: Session, name: str, status: str) -> None:
        """Nothing."""


class Unannounced(Agent):
    """Updates calls that it never announced."""

    def settle(self, session: Session, name: str, status: str) -> None:
        super().settle(session, name, status)
        self.update(session.name, {"sessionUpdate": "tool_call_update", "toolCallId": "other", "status": status})


class RelativePaths(Agent):
    """Names files by relative paths."""

    def announce(self, session: Session, name: str) -> None:
        call = {"sessionUpdate": "tool_call", "toolCallId": name, "title": "Touch", "locations": [{"path": "a.txt"}]}
        self.tell(session, call)


class TakesAnything(Agent):
    """Takes everything but a refusal for a yes."""

    def is_approval(self, answer: Json) -> bool:
        return ((answer.get("result") or {}).get("outcome") or {}).get("optionId") != "no"


class NeverAsksTwice(Agent):
    """Acts whatever the user says."""

    def is_approval(self, answer: Json) -> bool:
        return True


class FilesUngated(Agent):
    """Reads the client's files without being asked to."""

    def work(self, session: Session, text: str) -> Json:
        self.ask("fs/read_text_file", {"sessionId": session.name, "path": f"{session.cwd}/a.txt"})
        return super().work(session, text)


class TerminalsUngated(Agent):
    """Uses terminals that the client does not have."""

    def use_client(self, session: Session) -> None:
        self.use_terminal(session)


class KeepsTerminals(Agent):
    """Never releases a terminal."""

    def release(self, terminal: Json) -> None:
        """Nothing."""


class NoticesUngated(Agent):
    """Sends notices to everybody."""

    def work(self, session: Session, text: str) -> Json:
        self.update(session.name, {"sessionUpdate": "notice", "severity": "info", "title": "Working"})
        return super().work(session, text)


class OwnMethods(Agent):
    """Calls methods of its own without an underscore."""

    def work(self, session: Session, text: str) -> Json:
        self.write({"method": "agent/status", "params": {"status": "working"}})
        return super().work(session, text)


class StrangeUpdate(Agent):
    """Sends an update that the protocol does not have."""

    def work(self, session: Session, text: str) -> Json:
        self.update(session.name, {"sessionUpdate": "agentMessageChunk", "content": {"type": "text", "text": "?"}})
        return super().work(session, text)


# ------------------------------------------------------------------ the end


class Orphan(Agent):
    """Leaves a child behind."""

    def leave(self) -> None:
        import subprocess

        null = subprocess.DEVNULL
        subprocess.Popen(["/bin/sleep", "30"], stdin=null, stdout=null, stderr=null)
        super().leave()


class IgnoresEof(Agent):
    """Runs on when its input has ended."""

    def leave(self) -> None:
        threading.Event().wait()


class ExitCode(Agent):
    """Ends with exit code 1."""

    def leave(self) -> None:
        os._exit(1)


FAULTS: dict[str, type[Agent]] = {
    kind.__name__: kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, Agent)
}

if __name__ == "__main__":
    HOME.mkdir(parents=True, exist_ok=True)
    names = sys.argv[sys.argv.index("--fault") + 1].split(",")
    type("Faulty", tuple(FAULTS[name] for name in names), {})().run()
