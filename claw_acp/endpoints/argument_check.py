"""Schemas of lent tools, and arguments checked against them. Sole owner of jsonschema."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from claw_acp.contracts.input_schema import usable_schema
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject, JsonValue

LARGEST_SCHEMA: Final = 16 * 1024  # characters; one takes a tenth of a second to check for each 10,000
LONGEST_SHOWN: Final = 300  # characters about a mismatch; a message repeats the value

_UNCHECKED: Final = frozenset({"pattern", "format", "default", "description"})
"""Keywords that are the program's own business: a hostile `pattern` takes years to match."""

_NAMED: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose members are named by the author."""

_VALUES: Final = frozenset({"enum", "const", "required"})


class UnusableSchema(ClawError):
    """An input schema is no schema, or none that models can be given."""

    code = -32602


class ArgumentCheck:
    """The check of one tool's arguments.

    Attributes:
        schema: The schema for models.

    Raises:
        UnusableSchema: The schema cannot be used.
    """

    def __init__(self, schema: JsonObject) -> None:
        self.schema = _usable(schema)
        self._validator = cast("Any", Draft202012Validator)(_checkable(self.schema))

    def mismatch(self, arguments: JsonObject) -> str | None:
        """The first thing that is wrong with arguments; None if they fit."""
        errors = cast("Callable[[object], Iterable[Any]]", self._validator.iter_errors)(arguments)
        error = next(iter(errors), None)
        if error is None:
            return None
        place = ".".join(str(part) for part in error.absolute_path)
        said = str(error.message)
        shown = said if len(said) <= LONGEST_SHOWN else f"{said[:LONGEST_SHOWN]}…"
        return f"`{place}`: {shown}" if place else shown


def _usable(schema: JsonObject) -> JsonObject:
    if schema.get("type") != "object":
        raise UnusableSchema('the input schema has to have `"type": "object"`')
    try:
        if len(json.dumps(schema)) > LARGEST_SCHEMA:
            raise UnusableSchema(f"the input schema is longer than {LARGEST_SCHEMA:,} characters")
        cast("Any", Draft202012Validator).check_schema(schema)
        usable = usable_schema(schema)
    except SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path)
        raise UnusableSchema(f"the input schema is no JSON Schema: {place}: {error.message[:LONGEST_SHOWN]}") from error
    except RecursionError as error:
        raise UnusableSchema("the input schema is nested too deeply") from error
    if usable is None:
        raise UnusableSchema("a required argument has a name that models cannot use; use letters, digits, _ . and -")
    return usable


def _checkable(node: JsonValue) -> Any:  # noqa: ANN401 - what went in, less some keywords
    """The schema with the keywords that we check."""
    if not isinstance(node, Mapping):
        return [_checkable(part) for part in node] if isinstance(node, list | tuple) else node
    kept: dict[str, JsonValue] = {}
    for key, value in node.items():
        if key in _NAMED and isinstance(value, Mapping):
            kept[key] = {name: _checkable(part) for name, part in value.items()}
        elif key not in _UNCHECKED:
            kept[key] = value if key in _VALUES else _checkable(value)
    return kept
