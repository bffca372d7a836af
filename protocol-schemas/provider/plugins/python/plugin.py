#!/usr/bin/env python3
"""The reference model, in plain Python: nothing but the standard library."""

import json
import sys

MODELS = [{"id": "reference", "name": "Reference", "contextWindow": 8192}]
RATE_LIMITED, CANCELLED, PARSE_ERROR, NO_METHOD, BAD_PARAMS = -31002, -32800, -32700, -32601, -32602


class Failure(Exception):
    def __init__(self, code, message, **data):
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data else {})


class Plugin:
    def __init__(self):
        self.in_session = False
        self.waiting = []  # ids of chats that are never answered unless they are cancelled

    def write(self, message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def delta(self, request_id, **piece):
        if self.in_session:  # a one-shot host wants nothing but the answer
            self.write({"method": "chat/delta", "params": {"requestId": request_id, **piece}})

    def serve(self):
        for line in sys.stdin:
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except ValueError:
                self.write({"id": None, "error": {"code": PARSE_ERROR, "message": "not JSON"}})
                continue
            if self.take(message):
                return

    def take(self, message):
        method, request_id = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if method == "$/cancel_request":
            wanted = params.get("requestId")
            if wanted in self.waiting:
                self.waiting.remove(wanted)
                self.write({"id": wanted, "error": {"code": CANCELLED, "message": "cancelled"}})
        elif "id" in message:  # other notifications are ignored
            try:
                result = self.answer(method, request_id, params)
            except Failure as failure:
                self.write({"id": request_id, "error": failure.error})
            else:
                if result is not None:
                    self.write({"id": request_id, "result": result})
        return method == "shutdown"

    def answer(self, method, request_id, params):
        if method == "initialize":
            self.in_session = True
            return {
                "protocolVersion": 1,
                "pluginInfo": {"name": "reference-python", "version": "1.0"},
                "capabilities": {"streaming": True, "tools": True, "vision": False, "thinking": True},
                "models": MODELS,
            }
        if method == "models/list":
            return {"models": MODELS}
        if method == "shutdown":
            return {}
        if method == "chat":
            return self.chat(request_id, params)
        raise Failure(NO_METHOD, f"no method {method}")

    def chat(self, request_id, params):
        messages = params.get("messages")
        if not isinstance(messages, list) or not messages or not isinstance(messages[-1].get("content"), str):
            raise Failure(BAD_PARAMS, "messages must be an array of messages")
        role, text = messages[-1].get("role"), messages[-1]["content"]
        usage = {"input_tokens": len(messages), "output_tokens": 1}
        words = text.split(" ", 2)
        if role == "tool":
            return {**self.say(request_id, "tool said: ", text), "usage": usage}
        if words[0] == "call" and len(words) == 3:
            call = {"id": "call-1", "name": words[1], "arguments": words[2]}
            self.delta(request_id, type="tool_call", index=0, **call)
            return {"content": "", "tool_calls": [call], "usage": usage, "stopReason": "tool_calls"}
        if words[0] == "think" and len(words) > 1:
            self.delta(request_id, type="thought", text="thinking")
            return {**self.say(request_id, text[len("think ") :]), "reasoning": "thinking", "usage": usage}
        if text == "fail":
            raise Failure(RATE_LIMITED, "try again later", retryAfter=7)
        if text == "wait":
            self.waiting.append(request_id)
            return None
        return {**self.say(request_id, "echo: ", text), "usage": usage}

    def say(self, request_id, *pieces):
        for piece in pieces:
            self.delta(request_id, type="text", text=piece)
        return {"content": "".join(pieces), "stopReason": "end"}


if __name__ == "__main__":
    Plugin().serve()
