"""JSON Schemas and OpenRPC documents of protocols, made from their types."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import Value

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE: Final = "#/components/schemas/{model}"


class Method(Value):
    """One method of a protocol.

    Attributes:
        name: Its name.
        params: The type of its parameters.
        result: The type of its result; None: a notification.
        summary: What it does.
        errors: Its own errors, as OpenRPC has them.
    """

    name: str
    params: type[BaseModel]
    result: type[BaseModel] | None
    summary: str
    errors: tuple[JsonObject, ...] = ()

    @property
    def file(self) -> str:
        """The beginning of the names of its schemas."""
        return self.name.removeprefix("$/").replace("/", "-").replace("_", "-")


def schemas(methods: Sequence[Method]) -> Mapping[str, JsonObject]:
    """The JSON Schemas of all parameters and results, by file name."""
    made: dict[str, JsonObject] = {}
    for method in methods:
        made[f"schemas/{method.file}.params.json"] = _schema(method.params)
        if method.result is not None:
            made[f"schemas/{method.file}.result.json"] = _schema(method.result)
    return made


def openrpc(
    methods: Sequence[Method], *, title: str, version: int, description: str, more: Sequence[type[BaseModel]] = ()
) -> JsonObject:
    """The OpenRPC document of a protocol; `more` are types that no method names."""
    requests = [model for method in methods if method.result is not None for model in (method.params, method.result)]
    models = [*requests, *(method.params for method in methods if method.result is None)]
    unique = list(dict.fromkeys([*models, *more]))
    references, definitions = models_json_schema([(model, "validation") for model in unique], ref_template=_REFERENCE)
    known = cast("dict[str, JsonObject]", _untitled(definitions["$defs"]))
    rows: list[JsonValue] = []
    for method in methods:
        row = _method(method, known[method.params.__name__])
        if method.result is not None:
            answer = {"name": "result", "schema": cast("JsonObject", references[method.result, "validation"])}
            row = {**row, "result": answer, "errors": list(method.errors)}
        rows.append(row)
    return {
        "openrpc": "1.3.2",
        "info": {"title": title, "version": str(version), "description": description},
        "methods": rows,
        "components": {"schemas": known},
    }


def _schema(model: type[BaseModel]) -> JsonObject:
    return {"$schema": DIALECT, **_untitled(cast("JsonObject", model.model_json_schema()))}


def _untitled(value: JsonValue) -> Any:  # noqa: ANN401 - what went in, less the titles
    """The schema without titles, which only repeat names; members of a message that have this name stay."""
    if isinstance(value, dict):
        return {key: _untitled(held) for key, held in value.items() if key != "title" or isinstance(held, dict)}
    return [_untitled(held) for held in value] if isinstance(value, list) else value


def _method(method: Method, params: JsonObject) -> JsonObject:
    required = cast("list[JsonValue]", params.get("required", []))
    properties = cast("JsonObject", params.get("properties", {}))
    rows: list[JsonValue] = [
        {"name": member, "required": member in required, "schema": schema} for member, schema in properties.items()
    ]
    summary = method.summary if method.result is not None else f"{method.summary} A notification: it has no answer."
    return {"name": method.name, "summary": summary, "paramStructure": "by-name", "params": rows}
