"""A session's modes and configuration options, in both forms that clients know, made from one source."""

from collections.abc import Sequence

from claw_acp.contracts.command import Option
from claw_acp.core.json_value import JsonObject
from claw_acp.runtime.choices import MODES, models
from claw_acp.runtime.engine import OpenSession


def settings_of(opened: OpenSession) -> JsonObject:
    """`modes` and `configOptions`, as `session/new`, `load` and `resume` answer them."""
    record = opened.session.record
    modes = [{"id": mode.value, "name": mode.name, "description": mode.description} for mode in MODES]
    return {
        "modes": {"currentModeId": record.mode, "availableModes": modes},
        "configOptions": [
            _select("mode", "Mode", current=record.mode, options=MODES),
            _select("model", "Model", current=record.model, options=models(opened)),
        ],
    }


def _select(option_id: str, name: str, *, current: str, options: Sequence[Option]) -> JsonObject:
    values = [
        {"value": option.value, "name": option.name}
        | ({"description": option.description} if option.description else {})
        for option in options
    ]
    return {
        "id": option_id,
        "name": name,
        "category": option_id,  # ACP's own categories are named like this: `mode`, `model`
        "type": "select",
        "currentValue": current,
        "options": values,
    }
