"""The answer to a permission request in protocol 2."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.schema.base import Known, Variants, Wire

OUTCOMES = ("cancelled", "selected")


class SelectedPermissionOutcome(Wire):
    """The answer; an id that was not offered is no permission."""

    outcome: Literal["selected"] = "selected"
    option_id: str


class OtherPermissionOutcome(Wire):
    """No option was chosen; an unknown outcome is no approval either."""

    outcome: Annotated[str, Known(values=OUTCOMES)]


RequestPermissionOutcome: TypeAlias = Annotated[
    SelectedPermissionOutcome | OtherPermissionOutcome, Variants(tag="outcome", otherwise=OtherPermissionOutcome)
]


class RequestPermissionResponse(Wire):
    """The user's answer."""

    outcome: RequestPermissionOutcome
