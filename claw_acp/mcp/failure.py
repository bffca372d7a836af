"""Reasons that a server cannot be used."""


class ServerFailed(Exception):
    """A server did not start, or was lost. The text continues its name: "ended with code 1"."""

    def __init__(self, reason: str, *, advice: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice


class SessionForgotten(ServerFailed):
    """The server no longer knows our session (it was restarted): the request was not carried out."""
