"""Questions of work that goes on in sessions of its own, asked in the session that started it."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final

import anyio
import anyio.lowlevel

from claw_acp.agent.user_wait import UserWait
from claw_acp.contracts.questions import Asker, Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.clock import Clock
from claw_acp.core.events import ToolCallChanged, ToolStatus
from claw_acp.core.ids import new_id
from claw_acp.core.printable import in_reading_order, printable
from claw_acp.core.value import replace
from claw_acp.session.session import Session

LONGEST_TITLE: Final = 60  # characters
_QUOTES: Final = dict.fromkeys(map(ord, '“”„‟«»"〝〞\uff02'), "'")


class SharedQuestions:
    """The questions of several sessions: one is asked after the other, and what was answered for good is known.

    Args:
        session: The session that started them.
        asker: Its client.
        tool: The tool name under which questions are shown; there need not be such a tool.
        clock: Makes ids.
    """

    def __init__(self, session: Session, *, asker: Asker, tool: str, clock: Clock) -> None:
        self.session = session
        self.asker = asker
        self._tool = tool
        self._clock = clock
        self._one = anyio.Lock()
        self._lasting: dict[tuple[str, ...], str] = {}  # what an answer stores -> its kind

    async def permission(
        self, question: PermissionQuestion, *, waiting: Callable[[], AbstractAsyncContextManager[None]] | None = None
    ) -> Choice | None:
        """The answer to a question, whose tool call is shown in the session meanwhile.

        Args:
            question: The question.
            waiting: Makes the block in which a person is waited for; by default a turn of the session waits.
        """
        async with self._one:
            if question.session == self.session.id:  # about the budget, with a call that is shown already
                return await self.asker.permission(question)
            known = self._known(question)
            if known is not None:
                return known
            call_id = new_id("call", clock=self._clock)
            question = replace(question, session=self.session.id, call_id=call_id)
            announced = ToolCallChanged(
                item=call_id, name=self._tool, title=question.title, kind=question.kind, status="pending",
                content=question.content, locations=question.locations, raw_input=question.raw_input,
            )  # fmt: skip
            await self.session.broadcast(announced)
            status: ToolStatus = "cancelled"
            try:
                async with (waiting or UserWait(self.session).for_person)():
                    choice = await self.asker.permission(question)
                await anyio.lowlevel.checkpoint_if_cancelled()
                allowed = choice is not None and choice.kind in {"allow_once", "allow_always"}
                status = "completed" if allowed else "failed"
            finally:
                with self.session.cleanup_scope():
                    await self.session.broadcast(ToolCallChanged(item=call_id, status=status))
            if choice is not None and choice.stores:
                self._lasting[choice.stores] = choice.kind
            return choice

    def _known(self, question: PermissionQuestion) -> Choice | None:
        return next((each for each in question.choices if self._lasting.get(each.stores) == each.kind), None)


class NamedAsker:
    """Asks for one of these sessions, and says for which.

    Args:
        questions: Those of all.
        name: Its name, such as `Attempt 2`.
        title: What a model calls its work, if one did; it cannot look like a part of the question.
        waiting: See `SharedQuestions.permission`.
    """

    def __init__(
        self,
        questions: SharedQuestions,
        *,
        name: str,
        title: str = "",
        waiting: Callable[[], AbstractAsyncContextManager[None]] | None = None,
    ) -> None:
        self._questions = questions
        self._name = f"{name} “{_quotable(title)}”" if title else name
        self._waiting = waiting

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`."""
        named = replace(question, title=f"{self._name}: {question.title}")
        return await self._questions.permission(named, waiting=self._waiting)

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`."""
        asked = replace(
            form, session=self._questions.session.id, message=f"{self._name} asks: {form.message}", call_id=None
        )
        return await self._questions.asker.form(asked)


def _quotable(title: str) -> str:
    """A title on one line, whose end nobody can mistake."""
    line = printable(" ".join(title.split())).translate(_QUOTES)
    return in_reading_order(line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…")


if TYPE_CHECKING:
    _conforms: type[Asker] = NamedAsker
