"""The settings of a session: its mode, and its configuration options."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Array, Explained, Items, Known, Lenient, Variants, Wire

SessionConfigOptionCategory: TypeAlias = Annotated[
    str, Known(values=("mode", "model", "model_config", "thought_level"))
]


class SessionMode(Wire):
    """A way in which the agent works."""

    id: str
    name: str
    description: Lenient[str] = None


class SessionModeState(Wire):
    """All modes, and the current one."""

    current_mode_id: str
    available_modes: Items[SessionMode]


class SessionConfigSelectOption(Wire):
    """A value to choose."""

    value: str
    name: str
    description: Lenient[str] = None


class SessionConfigSelectGroup(Wire):
    """Values under a heading."""

    group: str
    name: str
    options: Items[SessionConfigSelectOption]


SessionConfigSelectOptions: TypeAlias = Annotated[
    Array[SessionConfigSelectOption] | Array[SessionConfigSelectGroup],
    Explained(text="must be an array of values, or an array of groups of values"),
]


class _ConfigOption(Wire):
    id: str
    name: str
    description: Lenient[str] = None
    category: Lenient[SessionConfigOptionCategory] = None


class SessionConfigSelect(_ConfigOption):
    """A choice of one value among several."""

    type: Literal["select"] = "select"
    current_value: str
    options: SessionConfigSelectOptions


class SessionConfigBoolean(_ConfigOption):
    """A switch; only for clients with the capability `session.configOptions.boolean`."""

    type: Literal["boolean"] = "boolean"
    current_value: bool


SessionConfigOption: TypeAlias = Annotated[SessionConfigSelect | SessionConfigBoolean, Variants(tag="type")]


class SetSessionModeRequest(Wire):
    """Change the mode, while idle or during a turn."""

    session_id: str
    mode_id: str


class SetSessionModeResponse(Wire):
    """The mode has been changed."""


class SetSessionConfigOptionRequest(Wire):
    """Set an option: to one of its values, or, with `type: "boolean"`, on or off."""

    session_id: str
    config_id: str
    type: Annotated[str, Known(values=("boolean",))] | None = None
    value: Annotated[bool | str, Explained(text="must be a string, or true or false")]

    def conflict(self) -> str:
        """The fault of a value that does not fit the type."""
        if self.type == "boolean" and not isinstance(self.value, bool):
            return 'needs true or false as `value` when `type` is "boolean"'
        if self.type != "boolean" and isinstance(self.value, bool):
            return 'needs `type` "boolean" when `value` is true or false'
        return ""


class SetSessionConfigOptionResponse(Wire):
    """All options with their current values."""

    config_options: Items[SessionConfigOption]
