"""The vectors of the provider protocol. `protocol-schemas/provider/vectors.json` is made of them."""

from collections.abc import Mapping
from typing import Final

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.provider.vector import Model, Vector
from claw_acp.verify.rule import Level

SECONDS_TO_LEAVE: Final = 2
"""Seconds in which a program has to end after `shutdown`, or the end of its input."""

_PLAIN: Final = "Say hello in one word."
_UNICODE: Final = 'a "quoted" \\ backslash, a tab\t, two\nlines, é, 漢字, 𝄞, \u2028 and a NUL \x00'
_TOOL: Final[JsonObject] = {
    "name": "read",
    "description": "Reads a file",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
_PIXEL: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _message(role: str, content: str, **more: JsonValue) -> JsonObject:
    return {"role": role, "content": content, "content_parts": [], **more}


def _chat(
    request_id: JsonValue, *messages: str | JsonObject, tools: tuple[JsonObject, ...] = (), **more: JsonValue
) -> JsonObject:
    said: list[JsonValue] = [_message("user", each) if isinstance(each, str) else each for each in messages]
    params: dict[str, JsonValue] = {"messages": said, "tools": list(tools), "model": None, "options": {}, **more}
    return {"send": {"jsonrpc": "2.0", "id": request_id, "method": "chat", "params": params}}


def _call(request_id: JsonValue, method: str, **params: JsonValue) -> JsonObject:
    return {"send": {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}}


def _tell(method: str, **params: JsonValue) -> JsonObject:
    return {"send": {"jsonrpc": "2.0", "method": method, "params": params}}


def _initialize(version: int = 1) -> JsonObject:
    return _call(0, "initialize", protocolVersion=version, hostInfo={"name": "verify", "version": "1"})


def _result(request_id: JsonValue, pattern: JsonValue, **more: JsonValue) -> JsonObject:
    return {"answer": request_id, "result": pattern, **more}


def _error(request_id: JsonValue, code: JsonValue, **more: JsonValue) -> JsonObject:
    return {"answer": request_id, "error": {"code": code, "message": "$text", **more}}


_HELLO: Final = (_initialize(), _result(0, {"protocolVersion": 1}))
_ALIVE: Final[tuple[JsonObject, ...]] = (_call("alive", "models/list"), {"answer": "alive"})
_SAID: Final[JsonObject] = {"content": "$text"}


def _session(
    name: str, text: str, *steps: JsonObject, level: Level = "MUST", greet: bool = True, model: Model = "any"
) -> Vector:
    steps = (*_HELLO, *steps) if greet else steps
    return Vector(id=f"session.{name}", level=level, mode="session", model=model, text=text, steps=steps)


def _reference(name: str, text: str, *steps: JsonObject) -> Vector:
    """A session with the reference model."""
    return _session(f"reference-{name}", text, *steps, model="reference")


def _oneshot(
    name: str, text: str, request: JsonObject, line: JsonObject, *, model: Model = "any", ends: bool = True
) -> Vector:
    """One request; the exit code counts only if an answer is required."""
    end: tuple[JsonObject, ...] = ({"exit": SECONDS_TO_LEAVE},) if ends else ()
    steps = (request, {"closeInput": True}, {"line": line}, *end)
    return Vector(id=f"oneshot.{name}", level="MUST", mode="oneshot", model=model, text=text, steps=steps)


def _answered(content: JsonValue, **more: JsonValue) -> JsonObject:
    return {"jsonrpc": "2.0", "result": {"content": content, **more}}


_SESSION: Final = (
    _session(
        "initialize",
        "`initialize` is answered with an integer version, a name, capabilities and models.",
        _initialize(),
        _result(
            0,
            {
                "protocolVersion": "$integer",
                "pluginInfo": {"name": "$text"},
                "capabilities": "$object",
                "models": "$array",
            },
        ),
        greet=False,
    ),
    _session(
        "newer-host",
        "A host that speaks a newer version is answered with the version that the program speaks.",
        _initialize(99),
        _result(0, {"protocolVersion": 1}),
        greet=False,
    ),
    _session("chat", "A chat is answered with a text.", _chat(1, _PLAIN), _result(1, _SAID)),
    _session(
        "chats-one-after-another",
        "A second chat is answered like the first.",
        _chat(1, _PLAIN),
        _result(1, _SAID),
        _chat(2, _PLAIN),
        _result(2, _SAID),
    ),
    _session(
        "chats-at-once",
        "Two chats that were sent together are both answered.",
        _chat(1, _PLAIN),
        _chat(2, _PLAIN),
        _result(2, _SAID),
        _result(1, _SAID),
    ),
    _session(
        "ids",
        "Ids come back as they were, texts as texts and numbers as numbers, up to 2^53 - 1.",
        _call("1", "models/list"),
        _call(1, "models/list"),
        _call(9_007_199_254_740_991, "models/list"),
        _result("1", "$object"),
        _result(1, "$object"),
        _result(9_007_199_254_740_991, "$object"),
    ),
    _session(
        "models",
        "`models/list` is answered with the models.",
        _call(1, "models/list"),
        _result(1, {"models": "$array"}),
    ),
    _session(
        "unknown-method",
        "A request with an unknown method is answered with error -32601.",
        _call(1, "no/such/method"),
        _error(1, -32601),
        *_ALIVE,
    ),
    _session(
        "unknown-notification",
        "A notification with an unknown method is ignored.",
        _tell("no/such/notification"),
        *_ALIVE,
    ),
    _session(
        "invalid-params",
        "A chat without messages is answered with error -32602.",
        _call(1, "chat", messages="none"),
        _error(1, -32602),
        *_ALIVE,
    ),
    _session(
        "no-messages",
        "A chat with an empty conversation is answered with error -32602.",
        _chat(1),
        _error(1, -32602),
        *_ALIVE,
    ),
    _session(
        "unreadable-line",
        "A line that is not JSON does not end the program; it may be answered with error -32700 and the id null.",
        {"sendText": "this is not JSON\n"},
        *_ALIVE,
    ),
    _session("blank-lines", "Blank lines are ignored.", {"sendText": "\n  \n\r\n"}, *_ALIVE),
    _session(
        "unknown-members",
        "Members that the protocol does not know are ignored.",
        {
            "send": {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "chat",
                "trace": "x",
                "params": {
                    "messages": [{"role": "user", "content": _PLAIN, "mood": "good"}],
                    "later": [1, {"deep": [None, True]}],
                },
            }
        },
        _result(1, _SAID),
    ),
    _session(
        "long-line", "A request of a megabyte is read.", {**_chat(1, _PLAIN), "pad": 1_000_000}, {"answer": 1}, *_ALIVE
    ),
    _session(
        "cancel-unknown",
        "`$/cancel_request` for a request that is not under way is ignored.",
        _tell("$/cancel_request", requestId=77),
        *_ALIVE,
    ),
    _session(
        "shutdown",
        "`shutdown` is answered with an empty object, and the program ends within 2 s.",
        _call(1, "shutdown"),
        _result(1, {}),
        {"exit": SECONDS_TO_LEAVE},
    ),
    _session(
        "end-of-input",
        "When its input ends, the program ends within 2 s.",
        {"closeInput": True},
        {"exit": SECONDS_TO_LEAVE},
    ),
)

_SESSION_OF_REFERENCE: Final = (
    _reference(
        "echo",
        "The text comes in at least two pieces, which make up the result.",
        _chat(1, "hello"),
        _result(1, {"content": "echo: hello", "stopReason": "end"}, deltas={"text": "echo: hello"}),
    ),
    _reference(
        "unicode",
        "Every character survives the round trip.",
        _chat(1, _UNICODE),
        _result(1, {"content": f"echo: {_UNICODE}"}, deltas={"text": f"echo: {_UNICODE}"}),
    ),
    _reference(
        "thought",
        "A thought comes before the text, and is in the result.",
        _chat(1, "think twice"),
        _result(1, {"content": "twice", "reasoning": "thinking"}, deltas={"thought": "thinking", "text": "twice"}),
    ),
    _reference(
        "tool-call",
        "A tool call is streamed, and is in the result.",
        _chat(1, 'call read {"path": "a.txt", "n": [1, 2.5]}', tools=(_TOOL,)),
        _result(
            1,
            {"content": "", "tool_calls": [{"id": "call-1", "name": "read"}], "stopReason": "tool_calls"},
            deltas={"calls": [{"id": "call-1", "name": "read", "arguments": {"path": "a.txt", "n": [1, 2.5]}}]},
        ),
    ),
    _reference(
        "tool-result",
        "The result of a tool is read.",
        _chat(
            1,
            "call read {}",
            _message("assistant", "", tool_calls=[{"id": "call-1", "name": "read", "arguments": "{}"}]),
            _message("tool", "contents", tool_call_id="call-1"),
        ),
        _result(1, {"content": "tool said: contents", "usage": {"input_tokens": 3, "output_tokens": 1}}),
    ),
    _reference(
        "error",
        "A chat that fails is answered with an error of the protocol.",
        _chat(1, "fail"),
        _error(1, -31002, data={"retryAfter": 7}),
        *_ALIVE,
    ),
    _reference(
        "overlap",
        "A chat that takes its time does not hold up another.",
        _chat(1, "wait"),
        _chat(2, "hello"),
        _result(2, {"content": "echo: hello"}),
        _tell("$/cancel_request", requestId=1),
        _error(1, -32800),
    ),
    _reference(
        "cancel",
        "A cancelled chat is answered with error -32800, and the others go on.",
        _chat("a", "wait"),
        _chat("b", "wait"),
        _tell("$/cancel_request", requestId="a"),
        _error("a", -32800),
        _tell("$/cancel_request", requestId="b"),
        _error("b", -32800),
        *_ALIVE,
    ),
)

_ONESHOT: Final = (
    _oneshot(
        "chat", "One request is answered by the last line, and the program ends.", _chat(1, _PLAIN), _answered("$text")
    ),
    _oneshot(
        "options",
        "A model and options may be given.",
        _chat(1, _PLAIN, options={"max_tokens": 100, "temperature": 0.7, "top_p": 1.0}),
        _answered("$text"),
    ),
    _oneshot(
        "history",
        "A conversation with tool calls and their results is read.",
        _chat(
            1,
            _message("system", "Be brief."),
            "What is in a.txt?",
            _message("assistant", "", tool_calls=[{"id": "c1", "name": "read", "arguments": '{"path":"a.txt"}'}]),
            _message("tool", "hello", tool_call_id="c1"),
            tools=(_TOOL,),
        ),
        {"jsonrpc": "2.0", "result": {"content": "$string"}},
    ),
    _oneshot(
        "picture",
        "A message with a picture is answered, or refused with an error.",
        _chat(
            1,
            {
                **_message("user", _PLAIN),
                "content_parts": [
                    {"type": "text", "text": _PLAIN},
                    {"type": "image", "source": {"kind": "base64", "data": _PIXEL}, "media_type": "image/png"},
                ],
            },
        ),
        {"jsonrpc": "2.0"},
        ends=False,
    ),
    _oneshot(
        "reference-echo",
        "The reference model echoes.",
        _chat(1, _UNICODE),
        _answered(f"echo: {_UNICODE}"),
        model="reference",
    ),
    _oneshot(
        "reference-tool-call",
        "The reference model calls.",
        _chat(1, 'call read {"path": "a.txt"}', tools=(_TOOL,)),
        _answered("", tool_calls=[{"id": "call-1", "name": "read", "arguments": "$any"}]),
        model="reference",
    ),
    _oneshot(
        "reference-error",
        "An error is an answer too.",
        _chat(1, "fail"),
        {"jsonrpc": "2.0", "error": {"code": -31002, "message": "$text"}},
        model="reference",
        ends=False,
    ),
)

VECTORS: Final = (*_SESSION, *_SESSION_OF_REFERENCE, *_ONESHOT)
BY_ID: Final[Mapping[str, Vector]] = {vector.id: vector for vector in VECTORS}
