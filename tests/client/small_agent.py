"""An agent of plain JSON lines, for testing the client: what it does in a turn is the prompt, `verb rest`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

waiting: list[dict[str, Any]] = []
next_id = 0


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        if os.environ.get("SMALL_AGENT_STUBBORN"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(60)
        sys.exit(0)
    return json.loads(line)


def call(method: str, **params: Any) -> Any:
    """Ask the client; other messages that come meanwhile are kept for later."""
    global next_id  # noqa: PLW0603 - a script
    next_id += 1
    send(id=next_id, method=method, params={"sessionId": "s1", **params})
    while True:
        message = receive()
        if message.get("id") == next_id and "method" not in message:
            return message.get("result", message.get("error"))
        waiting.append(message)


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send(method="session/update", params={"sessionId": "s1", "update": update})


def ask() -> None:
    option = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
    say(json.dumps(call("session/request_permission", toolCall={"toolCallId": "c1"}, options=[option])))


def terminal(line: str) -> None:
    made = call("terminal/create", command=line, outputByteLimit=10)
    ended = call("terminal/wait_for_exit", **made)
    output = call("terminal/output", **made)
    call("terminal/release", **made)
    say(json.dumps([ended, output, call("terminal/output", **made)["code"]]))


def odd() -> None:
    send(method="session/update", params={"sessionId": "s1", "update": {"sessionUpdate": "from_tomorrow"}})
    say("after")


def pass_on(rest: str) -> None:
    method, _, params = rest.partition(" ")
    say(json.dumps(call(method, **json.loads(params or "{}"))))


def die() -> None:
    sys.stderr.write("I am ill\n")
    sys.exit(3)


def turn(text: str) -> dict[str, str]:
    verb, _, rest = text.partition(" ")
    if verb == "bad":
        return {"stop": "?"}
    verbs: dict[str, Callable[[], object]] = {
        "count": lambda: [say(str(number)) for number in range(int(rest))],
        "odd": odd,
        "ask": ask,
        "call": lambda: pass_on(rest),
        "terminal": lambda: terminal(rest),
        "leave": lambda: say(call("terminal/create", command=rest)["terminalId"]),
        "child": lambda: say(str(subprocess.Popen(["sleep", "60"]).pid)),
        "die": die,
    }
    verbs[verb]()
    cancelled = any(message.get("method") == "session/cancel" for message in waiting)
    return {"stopReason": "cancelled" if cancelled else "end_turn"}


def answer(message: dict[str, Any]) -> None:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            send(id=message["id"], result={"protocolVersion": 1, "_meta": {"asked": params}})
        case "session/new":
            send(id=message["id"], result={"sessionId": "s1"})
        case "session/list":
            start = int(params.get("cursor", "0"))
            page = [{"sessionId": f"s{start}", "cwd": "/"}]
            send(id=message["id"], result={"sessions": page} | ({"nextCursor": str(start + 1)} if start < 2 else {}))
        case "session/prompt":
            send(id=message["id"], result=turn(params["prompt"][0]["text"]))
        case method if "id" in message:
            send(id=message["id"], error={"code": -32601, "message": f"no {method}"})
        case _:
            pass


while True:
    answer(waiting.pop(0) if waiting else receive())
