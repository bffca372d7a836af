"""A session plugin that does what the last message says; `python3 -S -E session_plugin.py`.

It keeps no threads: `hold` and `deaf` stay unanswered until they are cancelled, or for ever.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

CAPABILITIES = {"streaming": True, "tools": True, "vision": True, "thinking": True}
MODELS = [{"id": "large", "name": "Large", "contextWindow": 200000}, {"id": "small"}, {"name": "no id"}, 7]

held: dict[object, str] = {}
questions: dict[object, object] = {}


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(**message: object) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def delta(request: object, kind: str, text: str) -> None:
    send(method="chat/delta", params={"requestId": request, "type": kind, "text": text})


def done(request: object, content: object, **more: object) -> None:
    send(id=request, result={"content": content, "usage": {"input_tokens": 3, "output_tokens": 2}, **more})


def sleeper() -> int:
    child = os.fork()
    if child == 0:
        time.sleep(1000)
    return child


class Asked(NamedTuple):
    """One `chat` request: its id, the first word, the words after it, all its parameters."""

    id: object
    word: str
    rest: str
    params: dict[str, Any]


Act = Callable[[Asked], None]
ACTS: dict[str, Act] = {}


def act(*names: str) -> Callable[[Act], Act]:
    def kept(function: Act) -> Act:
        ACTS.update(dict.fromkeys(names, function))
        return function

    return kept


@act("say")
def act_say(asked: Asked) -> None:
    for piece in asked.rest.split(" "):
        delta(asked.id, "text", piece)
    done(asked.id, asked.rest.replace(" ", ""))


@act("flood")
def act_flood(asked: Asked) -> None:
    for _ in range(int(asked.rest)):
        delta(asked.id, "text", "x" * 1024**2)
    done(asked.id, "x" * 1024**2 * int(asked.rest))


@act("whole")
def act_whole(asked: Asked) -> None:
    done(asked.id, asked.rest, reasoning="Well.", stopReason="max_tokens")


@act("think")
def act_think(asked: Asked) -> None:
    delta(asked.id, "thought", "Let me ")
    delta(asked.id, "thought", "see.")
    delta(asked.id, "text", asked.rest)
    done(asked.id, asked.rest, reasoning="Let me see.", stopReason="end")


@act("beginning")
def act_beginning(asked: Asked) -> None:
    delta(asked.id, "text", "ab")
    done(asked.id, "abc")


@act("contradict")
def act_contradict(asked: Asked) -> None:
    delta(asked.id, "text", "abc")
    done(asked.id, "xyz")


@act("params")
def act_params(asked: Asked) -> None:
    done(asked.id, json.dumps(asked.params))


@act("environment")
def act_environment(asked: Asked) -> None:
    done(asked.id, json.dumps([os.environ.get(asked.rest), str(Path.cwd()), os.getpid()]))


@act("call")
def act_call(asked: Asked) -> None:
    piece = {"requestId": asked.id, "type": "tool_call", "index": 0, "id": "c", "name": "read_file"}
    send(method="chat/delta", params={**piece, "arguments": '{"path":"a"}'})
    done(asked.id, "", tool_calls=[{"id": "c", "name": "read_file", "arguments": {"path": "a"}}] * 2)


@act("read")
def act_read(asked: Asked) -> None:
    delta(asked.id, "text", "Reading. ")
    done(asked.id, "Reading. ", tool_calls=[{"id": "c", "name": "read_file", "arguments": {"path": asked.rest}}])


@act("null")
def act_null(asked: Asked) -> None:
    send(id=asked.id, result={"content": None})


@act("nothing")
def act_nothing(asked: Asked) -> None:
    send(id=asked.id, result=None)


@act("error")
def act_error(asked: Asked) -> None:
    send(id=asked.id, error={"code": int(asked.rest), "message": "no", "data": {"retryAfter": 7}})


@act("hold", "deaf")
def act_hold(asked: Asked) -> None:
    held[asked.id] = asked.word
    delta(asked.id, "text", "wait")


@act("release")
def act_release(asked: Asked) -> None:
    for other in held:
        done(other, "wait")
    held.clear()
    done(asked.id, "released")


@act("crash")
def act_crash(asked: Asked) -> None:
    sys.stderr.write("out of memory\n")
    os._exit(3)


@act("kill")
def act_kill(asked: Asked) -> None:
    delta(asked.id, "text", "half")
    os.kill(os.getpid(), signal.SIGKILL)


@act("orphan")
def act_orphan(asked: Asked) -> None:
    sys.stderr.write(f"{sleeper()}\n")
    sys.stderr.flush()
    os._exit(4)


@act("hang-up")
def act_hang_up(asked: Asked) -> None:
    os.close(1)
    time.sleep(1000)


@act("garbage")
def act_garbage(asked: Asked) -> None:
    write(b"\xff\xfe not JSON\n\n[1]\n{}\n" + b"7\n" * 50)
    send(id=999, result={"content": "nobody asked"})
    send(id="text", result={"content": "nobody asked"})
    send(id=True, result={"content": "nobody asked"})
    delta(999, "text", "of nothing")
    send(method="chat/delta", params={"requestId": asked.id, "type": "text", "text": None})
    send(method="unknown/note", params=[])
    done(asked.id, "clean")
    done(asked.id, "twice")
    delta(asked.id, "text", "late")


@act("halves")
def act_halves(asked: Asked) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": asked.id, "result": {"content": asked.rest}}).encode() + b"\n"
    for byte in line:
        write(bytes([byte]))


@act("bytes")
def act_bytes(asked: Asked) -> None:
    write(b'{"jsonrpc":"2.0","id":%d,"result":{"content":"caf\xe9"}}\n' % asked.id)


@act("ask")
def act_ask(asked: Asked) -> None:
    send(id="mine", method="host/secret", params={})
    questions["mine"] = asked.id


@act("complain")
def act_complain(asked: Asked) -> None:
    for _ in range(3 * 1024):
        sys.stderr.write("x" * 1023 + "\n")
    sys.stderr.flush()
    done(asked.id, "said")


@act("sleep")
def act_sleep(asked: Asked) -> None:
    time.sleep(1000)


@act("large")
def act_large(asked: Asked) -> None:
    done(asked.id, "x" * int(asked.rest))


def take(message: dict[str, Any]) -> None:
    request, params = message.get("id"), message.get("params", {})
    match message.get("method"):
        case "initialize":
            version = int(os.environ.get("PLUGIN_VERSION", "1"))
            able = {**CAPABILITIES, "tools": "no-tools" not in sys.argv}
            info = {"name": "test"}
            send(id=request, result={"protocolVersion": version, "pluginInfo": info, "capabilities": able,
                                     "models": MODELS})  # fmt: skip
        case "models/list":
            send(id=request, result={"models": [*MODELS, {"id": "new"}]})
        case "chat":
            last = params["messages"][-1]
            if last["role"] == "tool":
                delta(request, "text", f"It says {last['content']}")
                done(request, f"It says {last['content']}")
                return
            asked = (
                last["content"].rpartition("</facts>")[2].lstrip()
            )  # above it is what the program tells of the moment
            word, _, rest = asked.partition(" ")
            ACTS[word](Asked(request, word, rest, params))
        case "$/cancel_request":
            if held.get(params["requestId"]) == "hold":
                del held[params["requestId"]]
                send(id=params["requestId"], error={"code": -32800, "message": "cancelled"})
        case "shutdown":
            if "stays" in sys.argv:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                sleeper()
                time.sleep(1000)
            send(id=request, result={})
            sys.exit(0)
        case None if request in questions:
            done(questions.pop(request), str(message["error"]["code"]))
        case _:
            pass


for text in sys.stdin:
    take(json.loads(text))
