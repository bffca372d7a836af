"""The OpenRPC document of the control interface, made from its methods."""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic.json_schema import models_json_schema

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.gateway.control.method import Method
from claw_acp.gateway.control.wire import Wire

VERSION: Final = "1"
_REFERENCE: Final = "#/components/schemas/{model}"


def openrpc(methods: Mapping[str, Method]) -> JsonObject:
    """The document. A method's `x-scope` is the scope that a token needs for it."""
    models: dict[type[Wire], None] = {}
    for method in methods.values():
        models |= {method.params: None, method.result: None}
    references, definitions = models_json_schema(
        [(model, "serialization") for model in models], by_alias=True, ref_template=_REFERENCE
    )
    schemas = cast("dict[str, JsonObject]", _untitled(definitions["$defs"]))
    return {
        "openrpc": "1.3.2",
        "info": {
            "title": "claw-acp control interface",
            "version": VERSION,
            "description": "JSON-RPC 2.0, batches too: by POST /rpc with a token, or on the hub's socket, a line each.",
        },
        "methods": [
            _described(name, method, schemas[method.params.__name__], references[method.result, "serialization"])
            for name, method in methods.items()
        ],
        "components": {"schemas": schemas},
    }


def document_text(methods: Mapping[str, Method]) -> str:
    """The document as it is published."""
    return json.dumps(openrpc(methods), indent=2) + "\n"


def _described(name: str, method: Method, params: JsonObject, result: Mapping[str, Any]) -> JsonObject:
    required = cast("list[JsonValue]", params.get("required", []))
    properties = cast("JsonObject", params.get("properties", {}))
    rows: list[JsonValue] = [
        {"name": member, "required": member in required, "schema": schema} for member, schema in properties.items()
    ]
    return {
        "name": name,
        "summary": method.summary,
        "x-scope": method.scope,
        "paramStructure": "by-name",
        "params": rows,
        "result": {"name": "result", "schema": cast("JsonObject", result)},
    }


def _untitled(value: JsonValue) -> Any:  # noqa: ANN401 - what went in, less the titles of fields
    """The schemas without titles, which only repeat names."""
    if isinstance(value, dict):
        return {key: _untitled(held) for key, held in value.items() if not (key == "title" and isinstance(held, str))}
    return [_untitled(held) for held in value] if isinstance(value, list) else value
