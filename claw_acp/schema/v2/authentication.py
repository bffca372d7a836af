"""Logging in and out in protocol 2."""

from claw_acp.schema.base import Wire


class LoginAuthRequest(Wire):
    """Log in by the method with this id, one of those the agent named in `initialize`."""

    method_id: str


class LogoutAuthRequest(Wire):
    """Forget the credentials."""
