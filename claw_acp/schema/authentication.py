"""Methods of logging in, `authenticate` and `logout`, and (unstable) the login status."""

from typing import Annotated, Literal, TypeAlias

from claw_acp.core.value import made_by
from claw_acp.schema.base import Instead, Known, Lenient, LenientItems, NullableArray, Variants, Wire


class AuthMethodAgent(Wire):
    """The agent logs in by itself when asked to `authenticate`."""

    id: str
    name: str
    description: Lenient[str] = None


def _no_variables_for_null(value: object) -> object:
    return {} if value is None else value


class AuthMethodTerminal(AuthMethodAgent):
    """The client runs the agent's own command with `args` appended and `env` overlaid, in a terminal."""

    type: Literal["terminal"] = "terminal"
    args: NullableArray[str] = ()
    env: Annotated[dict[str, str], Instead(counts_as=_no_variables_for_null)] = made_by(default_factory=dict[str, str])


AuthMethod: TypeAlias = Annotated[AuthMethodTerminal | AuthMethodAgent, Variants(tag="type", otherwise=AuthMethodAgent)]


class AuthenticateRequest(Wire):
    """Log in by the method with this id, one of those the agent named in `initialize`."""

    method_id: str


class AuthenticateResponse(Wire):
    """The agent is logged in."""


class LogoutRequest(Wire):
    """Forget the credentials."""


class LogoutResponse(Wire):
    """The credentials are forgotten."""


AuthState: TypeAlias = Annotated[str, Known(values=("authenticated", "unauthenticated", "not_required", "unknown"))]


class AuthAccount(Wire):
    """An account or key that the agent has, described for people; `active` when requests use it."""

    label: str
    active: Lenient[bool] = None
    name: Lenient[str] = None
    email: Lenient[str] = None
    organization: Lenient[str] = None


class AuthStatusRequest(Wire):
    """Ask whether sessions can be started without logging in first. This changes nothing and is never refused."""


class AuthStatusResponse(Wire):
    """The state (an unknown one counts as `unknown`), and the accounts."""

    state: AuthState
    accounts: LenientItems[AuthAccount] = None


class AuthStatusUpdateNotification(Wire):
    """The same, after a change."""

    state: AuthState
    accounts: LenientItems[AuthAccount] = None
