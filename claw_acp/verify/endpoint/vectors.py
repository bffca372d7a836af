"""The vectors of the attach protocol. `protocol-schemas/endpoints/vectors.json` is made of them."""

from typing import Final

from claw_acp.contracts.endpoint import LEAVE_SECONDS
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.endpoint.vector import CheckedRole, Vector
from claw_acp.verify.rule import Level

TOOL: Final = "word_count"
_TEXT: Final = 'a "quoted"\tword,\nan é, a 漢字, a 𝄞 and a \\ backslash'


def _call(request_id: JsonValue, method: str, **params: JsonValue) -> JsonObject:
    return {"send": {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}}


def _tell(method: str, **params: JsonValue) -> JsonObject:
    return {"send": {"jsonrpc": "2.0", "method": method, "params": params}}


def _result(request_id: JsonValue, pattern: JsonValue) -> JsonObject:
    return {"answer": request_id, "result": pattern}


def _error(request_id: JsonValue, code: JsonValue) -> JsonObject:
    return {"answer": request_id, "error": {"code": code, "message": "$text"}}


def _tool(request_id: JsonValue, name: str, **arguments: JsonValue) -> JsonObject:
    return _call(
        request_id,
        "tools/call",
        name=name,
        arguments=arguments,
        callId="call-1",
        sessionId="ses-1",
        folder="/home/me/project",
    )


def _counted(request_id: JsonValue, words: int) -> JsonObject:
    return _result(request_id, {"content": [{"type": "text", "text": str(words)}]})


_INITIALIZE: Final = _call(0, "initialize", protocolVersion=1, hostInfo={"name": "verify", "version": "1"})
_ALIVE: Final = (_call("alive", "ping"), _result("alive", "$object"))
_REGISTERED: Final[JsonObject] = {"receive": "tools/register", "params": {"tools": "$array"}}
_GONE: Final[JsonObject] = {"exit": LEAVE_SECONDS}


def _vector(
    role: CheckedRole, name: str, text: str, *steps: JsonObject, level: Level = "MUST", reference: bool = False
) -> Vector:
    first = {"answer": 0, "result": {"protocolVersion": 1, "role": role, "endpointInfo": {"name": "$text"}}}
    return Vector(
        id=f"{role}.{name}",
        level=level,
        role=role,
        reference=reference,
        text=text,
        steps=(*steps,) if steps and "refuse" in steps[0] else (_INITIALIZE, first, *steps),
    )


def _requests(role: CheckedRole) -> tuple[Vector, ...]:
    unknown = _call(0, "initialize", protocolVersion=1, hostInfo={"name": "verify", "new": {}}, process={}, future=[1])
    return (
        _vector(role, "initialize", "It answers `initialize` with its role, name and version 1."),
        Vector(
            id=f"{role}.unknown-members",
            level="MUST",
            role=role,
            reference=False,
            text="It ignores members that it does not know.",
            steps=(unknown, _result(0, {"role": role}), *_ALIVE),
        ),
        _vector(role, "ping", "It answers `ping` with an object.", _call(1, "ping"), _result(1, "$object")),
        _vector(
            role,
            "ids",
            "It repeats the id of a request as it came, a text or a number.",
            _call("a-1", "ping"),
            _call(1 << 40, "ping"),
            _result("a-1", "$object"),
            _result(1 << 40, "$object"),
        ),
    )


def _unexpected(role: CheckedRole) -> tuple[Vector, ...]:
    return (
        _vector(
            role,
            "unknown-method",
            "It answers a request that it does not know with error -32601.",
            _call(1, "future/method"),
            _error(1, -32601),
            *_ALIVE,
        ),
        _vector(
            role,
            "unknown-notification",
            "It ignores notifications that it does not know.",
            _tell("future/event", value=1),
            *_ALIVE,
        ),
        _vector(
            role,
            "late-cancel",
            "It ignores `$/cancel_request` for a request that is not under way.",
            _tell("$/cancel_request", requestId="none"),
            *_ALIVE,
        ),
        _vector(role, "blank-lines", "It skips blank lines.", {"sendText": "\n  \n\r\n"}, *_ALIVE, level="SHOULD"),
        _vector(
            role,
            "garbage",
            "It goes on after a line that is no JSON.",
            {"sendText": "hello\n"},
            *_ALIVE,
            level="SHOULD",
        ),
    )


