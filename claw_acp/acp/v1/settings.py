"""A session's modes and configuration options, in both forms that clients know, made from one source."""

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.contracts.command import Option
from claw_acp.core.json_value import JsonObject
from claw_acp.runtime.choices import MODES, Setting, settings_in
from claw_acp.runtime.engine import OpenSession


def settings_of(opened: OpenSession, client: ClientCapabilities) -> JsonObject:
    """`modes` and `configOptions`, as `session/new`, `load` and `resume` answer them."""
    modes = [{"id": mode.value, "name": mode.name, "description": mode.description} for mode in MODES]
    return {
        "modes": {"currentModeId": opened.session.record.mode, "availableModes": modes},
        "configOptions": [_option(setting) for setting in settings_in(opened, switches=client.boolean_options)],
    }


def _option(setting: Setting) -> JsonObject:
    known: JsonObject = {"id": setting.id, "name": setting.name} | {
        key: text for key, text in (("description", setting.description), ("category", setting.category)) if text
    }
    if not setting.options:
        return {**known, "type": "boolean", "currentValue": setting.current}
    values = [_value(option) for option in setting.options]
    return {**known, "type": "select", "currentValue": setting.current, "options": values}


def _value(option: Option) -> JsonObject:
    shown: JsonObject = {"value": option.value, "name": option.name}
    return {**shown, "description": option.description} if option.description else shown
