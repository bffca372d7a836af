"""A small MCP server of the standard library alone, with bad habits on request: `raw_server.py '{"dies_at": "..."}'`.

It offers the tools `echo`, `env`, `slow`, `picture` and what is asked for, and the prompt `ready`, by which a test
knows that the server is up. What it hears is written to `log`, one JSON object a line.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

HABITS: Json = {
    "log": None,  # a file for what it hears
    "tools": [],  # more tools
    "prompts": [],  # more prompts
    "resources": [],
    "templates": [],
    "hangs_at": None,  # a method that is never answered
    "dies_at": None,  # a method at which it exits with code 3, or "start"
    "dies_after": None,  # a method after whose answer it exits
    "deaths": 0,  # how often it dies before it is well, counted in `log`; 0: every time
    "refuses": None,  # a method that is answered with an error
    "wrong_id_at": None,  # a method whose answer has an id that nobody knows
    "invalid_at": None,  # a method whose answer is no JSON-RPC
    "huge_at": None,  # a method whose answer is a line of 40 MB
    "garbage": 0,  # lines of nonsense before each answer
    "says": "",  # to stderr, at the start
    "logs": "",  # by a notification, when its tools are listed
    "floods": 0,  # bytes to stderr before each answer
    "ignores_end": False,  # goes on after the end of its input, and after SIGTERM
    "forks": False,  # leaves a child behind that ignores SIGTERM
    "changes_after": None,  # a method after which there is a tool and a prompt more
    "alters": None,  # the description of `echo` after that
    "asks": None,  # a method of ours that it calls when a tool is called; the tool's result is our answer
    "version": None,  # of the protocol
    "instructions": None,  # for the model
    "result": None,  # of every tool call
    "runs": None,  # a command line, at every tool call
}

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
NO_INPUT: Json = {"type": "object"}
ECHO: Json = {
    "name": "echo",
    "description": "Says it again",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}
ENV: Json = {
    "name": "env",
    "description": "A variable, or the directory",
    "inputSchema": {"type": "object", "properties": {"variable": {"type": "string"}}},
}
SLOW: Json = {"name": "slow", "description": "Never answers, but tells how far it is", "inputSchema": NO_INPUT}
PICTURE: Json = {"name": "picture", "description": "A red dot", "inputSchema": NO_INPUT}
LATE: Json = {"name": "late", "description": "Came later", "inputSchema": NO_INPUT}
READY: Json = {"name": "ready", "description": "It is up"}
GREET: Json = {
    "name": "greet",
    "description": "Greets",
    "arguments": [{"name": "who", "required": True, "description": "Whom"}, {"name": "how"}],
}


def send(message: Json) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words: str) -> Json:
    """A tool result."""
    return {"content": [{"type": "text", "text": words}]}


class Server:
    """What it hears decides what it does."""

    def __init__(self, habits: Json) -> None:
        self.habits: Json = {**HABITS, **habits}
        self.tools: list[Json] = [ECHO, ENV, SLOW, PICTURE, *self.habits["tools"]]
        self.prompts: list[Json] = [READY, GREET, *self.habits["prompts"]]
        self.calling: Any = None  # the id of a tool call that waits for our client

    def note(self, **what: Any) -> None:
        if self.habits["log"]:
            with Path(self.habits["log"]).open("a", encoding="utf-8") as file:
                file.write(json.dumps({"pid": os.getpid(), **what}) + "\n")

    def may_die(self, habit: str, method: str) -> None:
        """Exit, if that is the habit at this method."""
        if self.habits[habit] == method:
            most = self.habits["deaths"]
            if not most or Path(self.habits["log"]).read_text(encoding="utf-8").count('"dying"') < most:
                self.note(event="dying")
                sys.exit(3)

    def hear(self, message: Json) -> None:
        self.note(**{key: message[key] for key in ("method", "params") if key in message})
        if "method" not in message:
            self.answer(self.calling, "tools/call", text(json.dumps(message.get("result", message.get("error")))))
        elif "id" in message:
            method: str = message["method"]
            self.may_die("dies_at", method)
            self.serve(message["id"], method, message.get("params") or {})
            self.may_die("dies_after", method)

    def serve(self, request_id: Any, method: str, params: Json) -> None:
        if self.habits["hangs_at"] == method:
            return
        if self.habits["refuses"] == method:
            send({"id": request_id, "error": {"code": -32000, "message": "the moon is in the wrong house"}})
            return
        result = self.called(request_id, params) if method == "tools/call" else self.result(method, params)
        if result is not None:
            self.answer(request_id, method, result)
        elif method != "tools/call":
            send({"id": request_id, "error": {"code": -32601, "message": f"no method {method}"}})
        if self.habits["logs"] and method == "tools/list":
            send({"method": "notifications/message", "params": {"level": "info", "data": self.habits["logs"]}})
        if self.habits["changes_after"] == method:
            self.habits["changes_after"] = None
            self.tools.append(LATE)
            if self.habits["alters"]:
                self.tools[0] = {**ECHO, "description": self.habits["alters"]}
            self.prompts.append({"name": "late"})
            for kind in ("tools", "prompts"):
                send({"method": f"notifications/{kind}/list_changed"})

    def answer(self, request_id: Any, method: str, result: Json) -> None:
        for number in range(self.habits["garbage"]):
            print(f"*** server log line {number}: {{not json", flush=True)
        if self.habits["floods"]:
            print("x" * self.habits["floods"], file=sys.stderr, flush=True)
        if self.habits["huge_at"] == method:
            result = text("y" * 40_000_000)
        if self.habits["invalid_at"] == method:
            send({"id": request_id, "result": 7, "jsonrpc": "1.0"})
        elif self.habits["wrong_id_at"] == method:
            send({"id": "nobody-asked", "result": result})
        else:
            send({"id": request_id, "result": result})

    def result(self, method: str, params: Json) -> Json | None:
        arguments: Json = params.get("arguments") or {}
        match method:
            case "initialize":
                version = self.habits["version"] or params["protocolVersion"]
                capabilities: Json = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}}
                if self.habits["resources"] or self.habits["templates"]:
                    capabilities["resources"] = {}
                info = {"name": "raw", "version": "1"}
                hello: Json = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
                told = self.habits["instructions"]
                return hello if told is None else {**hello, "instructions": told}
            case "tools/list":
                return {"tools": self.tools}
            case "prompts/list":
                return {"prompts": self.prompts}
            case "prompts/get":
                told = ", ".join(f"{key}={arguments[key]}" for key in sorted(arguments))
                words = {"type": "text", "text": f"prompt {params['name']}({told})"}
                return {"messages": [{"role": "user", "content": words}]}
            case "resources/list":
                return {"resources": self.habits["resources"]}
            case "resources/templates/list":
                return {"resourceTemplates": self.habits["templates"]}
            case "resources/read":
                uri = params["uri"]
                return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": f"text of {uri}"}]}
            case _:
                return None

    def called(self, request_id: Any, params: Json) -> Json | None:
        arguments: Json = params.get("arguments") or {}
        if self.habits["runs"]:
            subprocess.run(self.habits["runs"], shell=True, check=True)
        if self.habits["asks"]:
            self.calling = request_id
            send({"id": "ask-1", "method": self.habits["asks"], "params": {}})
            return None
        name: str = "result" if self.habits["result"] is not None else params["name"]
        match name:
            case "result":
                return self.habits["result"]
            case "echo":
                return text(str(arguments["text"]))
            case "env":
                variable: str | None = arguments.get("variable")
                return text(os.environ.get(variable, "(not set)") if variable else str(Path.cwd()))
            case "picture":
                return {"content": [{"type": "image", "data": DOT, "mimeType": "image/jpeg"}]}
            case "slow":
                token: Any = params["_meta"]["progressToken"]
                news: Json = {"progressToken": token, "progress": 3, "total": 10, "message": "a third"}
                send({"method": "notifications/progress", "params": news})
                return None
            case _:
                return text(f"{name} was called")


def main() -> None:
    server = Server(json.loads(sys.argv[1]))
    server.note(event="started")
    if server.habits["ignores_end"]:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
    if server.habits["forks"]:
        code = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause(); signal.pause()"
        subprocess.Popen([sys.executable, "-c", code])
    if server.habits["says"]:
        print(server.habits["says"], file=sys.stderr, flush=True)
    server.may_die("dies_at", "start")
    for line in sys.stdin:
        server.hear(json.loads(line))
    server.note(event="end of input")
    while server.habits["ignores_end"]:
        signal.pause()


if __name__ == "__main__":
    main()
