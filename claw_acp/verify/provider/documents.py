"""The published documents of the provider protocol, made from the program's own types and vectors."""

import json
from collections.abc import Mapping
from typing import Final

from claw_acp.core.json_value import JsonObject
from claw_acp.core.plugin_errors import CANCELLED, PLUGIN_ERRORS
from claw_acp.kit import wire
from claw_acp.verify.pattern import PATTERNS
from claw_acp.verify.protocol_documents import Method, openrpc, schemas
from claw_acp.verify.provider.vector import STEPS
from claw_acp.verify.provider.vectors import VECTORS


class Nothing(wire.Wire):
    """An object without required members."""


_ERRORS: Final[tuple[JsonObject, ...]] = (
    *({"code": error.code, "message": f"{error.name}: {error.meaning}"} for error in PLUGIN_ERRORS),
    {"code": CANCELLED, "message": "cancelled: the host asked for it by `$/cancel_request`."},
)
METHODS: Final = (
    Method(
        name="initialize",
        params=wire.InitializeParams,
        result=wire.InitializeResult,
        summary="Begin a session: who speaks, and what it can do.",
    ),
    Method(
        name="chat",
        params=wire.ChatParams,
        result=wire.ChatResult,
        summary="Answer a conversation. The one method of the mode one-shot.",
        errors=_ERRORS,
    ),
    Method(name="models/list", params=Nothing, result=wire.ModelsResult, summary="The models on offer now."),
    Method(
        name="shutdown",
        params=Nothing,
        result=Nothing,
        summary="End: answer with an empty object, and exit within 2 s.",
    ),
    Method(
        name="chat/delta",
        params=wire.ChatDelta,
        result=None,
        summary="From the program: the next piece of an answer.",
    ),
    Method(
        name="$/cancel_request",
        params=wire.CancelParams,
        result=None,
        summary="From the host: a request is no longer wanted.",
    ),
)


def documents() -> Mapping[str, str]:
    """Every document as text, by its path below `protocol-schemas/provider`."""
    made: dict[str, JsonObject] = {
        "openrpc.json": openrpc(
            METHODS,
            title="claw-acp provider protocol",
            version=wire.PROTOCOL_VERSION,
            description="How a program answers for a model: JSON-RPC 2.0, one message a line, on stdin and stdout.",
            more=[wire.ErrorData],
        ),
        "vectors.json": {
            "protocolVersion": wire.PROTOCOL_VERSION,
            "steps": dict(STEPS),
            "patterns": dict(PATTERNS),
            "vectors": [vector.as_json() for vector in VECTORS],
        },
        **schemas(METHODS),
    }
    return {path: json.dumps(content, indent=2) + "\n" for path, content in made.items()}
