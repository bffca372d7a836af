"""The base of the built-in tools: one pydantic class gives a tool its JSON Schema and checks what models send."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, TypeVar, cast

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallDraft, Invocation, ToolContext
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.tools.argument_errors import explain

_NOISE = frozenset({"title", "$defs", "additionalProperties"})


class Parameters(BaseModel):
    """What a tool takes. Every field carries a description: it is all a model knows about it.

    Unknown names are refused. `null` for an argument that has a default means the default, because vendors with a
    strict mode send every argument.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_means_absent(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        given = cast("Mapping[str, object]", value)
        return {name: item for name, item in given.items() if item is not None or name not in optional}


P = TypeVar("P", bound=Parameters)


class TypedTool(ABC, Generic[P]):
    """A tool whose arguments are described by a `Parameters` class; subclasses write `bind`."""

    name: ClassVar[str]
    description: ClassVar[str]
    parameters: type[P]
    parallel: bool = False
    draft: ClassVar[CallDraft | None] = None

    def __init__(self) -> None:
        self._spec: ToolSpec | None = None

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema, as the model sees them."""
        if self._spec is None:
            self._spec = ToolSpec(name=self.name, description=self.description, parameters=json_schema(self.parameters))
        return self._spec

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """Check the arguments and bind them to the session.

        Raises:
            InvalidArguments: They do not fit; the text names each wrong argument.
            ToolError: A path in them cannot be one.
        """
        try:
            parameters = self.parameters.model_validate(arguments)
        except ValidationError as error:
            raise InvalidArguments(explain(error, tool=self.name, schema=self.spec.parameters)) from error
        return self.bind(parameters, context)

    @abstractmethod
    def bind(self, parameters: P, context: ToolContext) -> Invocation:
        """One call with these parameters; nothing is touched yet."""


def json_schema(parameters: type[Parameters]) -> JsonObject:
    """The class as a JSON Schema that every vendor takes: no references, no titles, no null branches, closed."""
    schema = cast("JsonObject", parameters.model_json_schema())
    definitions = cast("Mapping[str, JsonObject]", schema.get("$defs", {}))
    return _plain(_without(schema, "description"), definitions)


def _plain(node: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    reference = node.get("$ref")
    if isinstance(reference, str):
        # the docstring of the nested class is for readers of the code; what is said at the field stays
        target = _without(definitions[reference.rpartition("/")[2]], "description")
        return _plain({**target, **_without(node, "$ref")}, definitions)
    branches = cast("list[JsonObject]", node.get("anyOf", []))
    present = [branch for branch in branches if branch.get("type") != "null"]
    if len(branches) > len(present) == 1:
        return _plain({**present[0], **_without(node, "anyOf")}, definitions)
    plain = {key: _inner(key, value, definitions) for key, value in node.items() if key not in _NOISE}
    if plain.get("default", ...) is None:
        del plain["default"]
    if plain.get("type") == "object":
        plain["additionalProperties"] = False
    return plain


def _inner(key: str, value: JsonValue, definitions: Mapping[str, JsonObject]) -> JsonValue:
    if key == "properties":
        properties = cast("Mapping[str, JsonObject]", value)
        return {name: _plain(node, definitions) for name, node in properties.items()}
    if key == "items":
        return _plain(cast("JsonObject", value), definitions)
    if key == "anyOf":
        return [_plain(branch, definitions) for branch in cast("list[JsonObject]", value)]
    return value


def _without(node: JsonObject, key: str) -> JsonObject:
    return {name: value for name, value in node.items() if name != key}
