"""A refusal, as the response that a program gets: most show only its reason phrase, so that says what to do."""

from claw_acp.core.errors import ClawError
from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.verdict import NetworkRecord, Verdict


class Refusal(Exception):
    """A request is not served.

    Args:
        status: The status of the response.
        phrase: Its reason phrase, ASCII.
        text: Its body: sentences for people.
        verdict: The decision that it carries out.
    """

    def __init__(self, status: int, phrase: str, text: str, *, verdict: Verdict | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.phrase = phrase
        self.text = text
        self.verdict = verdict


def not_understood(reason: object) -> Refusal:
    """The refusal of what is no request to a proxy."""
    return Refusal(400, "Bad Request", f"{reason}.")


def blocked(verdict: Verdict) -> Refusal:
    """The refusal of a destination by a decision."""
    return Refusal(403, f"Blocked-by-claw-acp {verdict.remedy}".rstrip(), told(verdict), verdict=verdict)


def undecided(error: ClawError) -> Refusal:
    """The refusal where no decision could be made or kept."""
    return Refusal(503, "Not-decided-by-claw-acp", error.message)


def told(refused: Verdict | NetworkRecord) -> str:
    """A refusal and its remedy, in sentences."""
    return f"{refused.reason} The rule `{refused.remedy}` would allow it." if refused.remedy else refused.reason


def unreachable(destination: Destination, reason: str) -> Refusal:
    """The refusal for a destination that is permitted, but does not answer."""
    return Refusal(502, f"Unreachable {destination.host}", f"{destination.host}:{destination.port} {reason}.")
