"""The building blocks of the tables of the configuration, which `claw_acp.config.model` declares.

A field declares once, in its annotation, its type and where it may be set:

    max_turn_requests: Annotated[int, Constraint(ge=1, le=1000), Project("lower")] = 50

Reading, checking, a project's rules, the environment, `config show`, `config set` and the documentation derive from
that and from the class's docstring. pydantic checks, but is not imported here: most people have no file, so it is
loaded when there is one (`claw_acp.config.checking`).
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import urlsplit

from claw_acp.config.key_reference import KeyReference
from claw_acp.config.message_pattern import check_pattern
from claw_acp.config.secret_text import SecretText
from claw_acp.core.value import REQUIRED, Value, field_default, field_names

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

_Marker = TypeVar("_Marker")

CHECKING = "claw_acp.config.checking"  # loaded when there is a file: pydantic takes some 30 ms

PROVIDER_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""A provider's name is the part of a model's name before the first `/`; names of MCP servers have the same form."""


class Constraint:
    """Limits of a value, by pydantic's names: `ge`, `gt`, `le`, `lt`, `min_length`, `pattern`, `strict`."""

    def __init__(self, **bounds: object) -> None:
        self._bounds = bounds

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return cast("CoreSchema", {**handler(source), **self._bounds})


class Parsed:
    """A value that a function parses from a text; it raises ValueError with the rest of a sentence about the key.

    Args:
        parse: The function.
        takes: The type, for people.
        otherwise: The same sentence for a value that is no text.
    """

    def __init__(self, parse: Callable[[str], object], *, takes: str, otherwise: str) -> None:
        self._parse = parse
        self.takes = takes
        self._otherwise = otherwise

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return cast("CoreSchema", {"type": "function-plain", "function": {"type": "no-info", "function": self._read}})

    def _read(self, value: object) -> object:
        if not isinstance(value, str):
            raise ValueError(self._otherwise)  # noqa: TRY004 - pydantic reports ValueError
        return self._parse(value)


class Decisive(Value):
    """Marks a field that decides what a provider runs or calls: if its value is invalid, the provider is unusable."""


class Variable(Value):
    """The environment variable that sets a field and overrides the user's file.

    Attributes:
        name: Its name.
        parse: Parses its text, or raises ValueError; None: by the type of the field.
    """

    name: str
    parse: Callable[[str], object] | None = None


class Project(Value):
    """The way a project's file may narrow a field; it cannot set a field without this mark.

    Attributes:
        narrows: `lower`: to a smaller value, or an earlier one of its words; `adds`: by more entries.
    """

    narrows: Literal["lower", "adds"]


class Section(Value):
    """The base of every table: exact types (`true` is not a number), unknown keys refused, immutable.

    Attributes:
        fields_set: The keys that are set; the others have their defaults.
    """

    fields_set: frozenset[str] = frozenset()

    @classmethod
    def key_names(cls) -> tuple[str, ...]:
        """The keys that the table can have."""
        return tuple(name for name in field_names(cls) if name != "fields_set")

    @classmethod
    def of(cls, values: Mapping[str, object]) -> Self:
        """The table with these valid values.

        Raises:
            ValueError: They contradict each other.
        """
        make = cast("Callable[..., Self]", cls)
        return make(**values, fields_set=frozenset(values))

    @classmethod
    def validated(cls, table: Mapping[str, object]) -> Self:
        """The table with the content that a file would have.

        Raises:
            ValueError: A value is wrong; the text names its key.
        """
        validate: Callable[..., Self] = import_module(CHECKING).validated
        return validate(cls, table)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        hints = hints_of(cls)
        fields = {
            name: {
                "type": "typed-dict-field",
                "schema": handler.generate_schema(hints[name]),
                "required": field_default(cls, name) is REQUIRED,
            }
            for name in cls.key_names()
        }
        config = {"strict": True, "allow_inf_nan": False}
        table = {"type": "typed-dict", "fields": fields, "extra_behavior": "forbid", "config": config}
        function = {"type": "no-info", "function": cls.of}
        return cast("CoreSchema", {"type": "function-after", "function": function, "schema": table})


@cache
def hints_of(section: type[Section]) -> Mapping[str, object]:
    """The annotation of each field."""
    return get_type_hints(section, include_extras=True)


def plain_type(hint: object) -> object:
    """The type in an annotation, without its metadata."""
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def marker(hint: object, kind: type[_Marker]) -> _Marker | None:
    """The metadata of one kind in an annotation."""
    said = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((each for each in said if isinstance(each, kind)), None)


# ------------------------------------------------------------------ values

_SOURCES = "env:NAME, file:PATH, keyring:NAME"


def _exact_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an address with http:// or https://, as in http://127.0.0.1:8080/v1")
    return text


def _address(text: str) -> str:
    return _exact_address(text).rstrip("/")


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError("must be the path of a file")
    return Path(text)


_ADDRESS = partial(Parsed, takes="an address", otherwise="must be text, as in http://127.0.0.1:8080/v1")
_KEY = Parsed(KeyReference.parse, takes="a key", otherwise=f"must be text: {_SOURCES}, command:LINE or the key itself")
_SECRET = Parsed(
    SecretText.parse, takes="text", otherwise=f"must be text: the value itself, {_SOURCES} or command:LINE"
)
_PATTERN = Parsed(check_pattern, takes="a regular expression", otherwise='must be text in quotes, as in "text"')

DECISIVE = Decisive()

Name: TypeAlias = Annotated[str, Constraint(min_length=1)]
Texts: TypeAlias = Annotated[tuple[Name, ...], Constraint(strict=False)]
"""A list of texts; not strict, because TOML arrays are parsed to lists."""
Arguments: TypeAlias = Annotated[tuple[str, ...], Constraint(strict=False)]
"""A list of texts that may be empty."""
ProviderName: TypeAlias = Annotated[str, Constraint(pattern=PROVIDER_NAME)]
Address: TypeAlias = Annotated[str, _ADDRESS(_address)]
"""Without a trailing slash."""
ExactAddress: TypeAlias = Annotated[str, _ADDRESS(_exact_address)]
FilePath: TypeAlias = Annotated[Path, Parsed(_path, takes="a path", otherwise="must be the path of a file")]
FilePaths: TypeAlias = Annotated[tuple[FilePath, ...], Constraint(strict=False)]
"""A list of paths."""
MessagePattern: TypeAlias = Annotated[str, _PATTERN]
Key: TypeAlias = Annotated[KeyReference, _KEY]
Keys: TypeAlias = Annotated[tuple[Key, ...], Constraint(strict=False)]
SecretTexts: TypeAlias = dict[Name, Annotated[SecretText, _SECRET]]
Money: TypeAlias = Annotated[float, Constraint(ge=0, le=1_000_000)]
"""US dollars; whole numbers may be written without a point."""
