"""The published documents of the provider protocol, made from the program's own types and vectors."""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.plugin_errors import CANCELLED, PLUGIN_ERRORS
from claw_acp.kit import wire
from claw_acp.verify.provider.vector import PATTERNS, STEPS
from claw_acp.verify.provider.vectors import VECTORS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = "#/components/schemas/{model}"


class Nothing(wire.Wire):
    """An object without required members."""


_REQUESTS: Mapping[str, tuple[type[BaseModel], type[BaseModel], str]] = {
    "initialize": (wire.InitializeParams, wire.InitializeResult, "Begin a session: who speaks, and what it can do."),
    "chat": (wire.ChatParams, wire.ChatResult, "Answer a conversation. The one method of the mode one-shot."),
    "models/list": (Nothing, wire.ModelsResult, "The models on offer now."),
    "shutdown": (Nothing, Nothing, "End: answer with an empty object, and exit within 2 s."),
}
_NOTIFICATIONS: Mapping[str, tuple[type[BaseModel], str]] = {
    "chat/delta": (wire.ChatDelta, "From the program: the next piece of an answer."),
    "$/cancel_request": (wire.CancelParams, "From the host: a request is no longer wanted."),
}


def documents() -> Mapping[str, str]:
    """Every document as text, by its path below `protocol-schemas/provider`."""
    made: dict[str, JsonObject] = {"openrpc.json": _openrpc(), "vectors.json": _vectors()}
    for name, (params, result, _) in _REQUESTS.items():
        made[f"schemas/{_file(name)}.params.json"] = _schema(params)
        made[f"schemas/{_file(name)}.result.json"] = _schema(result)
    for name, (params, _) in _NOTIFICATIONS.items():
        made[f"schemas/{_file(name)}.params.json"] = _schema(params)
    return {path: json.dumps(content, indent=2) + "\n" for path, content in made.items()}


def _file(method: str) -> str:
    return method.removeprefix("$/").replace("/", "-").replace("_", "-")


def _schema(model: type[BaseModel]) -> JsonObject:
    return {"$schema": DIALECT, **_untitled(cast("JsonObject", model.model_json_schema()))}


def _untitled(value: JsonValue) -> Any:  # noqa: ANN401 - what went in, less the titles
    """The schema without titles, which only repeat names; no member of the protocol has this name."""
    if isinstance(value, dict):
        return {key: _untitled(held) for key, held in value.items() if key != "title"}
    return [_untitled(held) for held in value] if isinstance(value, list) else value


def _openrpc() -> JsonObject:
    models = [*(model for row in _REQUESTS.values() for model in row[:2]), *(row[0] for row in _NOTIFICATIONS.values())]
    unique = list(dict.fromkeys([*models, wire.ErrorData]))
    references, definitions = models_json_schema([(model, "validation") for model in unique], ref_template=_REFERENCE)
    schemas = cast("dict[str, JsonObject]", _untitled(definitions["$defs"]))
    methods: list[JsonValue] = []
    for name, (params, result, summary) in _REQUESTS.items():
        method = _method(name, schemas[params.__name__], summary=summary)
        answer = {"name": "result", "schema": cast("JsonObject", references[result, "validation"])}
        methods.append({**method, "result": answer, "errors": _errors(name)})
    for name, (params, summary) in _NOTIFICATIONS.items():
        methods.append(_method(name, schemas[params.__name__], summary=f"{summary} A notification: it has no answer."))
    return {
        "openrpc": "1.3.2",
        "info": {
            "title": "claw-acp provider protocol",
            "version": str(wire.PROTOCOL_VERSION),
            "description": "How a program answers for a model: JSON-RPC 2.0, one message a line, on stdin and stdout.",
        },
        "methods": methods,
        "components": {"schemas": schemas},
    }


def _method(name: str, params: JsonObject, *, summary: str) -> JsonObject:
    required = cast("list[JsonValue]", params.get("required", []))
    properties = cast("JsonObject", params.get("properties", {}))
    rows: list[JsonValue] = [
        {"name": member, "required": member in required, "schema": schema} for member, schema in properties.items()
    ]
    return {"name": name, "summary": summary, "paramStructure": "by-name", "params": rows}


def _errors(method: str) -> list[JsonValue]:
    if method != "chat":
        return []
    rows: list[JsonValue] = [
        {"code": error.code, "message": f"{error.name}: {error.meaning}"} for error in PLUGIN_ERRORS
    ]
    return [*rows, {"code": CANCELLED, "message": "cancelled: the host asked for it by `$/cancel_request`."}]


def _vectors() -> JsonObject:
    return {
        "protocolVersion": wire.PROTOCOL_VERSION,
        "steps": dict(STEPS),
        "patterns": dict(PATTERNS),
        "vectors": [vector.as_json() for vector in VECTORS],
    }
