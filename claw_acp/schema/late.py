"""Parts of a request that few clients send: their models are loaded only where one is there."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic_core import core_schema

from claw_acp.schema.base import Wire
from claw_acp.schema.methods import resolve

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

    from claw_acp.core.json_value import JsonValue


@dataclass(frozen=True, slots=True)
class Late:
    """The model of an optional part, as "module:class". Building the schema of a nested model costs milliseconds."""

    reference: str

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> core_schema.CoreSchema:
        sent = core_schema.plain_serializer_function_ser_schema(_sent)
        return core_schema.no_info_plain_validator_function(self._read, serialization=sent)

    def _read(self, value: object) -> Wire | None:
        return None if value is None else resolve(self.reference).model_validate(value)


def _sent(part: Wire | None) -> "dict[str, JsonValue] | None":
    return None if part is None else part.to_wire()
