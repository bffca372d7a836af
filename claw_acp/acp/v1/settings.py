"""A session's modes and configuration options, in both forms that clients support, from one source."""

from claw_acp.acp.config_options import config_options
from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.updates import sandbox_meta
from claw_acp.core.json_value import JsonObject
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.session_options import MODES


def settings_of(live: LiveSession, client: ClientCapabilities) -> JsonObject:
    """`modes`, `configOptions` and the sandbox for the answers of `session/new`, `load` and `resume`."""
    modes = [{"id": mode.value, "name": mode.name, "description": mode.description} for mode in MODES]
    return {
        "modes": {"currentModeId": live.session.record.mode, "availableModes": modes},
        "configOptions": config_options(live, id_key="id", switches=client.boolean_options),
        **sandbox_meta(live.session.sandbox),
    }
