#!/usr/bin/env python3
"""Lends one tool, `word_count`: nothing but the standard library.

Started by claw-acp it speaks on standard input and output; with the path of a hub's socket it attaches there.
"""

import json
import socket
import sys

TOOL = {
    "name": "word_count",
    "title": "Count words",
    "description": "Counts the words of a text, which are separated by white space.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text."}},
        "required": ["text"],
    },
    "readOnly": True,
}
PARSE_ERROR, NO_METHOD, BAD_PARAMS = -32700, -32601, -32602


class Failure(Exception):
    """A request that fails."""

    def __init__(self, code, message):
        super().__init__(message)
        self.error = {"code": code, "message": message}


def connect():
    """The streams to read from and to write to."""
    if len(sys.argv) > 1:
        hub = socket.socket(socket.AF_UNIX)
        hub.connect(sys.argv[1])
        return hub.makefile("rb"), hub.makefile("wb")
    return sys.stdin.buffer, sys.stdout.buffer


READ, WRITE = connect()


def write(**message):
    """Send a message."""
    WRITE.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    WRITE.flush()


def call(params):
    """The result of a call."""
    text = params.get("arguments", {}).get("text")
    if params.get("name") != TOOL["name"] or not isinstance(text, str):
        raise Failure(BAD_PARAMS, "call word_count with a text")
    count = len(text.split())
    write(method="log", params={"level": "info", "message": f"counted {count} words"})
    return {"content": [{"type": "text", "text": str(count)}]}


def answer(method, params):
    """The result of a request."""
    if method == "initialize":
        info = {"name": "reference-python", "version": "1.0"}
        return {"protocolVersion": 1, "role": "tools", "endpointInfo": info, "capabilities": {}}
    if method == "tools/call":
        return call(params)
    if method in ("ping", "shutdown"):
        return {}
    raise Failure(NO_METHOD, f"no method {method}")


def take(message):
    """Handle one message; False when it was the last."""
    method, request_id = message.get("method"), message.get("id")
    if method is None:
        if "error" in message:
            sys.stderr.write(f"the hub refused the tool: {message['error']}\n")
        return True
    if method == "closing":
        sys.stderr.write(f"{message['params']['message']}\n")
        return False
    if "id" not in message:  # other notifications are ignored: every call is answered before the next line is read
        return True
    try:
        write(id=request_id, result=answer(method, message.get("params") or {}))
    except Failure as failure:
        write(id=request_id, error=failure.error)
    if method == "initialize":
        write(id="register", method="tools/register", params={"tools": [TOOL]})
    return method != "shutdown"


for line in READ:
    if not line.strip():
        continue
    try:
        received = json.loads(line)
    except ValueError:
        write(id=None, error={"code": PARSE_ERROR, "message": "not JSON"})
        continue
    if not take(received):
        break
