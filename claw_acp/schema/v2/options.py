"""Setting an option in protocol 2."""

from typing import Annotated, Literal

from claw_acp.schema.base import Explained, Wire


class SetSessionConfigOptionRequest(Wire):
    """Set an option: to the id of one of its values, or on or off."""

    session_id: str
    config_id: str
    type: Literal["id", "boolean"]
    value: Annotated[bool | str, Explained(text="must be a string, or true or false")]

    def conflict(self) -> str:
        """The fault of a value that does not fit the type."""
        if (self.type == "boolean") != isinstance(self.value, bool):
            wanted = "true or false" if self.type == "boolean" else "the id of a value"
            return f'need {wanted} as `value` when `type` is "{self.type}"'
        return ""
