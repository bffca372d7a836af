"""An agent of plain JSON lines for tests: each line of its task that begins with `!` is something that it does.

The variable `AGENT` says how it behaves before that: `crash`, `mute`, `version9`, `login`, `draft` (protocol 2 alone).
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

MANNER = os.environ.get("AGENT", "")
SESSION = {"sessionId": "s1"}
last_id = 0
cancelled = False


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(method: str, **params: Any) -> Any:
    """The answer of the client; an error as a text."""
    global last_id, cancelled  # noqa: PLW0603 - a script
    last_id += 1
    send(id=last_id, method=method, params={**SESSION, **params})
    while True:
        message = receive()
        if message.get("method") == "session/cancel":
            cancelled = True
        if message.get("id") == last_id and "method" not in message:
            return message["result"] if "result" in message else f"refused: {message['error']['message']}"


def tell(**update: Any) -> None:
    send(method="session/update", params={**SESSION, "update": update})


def say(text: str) -> None:
    tell(sessionUpdate="agent_message_chunk", messageId="m1", content={"type": "text", "text": text})


def write(rest: str) -> None:
    path, _, text = rest.partition(" ")
    say(f"[{ask('fs/write_text_file', path=path, content=text)}]")


def read(rest: str) -> None:
    answer = ask("fs/read_text_file", path=rest)
    say(f"[{answer if isinstance(answer, str) else answer['content']}]")


def run(rest: str) -> None:
    made = ask("terminal/create", command=rest)
    if isinstance(made, str):
        say(f"[{made}]")
        return
    ask("terminal/wait_for_exit", **made)
    say(f"[{ask('terminal/output', **made)['output'].strip()}]")
    ask("terminal/release", **made)


def permit(rest: str) -> None:
    """Ask for permission of the call that JSON describes."""
    options = [
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "once", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    call = {"toolCallId": "t1", **json.loads(rest)}
    if MANNER == "draft":
        answer = ask("session/request_permission", title=call.get("title", "A step"), options=options,
                     subject={"type": "tool_call", "toolCall": call})  # fmt: skip
    else:
        answer = ask("session/request_permission", toolCall=call, options=options)
    say(f"[{answer['outcome'].get('optionId', 'cancelled')}]")


def step(rest: str) -> None:
    """Show a call of its own, in an update for each protocol."""
    kind = "tool_call_update" if MANNER == "draft" else "tool_call"
    tell(sessionUpdate=kind, toolCallId=rest, title=rest, kind="search", status="in_progress", rawInput={"q": rest})
    tell(sessionUpdate="tool_call_update", toolCallId=rest, status="completed")


def alone(rest: str) -> None:
    """Write a file without asking anybody."""
    path, _, text = rest.partition(" ")
    try:
        Path(path).write_text(text)
        say("[written]")
    except OSError as error:
        say(f"[{error.strerror}]")


def wait(rest: str) -> None:
    """Wait for the cancellation, after saying where: a file that the test looks for."""
    child = subprocess.Popen(["sleep", "1000"])
    Path(rest).write_text(f"{os.getpid()} {child.pid}")
    while receive().get("method") != "session/cancel":
        pass
    say("I was cancelled.")
    global cancelled  # noqa: PLW0603 - a script
    cancelled = True


def hang(rest: str) -> None:
    """Hear and say nothing any more."""
    Path(rest).write_text(str(os.getpid()))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def flood(rest: str) -> None:
    for _ in range(int(rest)):
        tell(sessionUpdate="plan", entries=[])


def raw(rest: str) -> None:
    """Send an update as it is written, also one that JSON libraries would not make."""
    update = f'{{"sessionId": "s1", "update": {rest}}}'
    sys.stdout.write(f'{{"jsonrpc": "2.0", "method": "session/update", "params": {update}}}\n')
    sys.stdout.flush()


def request(rest: str) -> None:
    """Send a request with these parameters."""
    method, _, params = rest.partition(" ")
    say(f"[{str(ask(method, **json.loads(params)))[:60]}]")


def garbage(rest: str) -> None:
    sys.stdout.write(f"{rest}\n\x00\xff{{\n[]\n" + '{"jsonrpc":"2.0","id":77,"result":1}\n{"method":3}\n')
    sys.stdout.flush()


def die(rest: str) -> None:
    print(rest, file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def environment(rest: str) -> None:
    say(f"[{os.environ.get(rest, 'not there')}]")


def cost(rest: str) -> None:
    tell(sessionUpdate="usage_update", used=10, size=100, cost={"amount": float(rest), "currency": "USD"})


DOES = {
    "write": write, "read": read, "run": run, "permit": permit, "step": step, "alone": alone, "wait": wait,
    "raw": raw, "request": request, "hang": hang,
    "flood": flood, "garbage": garbage, "die": die, "environment": environment, "cost": cost,
    "say": say,
}  # fmt: skip


def work(text: str) -> None:
    for line in text.splitlines():
        if line.startswith("!"):
            verb, _, rest = line.removeprefix("!").partition(" ")
            DOES[verb](rest)


def initialize(request: dict[str, Any]) -> None:
    if MANNER == "crash":
        print("Cannot find module 'nowhere'", file=sys.stderr)
        sys.exit(3)
    if MANNER == "mute":
        return
    wanted = request["params"]["protocolVersion"]
    if MANNER == "draft" and wanted != 2:
        data = {"requested": wanted, "supported": [2]}
        send(id=request["id"], error={"code": -32022, "message": "not supported", "data": data})
        return
    methods: list[Any] = [
        {"id": "web", "name": "Log in on the web", "type": "terminal", "args": ["--login"], "env": {}}
    ]
    version = 9 if MANNER == "version9" else wanted
    offers: Any = {"sessionCapabilities": {"additionalDirectories": {}}} if MANNER == "roots" else {}
    hello: dict[str, Any] = {"protocolVersion": version, "authMethods": methods, "info": {}, "capabilities": {}}
    send(id=request["id"], result={**hello, "agentCapabilities": offers})


def main() -> None:
    while True:
        request = receive()
        match request.get("method"):
            case "initialize":
                initialize(request)
            case "session/new" if MANNER == "login":
                send(id=request["id"], error={"code": -32000, "message": "Authentication required"})
            case "session/new":
                with suppress(OSError):
                    Path("opened.json").write_text(json.dumps(request["params"]))
                send(id=request["id"], result=SESSION)
            case "session/prompt":
                text = "\n".join(block["text"] for block in request["params"]["prompt"])
                if MANNER == "draft":
                    send(id=request["id"], result={"messageId": "u1"})
                    tell(sessionUpdate="state_update", state="running")
                work(text)
                stop = "cancelled" if cancelled else "end_turn"
                if MANNER == "draft":
                    tell(sessionUpdate="state_update", state="idle", stopReason=stop)
                else:
                    send(id=request["id"], result={"stopReason": stop})
            case _:
                pass


main()
