"""The options of a session in wire form. Protocol versions differ in the key of an option's id."""

from collections.abc import Sequence

from claw_acp.contracts.command import Option, Setting
from claw_acp.core.json_value import JsonObject
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.session_options import settings_in


def config_options(live: LiveSession, *, id_key: str, switches: bool) -> Sequence[JsonObject]:
    """All options of a session with their current values, the most important first.

    Args:
        live: The session.
        id_key: The protocol's key for the id of an option.
        switches: Whether the client supports options that are on or off.
    """
    return [_option(setting, id_key) for setting in settings_in(live, switches=switches)]


def _option(setting: Setting, id_key: str) -> JsonObject:
    known: JsonObject = {id_key: setting.id, "name": setting.name} | {
        key: text for key, text in (("description", setting.description), ("category", setting.category)) if text
    }
    if not setting.options:
        return {**known, "type": "boolean", "currentValue": setting.current}
    values = [_value(option) for option in setting.options]
    return {**known, "type": "select", "currentValue": setting.current, "options": values}


def _value(option: Option) -> JsonObject:
    shown: JsonObject = {"value": option.value, "name": option.name}
    return {**shown, "description": option.description} if option.description else shown
