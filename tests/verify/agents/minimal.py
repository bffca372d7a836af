"""A small and correct ACP agent, in the standard library alone: what the faulty ones deviate from.

Its model is the text of the prompt: with `slow` in it the turn lasts until it is cancelled, with `tool` in it the
agent asks for permission and uses the client's files and terminals; anything else is greeted. Sessions are kept in the
home directory.
"""
# What comes is any JSON, and is looked at piece by piece:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import subprocess  # slow to import, and the checker starts this program many times

Json: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[Json], Any]

MODES = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]
STYLES = [{"value": "short", "name": "Short"}, {"value": "long", "name": "Long"}]
BLOCKS = {"text": ["text"], "image": ["data", "mimeType"], "audio": ["data", "mimeType"], "resource": ["resource"],
          "resource_link": ["uri", "name"]}  # fmt: skip
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
    "mcpCapabilities": {"http": False, "sse": False},
    "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}, "additionalDirectories": {}},
    "auth": {"logout": {}},
}
HOME = Path(os.environ["HOME"]) / "sessions"


def path_of(session: str) -> Path:
    """Where a session is kept."""
    return HOME / f"{session}.json"


class Failure(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.wire: Json = {"code": code, "message": message} | ({} if data is None else {"data": data})


class Session:
    """A conversation and what can be set in it."""

    def __init__(self, name: str, cwd: str) -> None:
        self.name = name
        self.cwd = cwd
        self.mode = "ask"
        self.style = "short"
        self.verbose = False
        self.history: list[Json] = []
        self.cancelled = threading.Event()
        self.running = 0
        self.turn = threading.Lock()
        self.servers: list[subprocess.Popen[bytes]] = []


class Agent:
    """One connection on stdio. Every request is answered in the thread that reads, but prompts have their own."""

    def __init__(self) -> None:
        self.client: Json | None = None
        self.sessions: dict[str, Session] = {}
        self.prompts: dict[str, Session] = {}
        self.waiting: dict[Any, tuple[threading.Event, list[Json]]] = {}
        self.ids = 0
        self.lock = threading.RLock()
        self.methods: dict[str, Handler] = {
            "authenticate": self.authenticate,
            "logout": self.logout,
            "session/new": self.new,
            "session/load": self.load,
            "session/resume": self.resume,
            "session/list": self.list_sessions,
            "session/delete": self.delete,
            "session/close": self.close,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_option,
        }

    # ------------------------------------------------------------------ the wire

    def run(self) -> None:
        """Serve until the input ends."""
        for line in sys.stdin.buffer:
            if line.strip():
                self.take(line)
        self.leave()

    def leave(self) -> None:
        """The end."""
        for session in self.sessions.values():
            self.stop_servers(session)
        os._exit(0)

    def stop_servers(self, session: Session) -> None:
        """End the MCP servers of a session."""
        for server in session.servers:
            server.kill()
            server.wait()

    def take(self, line: bytes) -> None:
        """One line came."""
        try:
            message = json.loads(line.decode("utf-8", "replace"), parse_constant=self.refuse_constant)
        except (ValueError, RecursionError) as error:
            self.parse_error(error)
            return
        if not isinstance(message, dict):
            self.no_object(message)
        elif "method" not in message and ("result" in message or "error" in message):
            self.answered(message)
        elif message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
            self.write({"id": message.get("id"), "error": {"code": -32600, "message": "not a request"}})
        elif "id" not in message:
            self.notified(message["method"], message.get("params"))
        else:
            self.request(message["id"], message["method"], message.get("params"))

    def refuse_constant(self, name: str) -> None:
        """NaN is no JSON."""
        raise ValueError(name)

    def parse_error(self, error: Exception) -> None:
        """A line is no JSON."""
        self.write({"id": None, "error": {"code": -32700, "message": f"Parse error: {error}"}})

    def no_object(self, _message: Any) -> None:
        """A line is JSON, but no message."""
        self.write({"id": None, "error": {"code": -32600, "message": "a message is an object"}})

    def encode(self, message: Json) -> bytes:
        """One line."""
        return json.dumps(message).encode() + b"\n"

    def write(self, message: Json) -> None:
        """Send a message."""
        with self.lock:
            try:
                sys.stdout.buffer.write(self.encode({"jsonrpc": "2.0", **message}))
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                self.leave()

    def request(self, request_id: Any, method: str, params: Any) -> None:
        """A request came."""
        try:
            result = self.dispatch(request_id, method, params)
        except Failure as failure:
            self.answer(request_id, error=failure.wire)
            return
        if result is not None:
            self.answer(request_id, result=result)
            self.after(method, result)

    def answer(self, request_id: Any, **outcome: Any) -> None:
        """Answer a request."""
        self.write({"id": request_id, **outcome})

    def dispatch(self, request_id: Any, method: str, params: Any) -> Any:
        """The result; None: it comes later."""
        if params is None:
            params = {}
        if not isinstance(params, dict):
            raise Failure(-32602, "params must be an object")
        if method == "initialize":
            return self.initialize(params)
        if self.client is None:
            return self.early(method)
        if method == "session/prompt":
            return self.prompt(request_id, params)
        if method not in self.methods:
            return self.unknown(method)
        return self.methods[method](params)

    def early(self, _method: str) -> Any:
        """A request before `initialize`."""
        raise Failure(-32600, "initialize first")

    def unknown(self, method: str) -> Any:
        """A method that is not there."""
        raise Failure(-32601, f"Method not found: {method}")

    def after(self, method: str, result: Json) -> None:
        """What follows an answer."""
        if method == "session/new":
            self.commands(result["sessionId"])

    def commands(self, session: str) -> None:
        """Tell the commands of a session."""
        command = {"name": "help", "description": "Say what can be done"}
        self.update(session, {"sessionUpdate": "available_commands_update", "availableCommands": [command]})

    def notified(self, method: str, params: Any) -> None:
        """A notification came."""
        if not isinstance(params, dict):
            return
        if method == "session/cancel":
            session = self.sessions.get(params.get("sessionId", ""))
            if session:
                self.cancel(session)
        elif method == "$/cancel_request":
            session = self.prompts.get(json.dumps(params.get("requestId")))
            if session:
                session.cancelled.set()

    def cancel(self, session: Session) -> None:
        """Stop the turn of a session."""
        if session.running:
            session.cancelled.set()

    # ------------------------------------------------------------------ asking the client

    def ask(self, method: str, params: Json) -> Json:
        """Ask and wait; the answer, whole."""
        with self.lock:
            self.ids += 1
            name = self.ids
            self.waiting[name] = (threading.Event(), [])
        arrived, answers = self.waiting[name]
        self.write({"id": name, "method": method, "params": params})
        arrived.wait()
        return answers[0]

    def answered(self, message: Json) -> None:
        """The client answered."""
        name = message.get("id")
        waiting = self.waiting.pop(name, None) if isinstance(name, int | str) else None
        if waiting:
            waiting[1].append(message)
            waiting[0].set()

    def offers(self, *path: str) -> bool:
        """Whether the client has a capability."""
        value: Any = self.client
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value is True or isinstance(value, dict)

    def update(self, session: str, update: Json) -> None:
        """Tell something of a session."""
        self.write({"method": "session/update", "params": {"sessionId": session, "update": update}})

    # ------------------------------------------------------------------ initialize and log in

    def initialize(self, params: Json) -> Json:
        """The handshake."""
        version = params.get("protocolVersion")
        if not isinstance(version, int) or isinstance(version, bool) or not 0 <= version <= 65535:
            raise Failure(-32602, "protocolVersion must be an integer")
        self.client = params.get("clientCapabilities") or {}
        return self.hello(version)

    def hello(self, _version: int) -> Json:
        """The answer to `initialize`."""
        return {
            "protocolVersion": 1,
            "agentCapabilities": CAPABILITIES,
            "agentInfo": {"name": "minimal", "version": "1.0"},
            "authMethods": [{"id": "key", "name": "A key"}, *self.terminal_methods()],
        }

    def terminal_methods(self) -> list[Json]:
        """Logging in by a terminal, for clients that can."""
        return [{"id": "tty", "name": "Terminal", "type": "terminal"}] if self.offers("auth", "terminal") else []

    def authenticate(self, params: Json) -> Json:
        """Log in."""
        if params.get("methodId") != "key":
            raise Failure(-32602, "unknown method")
        return {}

    def logout(self, _params: Json) -> Json:
        """Log out."""
        return {}

    # ------------------------------------------------------------------ sessions

    def new(self, params: Json) -> Json:
        """A new session."""
        self.check_place(params)
        session = Session(self.new_id(), params["cwd"])
        self.sessions[session.name] = session
        self.connect_servers(session, params.get("mcpServers") or [])
        return {"sessionId": session.name, **self.settings(session)}

    def new_id(self) -> str:
        """An id for a session."""
        return os.urandom(8).hex()

    def check_place(self, params: Json) -> None:
        """Refuse what does not fit."""
        paths = [params.get("cwd"), *(params.get("additionalDirectories") or [])]
        if not all(isinstance(path, str) and Path(path).is_absolute() for path in paths):
            raise Failure(-32602, "cwd must be absolute")
        if any("type" in server for server in params.get("mcpServers") or ()):
            raise Failure(-32602, "that kind of MCP server is not offered")

    def connect_servers(self, session: Session, servers: list[Json]) -> None:
        """Start MCP servers, as far as they can be started."""
        import subprocess

        for server in servers:
            command = [server["command"], *server["args"]]
            pipe = subprocess.PIPE
            try:
                session.servers.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL))
            except OSError:
                continue

    def settings(self, session: Session) -> Json:
        """What can be set."""
        modes = {"currentModeId": session.mode, "availableModes": MODES}
        return {"modes": modes, "configOptions": self.options(session)}

    def options(self, session: Session) -> list[Json]:
        """The options."""
        values = [{"value": mode["id"], "name": mode["name"]} for mode in MODES]
        options: list[Json] = [
            {"id": "mode", "name": "Mode", "category": "mode", "type": "select", "currentValue": session.mode,
             "options": values},
            {"id": "style", "name": "Style", "type": "select", "currentValue": session.style,
             "options": [{"group": "g", "name": "Length", "options": STYLES}]},
        ]  # fmt: skip
        if self.shows_switches():
            options.append({"id": "verbose", "name": "Verbose", "type": "boolean", "currentValue": session.verbose})
        return options

    def shows_switches(self) -> bool:
        """Whether options may be switches."""
        return self.offers("session", "configOptions", "boolean")

    def session(self, params: Json) -> Session:
        """An open session."""
        name = params.get("sessionId")
        if not isinstance(name, str):
            raise Failure(-32602, "sessionId must be a string")
        if name not in self.sessions:
            raise self.not_found(name)
        return self.sessions[name]

    def not_found(self, name: str) -> Failure:
        """Why there is no such session."""
        return Failure(-32002, f"session {name} is not open", {"sessionId": name})

    def stored(self, params: Json) -> Session:
        """A session made earlier, opened."""
        name = params.get("sessionId")
        self.check_place({"mcpServers": [], **params})
        try:
            content = json.loads(path_of(str(name)).read_text())
        except OSError:
            raise self.not_found(str(name)) from None
        session = self.sessions.setdefault(str(name), Session(str(name), content["cwd"]))
        session.history = content["history"]
        return session

    def load(self, params: Json) -> Json:
        """Open a session and show it."""
        session = self.stored(params)
        for update in session.history:
            self.update(session.name, update)
        return self.settings(session)

    def resume(self, params: Json) -> Json:
        """Open a session."""
        return self.settings(self.stored(params))

    def list_sessions(self, params: Json) -> Json:
        """All sessions."""
        if params.get("cursor"):
            raise Failure(-32602, "unknown cursor")
        found: list[Json] = []
        for path in sorted(HOME.glob("*.json")):
            cwd = json.loads(path.read_text())["cwd"]
            if params.get("cwd") in {None, cwd}:
                moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                found.append({"sessionId": path.stem, "cwd": cwd, "updatedAt": moment})
        return {"sessions": found}

    def delete(self, params: Json) -> Json:
        """Remove a session."""
        self.sessions.pop(params["sessionId"], None)
        path_of(params["sessionId"]).unlink(missing_ok=True)
        return {}

    def close(self, params: Json) -> Json:
        """Stop and forget a session."""
        session = self.session(params)
        self.cancel(session)
        with session.turn:
            self.stop_servers(session)
            self.forget(session)
        return {}

    def forget(self, session: Session) -> None:
        """The session is closed."""
        del self.sessions[session.name]

    def set_mode(self, params: Json) -> Json:
        """Switch the mode."""
        session = self.session(params)
        if params.get("modeId") not in {mode["id"] for mode in MODES}:
            raise Failure(-32602, "unknown mode")
        session.mode = params["modeId"]
        return {}

    def set_option(self, params: Json) -> Json:
        """Set an option."""
        session = self.session(params)
        name, value = params.get("configId"), params.get("value")
        values = {"mode": [mode["id"] for mode in MODES], "style": ["short", "long"], "verbose": [True, False]}
        if name not in values or value not in values[name]:
            raise Failure(-32602, "no such option or value")
        setattr(session, name, value)
        return {"configOptions": self.options(session)}

    # ------------------------------------------------------------------ turns

    def prompt(self, request_id: Any, params: Json) -> None:
        """A prompt came; its turn runs in a thread."""
        session = self.session(params)
        self.check_blocks(params.get("prompt"))
        self.prompts[json.dumps(request_id)] = session
        session.running += 1
        threading.Thread(target=self.run_turn, args=(request_id, session, params["prompt"]), daemon=True).start()

    def check_blocks(self, blocks: Any) -> None:
        """Refuse blocks that are none."""
        if not isinstance(blocks, list):
            raise Failure(-32602, "prompt must be an array")
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind not in BLOCKS or not all(key in block for key in BLOCKS[kind]):
                raise Failure(-32602, f"unknown block {kind}")

    def run_turn(self, request_id: Any, session: Session, blocks: list[Json]) -> None:
        """One turn, after those before it."""
        with session.turn:
            text = " ".join(block.get("text", "") for block in blocks)
            self.say(session, text, kind="user_message_chunk", shown=False)
            outcome = self.work(session, text)
            self.save(session)
            session.running -= 1
            session.cancelled.clear()
            self.prompts.pop(json.dumps(request_id), None)
            self.end_turn(request_id, session, outcome)

    def end_turn(self, request_id: Any, _session: Session, outcome: Json) -> None:
        """The turn is over."""
        self.answer(request_id, **outcome)

    def work(self, session: Session, text: str) -> Json:
        """What the turn does; the answer to its prompt."""
        if "slow" in text:
            self.say(session, "Let me think.")
            session.cancelled.wait()
            return self.stopped()
        if "tool" in text:
            self.use_tool(session)
            if session.cancelled.is_set():
                return self.stopped()
        self.say(session, "Hello.")
        return {"result": {"stopReason": "end_turn"}}

    def stopped(self) -> Json:
        """The answer to a prompt that was cancelled."""
        return {"result": {"stopReason": "cancelled"}}

    def say(self, session: Session, text: str, *, kind: str = "agent_message_chunk", shown: bool = True) -> None:
        """A message."""
        self.tell(session, {"sessionUpdate": kind, "content": {"type": "text", "text": text}}, shown=shown)

    def tell(self, session: Session, update: Json, *, shown: bool = True) -> None:
        """Something of the conversation."""
        session.history.append(update)
        if shown:
            self.update(session.name, update)

    def save(self, session: Session) -> None:
        """Keep the conversation."""
        path = path_of(session.name)
        path.with_suffix(".new").write_text(json.dumps({"cwd": session.cwd, "history": session.history}))
        path.with_suffix(".new").replace(path)

    def new_call_id(self, _session: Session) -> str:
        """An id for a tool call."""
        return os.urandom(8).hex()

    def use_tool(self, session: Session) -> None:
        """A tool call that asks first."""
        name = self.new_call_id(session)
        self.announce(session, name)
        done = self.permitted(session, name)
        if done:
            self.use_client(session)
        self.settle(session, name, "completed" if done else "failed")

    def announce(self, session: Session, name: str) -> None:
        """The call begins."""
        place = [{"path": f"{session.cwd}/a.txt", "line": 1}]
        call: Json = {"sessionUpdate": "tool_call", "toolCallId": name, "title": "Touch a.txt", "kind": "edit"}
        self.tell(session, {**call, "locations": place})

    def settle(self, session: Session, name: str, status: str) -> None:
        """The call ends."""
        self.tell(session, {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": status})

    def permitted(self, session: Session, name: str) -> bool:
        """Whether the user says yes."""
        options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
        options.append({"optionId": "no", "name": "No", "kind": "reject_once"})
        asked = {"sessionId": session.name, "toolCall": {"toolCallId": name}, "options": options}
        return self.is_approval(self.ask("session/request_permission", asked))

    def is_approval(self, answer: Json) -> bool:
        """Whether an answer is a yes."""
        outcome = (answer.get("result") or {}).get("outcome") or {}
        return outcome.get("outcome") == "selected" and outcome.get("optionId") == "yes"

    def use_client(self, session: Session) -> None:
        """Use the client's files and terminals, if it has any."""
        if self.offers("fs", "readTextFile"):
            self.ask("fs/read_text_file", {"sessionId": session.name, "path": f"{session.cwd}/a.txt"})
        if self.offers("terminal"):
            self.use_terminal(session)

    def use_terminal(self, session: Session) -> None:
        """Run a command in the client's terminal."""
        answer = self.ask("terminal/create", {"sessionId": session.name, "command": "date"})
        if "result" in answer:
            terminal = {"sessionId": session.name, "terminalId": answer["result"]["terminalId"]}
            self.ask("terminal/wait_for_exit", terminal)
            self.release(terminal)

    def release(self, terminal: Json) -> None:
        """Give the terminal back."""
        self.ask("terminal/release", terminal)


if __name__ == "__main__":
    HOME.mkdir(parents=True, exist_ok=True)
    Agent().run()