def _ends(role: CheckedRole) -> tuple[Vector, ...]:
    return (
        _vector(
            role,
            "shutdown",
            f"It answers `shutdown`, and ends within {LEAVE_SECONDS:g} s.",
            _call(1, "shutdown"),
            _result(1, "$object"),
            _GONE,
        ),
        _vector(
            role,
            "end-of-input",
            f"It ends within {LEAVE_SECONDS:g} s when its input ends.",
            {"closeInput": True},
            _GONE,
        ),
        _vector(
            role,
            "closing",
            f"It ends within {LEAVE_SECONDS:g} s after `closing`.",
            _tell("closing", reason="replaced", message="it has attached again"),
            {"closeInput": True},
            _GONE,
        ),
    )


def _of_every_role(role: CheckedRole) -> tuple[Vector, ...]:
    return (*_requests(role), *_unexpected(role), *_ends(role))


def _reference(name: str, text: str, *steps: JsonObject) -> Vector:
    return _vector("tools", f"reference-{name}", text, _REGISTERED, *steps, reference=True)


_TOOLS: Final = (
    _vector("tools", "register", "It registers at least one tool.", _REGISTERED, *_ALIVE),
    _vector(
        "tools",
        "refused-tools",
        "It goes on when its tools are refused.",
        {"refuse": "tools"},
        _INITIALIZE,
        {"answer": 0},
        _REGISTERED,
        *_ALIVE,
    ),
    _vector(
        "tools",
        "refused-request",
        "It goes on when `tools/register` is answered with an error.",
        {"refuse": "request"},
        _INITIALIZE,
        {"answer": 0},
        _REGISTERED,
        *_ALIVE,
    ),
    _vector(
        "tools",
        "unknown-tool",
        "It answers a call of a tool that it has not registered with an error.",
        _REGISTERED,
        _tool(1, "no_such_tool"),
        _error(1, "$integer"),
        *_ALIVE,
    ),
    _reference("count", "It counts words.", _tool(1, TOOL, text=" one two  three\n"), _counted(1, 3)),
    _reference("empty", "No text has no words.", _tool(1, TOOL, text=""), _counted(1, 0)),
    _reference("text", "It reads every text that JSON can hold.", _tool(1, TOOL, text=_TEXT), _counted(1, 13)),
    _reference("long", "It reads long texts.", _tool(1, TOOL, text="word " * 2000), _counted(1, 2000)),
    _reference(
        "overlapping",
        "Calls may overlap; each answer has the id of its call.",
        _tool(1, TOOL, text="a"),
        _tool("2", TOOL, text="a b"),
        _call(3, "ping"),
        _counted("2", 2),
        _result(3, "$object"),
        _counted(1, 1),
    ),
    _reference(
        "wrong-arguments", "Arguments of another type are error -32602.", _tool(1, TOOL, text=7), _error(1, -32602)
    ),
    _reference(
        "log",
        "It logs each call.",
        _tool(1, TOOL, text="a b"),
        {"receive": "log", "params": {"level": "info", "message": "counted 2 words"}},
    ),
)

_FINISHED: Final = {"status": "succeeded", "text": "All is well.", "sessionId": "ses-1", "cost": 0.01}

_SCHEDULER: Final = (
    _vector(
        "scheduler",
        "finished",
        "It answers `schedule/finished`, which may come for a fire that it does not know any more, and twice.",
        _call(1, "schedule/finished", fireId="of last year", **_FINISHED),
        _call(2, "schedule/finished", fireId="of last year", **_FINISHED),
        _result(1, "$object"),
        _result(2, "$object"),
        *_ALIVE,
    ),
    _vector(
        "scheduler",
        "interrupted",
        "It takes a result without text, session and cost.",
        _call(1, "schedule/finished", fireId="a", status="interrupted"),
        _result(1, "$object"),
        *_ALIVE,
    ),
    _vector(
        "scheduler",
        "reference-fire",
        "It fires at once, and takes the result.",
        {"receive": "schedule/fire", "params": {"fireId": "$text", "prompt": "say hello"}},
        _call(1, "schedule/finished", fireId="a", **_FINISHED),
        _result(1, "$object"),
        reference=True,
    ),
    _vector(
        "scheduler",
        "reference-refused",
        "It goes on when `schedule/fire` is answered with an error.",
        {"refuse": "request"},
        _INITIALIZE,
        {"answer": 0},
        {"receive": "schedule/fire", "params": {"fireId": "$text", "prompt": "say hello"}},
        *_ALIVE,
        reference=True,
    ),
)

VECTORS: Final = (*_of_every_role("tools"), *_TOOLS, *_of_every_role("scheduler"), *_SCHEDULER)
