"""Verdicts on answers."""

from collections.abc import Sequence

from claw_acp.core.json_value import JsonValue
from claw_acp.verify.frames import Frame
from claw_acp.verify.rule import Failed


def must_succeed(answer: Frame, what: str) -> None:
    """Check that a request was answered with a result.

    Raises:
        Failed: It was answered with an error.
    """
    if answer.error is not None:
        code, message = answer.code, answer.error.get("message")
        raise Failed(f"{what} was answered with error {code}: {message}", exchange(answer))


def must_fail(answer: Frame, what: str, codes: Sequence[JsonValue] = ()) -> None:
    """Check that a request was answered with an error, of one of these codes if any are named.

    Raises:
        Failed: It was not.
    """
    if answer.error is None:
        raise Failed(f"{what} was answered with a result", exchange(answer))
    if codes and answer.code not in codes:
        wanted = " or ".join(str(code) for code in codes)
        raise Failed(f"{what} was answered with error {answer.code}, not {wanted}", exchange(answer))


def exchange(answer: Frame) -> list[Frame]:
    """An answer and its request."""
    return [answer.call.frame, answer] if answer.call else [answer]
