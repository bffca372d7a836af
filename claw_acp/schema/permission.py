"""`session/request_permission`: the agent asks before it acts."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Array, Variants, Wire
from claw_acp.schema.tool_call import ToolCallUpdate

PermissionOptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionOption(Wire):
    """A possible answer."""

    option_id: str
    name: str
    kind: PermissionOptionKind


class RequestPermissionRequest(Wire):
    """Ask whether a tool call, announced before, may go on."""

    session_id: str
    tool_call: ToolCallUpdate
    options: Array[PermissionOption]


class CancelledPermissionOutcome(Wire):
    """The turn was cancelled before the user answered."""

    outcome: Literal["cancelled"] = "cancelled"


class SelectedPermissionOutcome(Wire):
    """The answer; an id that was not offered is no permission."""

    outcome: Literal["selected"] = "selected"
    option_id: str


RequestPermissionOutcome: TypeAlias = Annotated[
    CancelledPermissionOutcome | SelectedPermissionOutcome,
    Variants(tag="outcome"),
]


class RequestPermissionResponse(Wire):
    """The user's answer."""

    outcome: RequestPermissionOutcome
