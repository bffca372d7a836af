"""Prompts that join a running turn, between two of its model requests."""

from collections import deque
from collections.abc import Sequence

from claw_acp.core.errors import SessionBusy
from claw_acp.core.messages import ContentPart
from claw_acp.core.value import Value
from claw_acp.session.prompt_message import OnAccepted
from claw_acp.session.session import QUEUE_LIMIT


class SteeringPrompt(Value):
    """A prompt that waits to join; `on_accepted` is called with the id of its message once it has.

    `model_parts` is sent to the model instead of `parts`, where it was typed behind a command.
    """

    parts: tuple[ContentPart, ...]
    on_accepted: OnAccepted
    model_parts: tuple[ContentPart, ...] | None = None


class Steering:
    """The prompts that wait to join one turn. It accepts them only while the turn asks a model."""

    def __init__(self) -> None:
        self._waiting: deque[SteeringPrompt] = deque()
        self._open = False

    def open(self) -> None:
        """Accept prompts from now on."""
        self._open = True

    def add(self, prompt: SteeringPrompt) -> bool:
        """Queue a prompt to join before the next model request; False when the turn accepts none.

        Raises:
            SessionBusy: Too many prompts wait to join.
        """
        if not self._open:
            return False
        if len(self._waiting) >= QUEUE_LIMIT:
            raise SessionBusy(f"{QUEUE_LIMIT} prompts already wait to join this turn; let some join or cancel them")
        self._waiting.append(prompt)
        return True

    @property
    def has_waiting(self) -> bool:
        """True if a prompt waits to join."""
        return bool(self._waiting)

    def withdraw(self, prompt: SteeringPrompt) -> None:
        """Remove a prompt that has not joined yet."""
        self._waiting = deque(other for other in self._waiting if other is not prompt)

    def take(self) -> Sequence[SteeringPrompt]:
        """Remove and return the waiting prompts."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        return taken

    def close(self) -> bool:
        """Accept no more prompts; False, and nothing changes, while some wait."""
        self._open = bool(self._waiting)
        return not self._open
