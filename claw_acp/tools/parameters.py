"""The base of the built-in tools: one class defines a tool's JSON Schema and checks its arguments.

pydantic checks, but is not imported here: with all tools it would take 100 ms of the first prompt, and is loaded with
the first call instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Generic, Literal, TypeVar, cast, get_args, get_origin

from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallDraft, Invocation, ToolContext
from claw_acp.core.errors import InvalidArguments
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.registry.reference import Ref
from claw_acp.tools.argument_errors import explain

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
    from pydantic_core import CoreSchema

_ADAPTER: Final["Ref[type[TypeAdapter[Any]]]"] = Ref("pydantic:TypeAdapter")
_FIELD: Final[Ref[Callable[..., object]]] = Ref("pydantic:Field")

_REQUIRED: Final = object()
_TYPES: Final = {str: "string", int: "integer", float: "number", bool: "boolean"}
_KEYWORDS: Final = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LENGTHS: Final = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
}


class Argument:
    """The metadata of one argument. `bounds` are named as by pydantic."""

    __slots__ = ("annotation", "bounds", "default", "description", "factory")

    def __init__(
        self, *, description: str, default: object, factory: Callable[[], object] | None, bounds: Mapping[str, float]
    ) -> None:
        self.annotation: Any = None
        self.description = description
        self.default = default
        self.factory = factory
        self.bounds = bounds

    @property
    def required(self) -> bool:
        """True if a call must include it."""
        return self.default is _REQUIRED and self.factory is None

    def value(self) -> object:
        """The value if a call does not include it."""
        return self.default if self.factory is None else self.factory()


def argument(
    *,
    description: str,
    default: object = _REQUIRED,
    default_factory: Callable[[], object] | None = None,
    **bounds: float,
) -> Any:  # noqa: ANN401 - stands for a value of the field's type, as in a dataclass
    """Describe a field of `Parameters`. Bounds: `ge`, `gt`, `le`, `lt`, `min_length`, `max_length`."""
    return Argument(description=description, default=default, factory=default_factory, bounds=bounds)


class Parameters:
    """The arguments of a tool. Every field has a description: it is all a model knows about it.

    Unknown names are refused. `null` for an argument with a default means the default, because vendors with a strict
    mode send every argument.
    """

    arguments: ClassVar[Mapping[str, Argument]] = {}

    def __init_subclass__(cls) -> None:
        found = {name: held for name, held in vars(cls).items() if isinstance(held, Argument)}
        for name, held in found.items():
            held.annotation = cls.__annotations__[name]
            delattr(cls, name)
        cls.arguments = {**cls.arguments, **found}

    def __init__(self, **given: object) -> None:
        self.given = frozenset(given)
        for name, held in self.arguments.items():
            setattr(self, name, given[name] if name in given else held.value())

    def conflict(self) -> str:
        """A fault of the arguments together, as a sentence; empty without one."""
        return ""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        field = _FIELD.load()
        fields = {
            name: {
                "type": "typed-dict-field",
                "schema": handler.generate_schema(Annotated[held.annotation, field(**held.bounds)]),
                "required": held.required,
            }
            for name, held in cls.arguments.items()
        }
        table = {"type": "typed-dict", "fields": fields, "extra_behavior": "forbid"}
        known = {"type": "function-before", "function": _plain_function(cls._null_means_absent), "schema": table}
        return cast("CoreSchema", {"type": "function-after", "function": _plain_function(cls._made), "schema": known})

    @classmethod
    def _null_means_absent(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        optional = {name for name, held in cls.arguments.items() if not held.required}
        given = cast("Mapping[str, object]", value)
        return {name: item for name, item in given.items() if item is not None or name not in optional}

    @classmethod
    def _made(cls, values: Mapping[str, object]) -> "Parameters":
        made = cls(**values)
        if conflict := made.conflict():
            raise ValueError(conflict)
        return made


def _plain_function(function: Callable[[Any], object]) -> Mapping[str, object]:
    return {"type": "no-info", "function": function}


@cache
def _checker(parameters: type[Parameters]) -> "TypeAdapter[Any]":
    return _ADAPTER.load()(parameters)


P = TypeVar("P", bound=Parameters)


class TypedTool(ABC, Generic[P]):
    """A tool whose arguments are described by a `Parameters` class; subclasses implement `bind`."""

    name: ClassVar[str]
    description: ClassVar[str]
    parameters: type[P]
    parallel: bool = False
    draft: ClassVar[CallDraft | None] = None
    on_demand: bool = False
    """True if models are told of it only once they look for it: see `find_tools`."""
    essential: bool = False
    """True if models with a narrow window are told of it at once, too."""

    def __init__(self) -> None:
        self._spec: ToolSpec | None = None

    @property
    def spec(self) -> ToolSpec:
        """The name, description and JSON Schema for the model."""
        if self._spec is None:
            self._spec = ToolSpec(name=self.name, description=self.description, parameters=json_schema(self.parameters))
        return self._spec

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """Check the arguments and bind them to the session.

        Raises:
            InvalidArguments: They do not fit; the text names each wrong argument.
            ToolError: A path in them is invalid.
        """
        try:
            parameters: P = _checker(self.parameters).validate_python(arguments)
        except ValueError as error:
            fault = cast("ValidationError", error)
            raise InvalidArguments(explain(fault, tool=self.name, schema=self.spec.parameters)) from error
        return self.bind(parameters, context)

    @abstractmethod
    def bind(self, parameters: P, context: ToolContext) -> Invocation:
        """An invocation with these parameters, without effects yet."""


def json_schema(parameters: type[Parameters]) -> JsonObject:
    """The class as a JSON Schema that every vendor accepts: no references, no titles, no null branches, closed."""
    required = [name for name, held in parameters.arguments.items() if held.required]
    properties = {name: _property(held) for name, held in parameters.arguments.items()}
    needed: JsonObject = {"required": required} if required else {}
    return {"properties": properties, **needed, "type": "object", "additionalProperties": False}


def _property(held: Argument) -> JsonObject:
    """The schema of one argument. The order of its keys never changes, since prompts are cached by their bytes."""
    node = _node(held.annotation)
    keywords = _KEYWORDS | _LENGTHS.get(str(node["type"]), {})
    node = _sorted({**node, **{keywords[name]: bound for name, bound in held.bounds.items()}})
    if NoneType in get_args(held.annotation):
        return {**node, "description": held.description}
    default: JsonObject = {} if held.default is _REQUIRED else {"default": cast("JsonValue", held.default)}
    return _sorted({**node, **default, "description": held.description})


def _sorted(node: JsonObject) -> JsonObject:
    return node if node["type"] == "object" else dict(sorted(node.items()))


def _node(annotation: Any) -> JsonObject:  # noqa: ANN401 - any annotation of a field
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    if isinstance(annotation, type) and issubclass(annotation, Parameters):
        return json_schema(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return {"enum": list(arguments), "type": "string"}
    if origin is list:
        return {"items": _node(arguments[0]), "type": "array"}
    (present,) = (member for member in arguments if member is not NoneType)
    return _node(present)
