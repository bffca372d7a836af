"""A language server with a fault, as a program for the PATH. It finds an error in every line that holds `wrong`."""

import sys
from pathlib import Path
from typing import Literal, TypeAlias

Fault: TypeAlias = Literal[
    "none", "no start", "dies", "deaf", "silent", "garbage", "endless", "huge", "null", "stale", "nonsense"
]

PROGRAM = r"""#!{python} -S
import json, os, sys, time
FAULT = {fault!r}
with open({log!r}, "a") as log:
    log.write("%d\n" % os.getpid())
out = sys.stdout.buffer
def send(message):
    body = json.dumps(dict(message, jsonrpc="2.0")).encode()
    out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    out.flush()
def read():
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if line else sys.exit(0)
def forever(text):
    while True:
        out.write(text)
        out.flush()
if FAULT == "no start":
    sys.exit("cannot find the module of the year")
if FAULT == "deaf":
    time.sleep(600)
texts = dict()
def found(uri):
    lines = [(n, line) for n, line in enumerate(texts[uri].split("\n")) if "wrong" in line]
    whose = os.environ.get("SEEN_BY", "")
    return [dict(message="it is " + line + whose, range=dict(start=dict(line=n, character=0))) for n, line in lines]
while True:
    message = read()
    method, params = message.get("method"), message.get("params") or dict()
    if method == "textDocument/didOpen":
        texts[params["textDocument"]["uri"]] = params["textDocument"]["text"]
    elif method == "textDocument/didChange":
        texts[params["textDocument"]["uri"]] = params["contentChanges"][0]["text"]
    elif method == "textDocument/diagnostic":
        uri = params["textDocument"]["uri"]
        if FAULT == "dies":
            sys.exit("out of cheese")
        if FAULT == "garbage":
            forever(b"what a day\n" * 1000)
        if FAULT == "endless":
            forever(b"Content-Length: 200\r\n\r\n" + b" " * 200)
        if FAULT == "huge":
            forever(b"Content-Length: 100000000\r\n\r\n" + b"x" * 1000)
        if FAULT == "stale":
            send(dict(method="textDocument/publishDiagnostics", params=dict(uri=uri, version=0, diagnostics=[])))
            send(dict(id=message["id"], error=dict(code=-32601, message="no such method")))
            continue
        if FAULT == "nonsense":
            send(dict(id="another", result=dict()))
            send(dict(id=message["id"], result=dict(kind="full", items=[None, 1, dict(range=7, message=8)])))
            continue
        if FAULT == "null":
            send(dict(id=message["id"], result=None))
            continue
        if FAULT != "silent":
            send(dict(id=message["id"], result=dict(kind="full", items=found(uri))))
    elif "id" in message:
        send(dict(id=message["id"], result=dict(capabilities=dict())))
    if method == "exit":
        sys.exit(0)
"""


def put(fault: Fault, *, folder: Path) -> Path:
    """Put the server into a folder, as `pyright-langserver`; returns the file in which each start adds its id."""
    log = folder / "starts.txt"
    log.touch()
    program = folder / "pyright-langserver"
    values = {"{python}": str(Path(sys.executable).resolve()), "{fault!r}": repr(fault), "{log!r}": repr(str(log))}
    text = PROGRAM
    for name, value in values.items():
        text = text.replace(name, value)
    program.write_text(text)
    program.chmod(0o755)
    return log
