"""A one-shot plugin; its first argument says how it behaves: `python3 -S -E oneshot_plugin.py MODE`."""

import json
import os
import signal
import sys
import time
from pathlib import Path


def reply(**members: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, **members}) + "\n"


def write(text: "str | bytes") -> None:
    sys.stdout.buffer.write(text.encode() if isinstance(text, str) else text)
    sys.stdout.buffer.flush()


def exit_with(code: int, *, said: str = "") -> None:
    sys.stderr.write(said)
    sys.stderr.flush()
    os._exit(code)


mode, rest = sys.argv[1], sys.argv[2:]
EARLY = {
    "deaf": lambda: time.sleep(1000),
    "quits": lambda: exit_with(9, said="no licence\n"),
    "mute": lambda: exit_with(0),
}
if mode in EARLY:
    EARLY[mode]()
if mode == "unread":
    write(reply(result={"content": "I know what you want"}))
    os._exit(0)

request = sys.stdin.read()
match mode:
    case "request":
        write(reply(result={"content": request}))
    case "environment":
        write(
            reply(
                result={"content": json.dumps([os.environ.get(rest[0]), str(Path.cwd()), os.getpid(), os.getpgid(0)])}
            )
        )
    case "raw":
        write(rest[0])
    case "bytes":
        write(b'{"jsonrpc":"2.0","id":1,"result":{"content":"caf\xe9"}}\n')
    case "chatty":
        write(
            "loading\r\n" + reply(result={"content": "first"}) + "\n" + reply(result={"content": "last"}) + "\n  \r\n"
        )
    case "half":
        write(reply(result={"content": "no line end"}).rstrip())
    case "hangs":
        write("thinking\n")
        time.sleep(1000)
    case "complains":
        for _ in range(5 * 1024):
            sys.stderr.write("x" * 1023 + "\n")
        sys.stderr.flush()
        write(reply(result={"content": "said"}))
    case "fails":
        write(reply(error={"code": int(rest[0]), "message": "model unavailable", "data": {"retryAfter": 3}}))
        os._exit(1)
    case "exits":
        write("only on stdout\n" if "stdout" in rest else "")
        exit_with(int(rest[0]), said="" if "stdout" in rest else "it is \x1b[31mbroken\ntoken=" + rest[1] + "\n")
    case "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    case "large":
        write(reply(result={"content": "x" * int(rest[0])}))
    case "forks":
        if child := os.fork():
            write(reply(result={"content": str(child)}))
            os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(1000)
    case _:
        raise SystemExit(f"no such mode: {mode}")
