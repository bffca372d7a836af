"""A question to a person that can be answered from elsewhere, too."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from claw_acp.contracts.questions import Choice, PermissionQuestion
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.ids import new_id
from claw_acp.core.value import replace


class WaitingQuestion:
    """A permission question that is being shown to people.

    Attributes:
        id: Its id.
        question: What is asked.
        asked_at: Seconds since the epoch.
    """

    def __init__(self, question: PermissionQuestion) -> None:
        self.id = new_id("prm")
        self.question = question
        self.asked_at = SYSTEM_CLOCK.now()
        self._answered = anyio.Event()
        self._choice: Choice | None = None

    def answer(self, choice_id: str) -> None:
        """Answer it.

        Raises:
            InvalidRequest: It has no such choice, or was answered just now.
        """
        choice = next((choice for choice in self.question.choices if choice.id == choice_id), None)
        if choice is None:
            ids = ", ".join(choice.id for choice in self.question.choices)
            raise InvalidRequest(f'"{choice_id}" is no answer to this question; possible are {ids}')
        if self._answered.is_set():
            raise InvalidRequest("this question was answered just now")
        self._choice = replace(choice, by="a control client")
        self._answered.set()

    async def choice(self) -> Choice | None:
        """Wait for an answer from elsewhere."""
        await self._answered.wait()
        return self._choice


@contextmanager
def waiting_among(questions: list[WaitingQuestion], question: PermissionQuestion) -> Generator[WaitingQuestion]:
    """List a question among those of a session for the block."""
    waiting = WaitingQuestion(question)
    questions.append(waiting)
    try:
        yield waiting
    finally:
        questions.remove(waiting)
