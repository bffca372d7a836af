"""Changes of tool calls for protocol 1, each with the status of its call."""

from claw_acp.acp.handshake import ClientCapabilities
from claw_acp.acp.v1.updates import render
from claw_acp.core.events import FINAL, ToolCallChanged, ToolStatus
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace


class CallStatuses:
    """The statuses of the tool calls of a session that are not over.

    An update without a status makes some clients take the call for completed.
    """

    def __init__(self) -> None:
        self._known: dict[str, ToolStatus] = {}

    def render(self, event: ToolCallChanged, *, client: ClientCapabilities, replay: bool) -> JsonObject | None:
        """The update for a change, with the call's status; None if it changes nothing that is shown."""
        if not replay and event.name is not None and event.item in self._known:
            event = replace(event, name=None)  # announced while the model was still writing it
        update = render(event, client=client, replay=replay)
        status = event.status or self._known.get(event.item, "in_progress")
        if status in FINAL:
            self._known.pop(event.item, None)
        else:
            self._known[event.item] = status
        return update if update is None or event.status else {**update, "status": status}
