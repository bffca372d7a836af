"""The published documents of the attach protocol, made from the program's own types and vectors."""

import json
from collections.abc import Mapping
from typing import Final

from claw_acp.contracts.endpoint import PROTOCOL
from claw_acp.core.errors import ServerBusy
from claw_acp.core.json_value import JsonObject
from claw_acp.kit import endpoint_wire as wire
from claw_acp.verify.endpoint.vector import STEPS
from claw_acp.verify.endpoint.vectors import VECTORS
from claw_acp.verify.pattern import PATTERNS
from claw_acp.verify.protocol_documents import Method, openrpc, schemas

_CANCELLED: Final[JsonObject] = {"code": -32800, "message": "cancelled: the hub asked for it by `$/cancel_request`."}
_BAD: Final[JsonObject] = {"code": -32602, "message": "the parameters are wrong; the message names the first mistake"}
_BUSY: Final[JsonObject] = {"code": ServerBusy.code, "message": "too many fires wait; fire again later."}

COMMON: Final = (
    Method(
        name="initialize",
        params=wire.InitializeParams,
        result=wire.InitializeResult,
        summary="From the hub, first on every connection: who is there?",
    ),
    Method(name="ping", params=wire.Nothing, result=wire.Nothing, summary="From either side: are you there?"),
    Method(
        name="shutdown",
        params=wire.Nothing,
        result=wire.Nothing,
        summary="From the hub, which ends: answer with an empty object, and leave within 2 s.",
    ),
    Method(name="closing", params=wire.Closing, result=None, summary="From the hub: why it ends this connection."),
    Method(name="log", params=wire.LogParams, result=None, summary="From the program: a line for the hub's log."),
    Method(
        name="$/cancel_request",
        params=wire.CancelParams,
        result=None,
        summary="From either side: a request is no longer wanted.",
    ),
)
TOOLS: Final = (
    Method(
        name="tools/register",
        params=wire.RegisterParams,
        result=wire.RegisterResult,
        summary="From the program: lend tools.",
        errors=(_BAD,),
    ),
    Method(
        name="tools/unregister",
        params=wire.UnregisterParams,
        result=wire.Nothing,
        summary="From the program: take tools back.",
        errors=(_BAD,),
    ),
    Method(
        name="tools/call",
        params=wire.CallParams,
        result=wire.CallResult,
        summary="From the hub: call a tool. Calls may overlap.",
        errors=(_BAD, _CANCELLED),
    ),
)
SCHEDULER: Final = (
    Method(
        name="schedule/fire",
        params=wire.FireParams,
        result=wire.FireResult,
        summary="From the program: a prompt is due.",
        errors=(_BAD, _BUSY),
    ),
    Method(
        name="schedule/finished",
        params=wire.FinishedParams,
        result=wire.Nothing,
        summary="From the hub: the end of a run. It comes again until it was answered.",
    ),
)
SPECIFIED: Final = (
    Method(
        name="channel/message",
        params=wire.IncomingMessage,
        result=wire.Nothing,
        summary="Role channel, from the program: a person wrote. Not served yet.",
    ),
    Method(
        name="channel/send",
        params=wire.SendParams,
        result=wire.SendResult,
        summary="Role channel, from the hub: send a message. Not served yet.",
    ),
    Method(
        name="channel/edit",
        params=wire.EditParams,
        result=wire.Nothing,
        summary="Role channel, from the hub: change a message. Not served yet.",
    ),
    Method(
        name="channel/typing",
        params=wire.ChatAddress,
        result=None,
        summary="Role channel, from the hub: an answer is being written. Not served yet.",
    ),
    Method(
        name="channel/ask",
        params=wire.AskParams,
        result=wire.AskResult,
        summary="Role channel, from the hub: ask the people of a chat. Not served yet.",
    ),
    Method(
        name="peripheral/describe",
        params=wire.Nothing,
        result=wire.Board,
        summary="Role peripheral, from the hub: what is there? Not served yet.",
    ),
    Method(
        name="peripheral/read",
        params=wire.ReadParams,
        result=wire.ReadResult,
        summary="Role peripheral, from the hub: read a channel. Not served yet.",
    ),
    Method(
        name="peripheral/write",
        params=wire.WriteParams,
        result=wire.Nothing,
        summary="Role peripheral, from the hub: set a channel. Not served yet.",
    ),
    Method(
        name="peripheral/event",
        params=wire.PeripheralEvent,
        result=None,
        summary="Role peripheral, from the program: a value changed by itself. Not served yet.",
    ),
)
METHODS: Final = (*COMMON, *TOOLS, *SCHEDULER, *SPECIFIED)


def documents() -> Mapping[str, str]:
    """Every document as text, by its path below `protocol-schemas/endpoints`."""
    made: dict[str, JsonObject] = {
        "openrpc.json": openrpc(
            METHODS,
            title="claw-acp attach protocol",
            version=PROTOCOL,
            description="How a program attaches to the hub: JSON-RPC 2.0, one message a line, on a Unix socket, or on "
            "its standard input and output. The hub speaks first.",
        ),
        "vectors.json": {
            "protocolVersion": PROTOCOL,
            "steps": dict(STEPS),
            "patterns": dict(PATTERNS),
            "vectors": [vector.as_json() for vector in VECTORS],
        },
        **schemas(METHODS),
    }
    return {path: json.dumps(content, indent=2) + "\n" for path, content in made.items()}
