"""Permission requests to a client. Each protocol version renders the question."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import anyio

from claw_acp.acp.elicitation import Forms
from claw_acp.acp.updates import location
from claw_acp.acp.view import ANSWER_TIMEOUT, SessionView
from claw_acp.contracts.place import Place
from claw_acp.contracts.questions import Asker, Choice, Form, FormAnswer, PermissionQuestion
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.value import replace
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.waiting_question import waiting_among

log = logging.getLogger(__name__)

METHOD = "session/request_permission"

_Answer = TypeVar("_Answer")


class ClientAsker(ABC):
    """Asks the user of one client. Anything but one of the offered answers counts as no answer.

    A client that cannot answer (an error, or silence) is not asked again before the next prompt.
    """

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._forms = Forms(view.peer, view.client)

    @abstractmethod
    def request(self, question: PermissionQuestion) -> JsonObject:
        """The parameters of the request, without the session and the options."""

    @abstractmethod
    def chosen(self, answer: JsonValue) -> str | None:
        """The id of the chosen option, if any.

        Raises:
            InvalidRequest: The answer is malformed.
        """

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`."""
        if not self._view.client.forms:
            return None
        await self._view.shown()
        async with self._view.asking():
            return await self._forms.ask(form)

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`."""
        if not self._view.can_ask:
            return None
        await self._view.shown()  # a question refers to a tool call that the client must know
        options = [{"optionId": choice.id, "name": choice.label, "kind": choice.kind} for choice in question.choices]
        asked: JsonObject = {"sessionId": question.session, **self.request(question), "options": options}
        try:
            async with self._view.asking():
                answer = await self._view.peer.request(METHOD, asked, within=ANSWER_TIMEOUT)
            chosen = self.chosen(answer)
        except (RpcError, ConnectionClosed, InvalidRequest, TimeoutError) as error:
            log.warning("permission not answered", extra={"session": question.session, "reason": str(error)})
            self._view.can_ask = False
            return None
        found = next((choice for choice in question.choices if choice.id == chosen), None)
        return None if found is None else replace(found, by=self._view.name)


class SharedAsker:
    """Asks everybody who has the session open, also those who come meanwhile. The first answer counts for all.

    The other questions are withdrawn. A permission can also be given by a control client, as long as somebody is asked.

    Where the lead was handed over to the next one who comes, questions that nobody has dismissed wait for that one.

    Args:
        live: The session.
    """

    def __init__(self, live: LiveSession) -> None:
        self._live = live

    async def permission(self, question: PermissionQuestion) -> Choice | None:
        """See `Asker`."""
        with waiting_among(self._live.questions, question) as waiting:
            return await self._first(lambda asker: asker.permission(question), elsewhere=waiting.choice)

    async def form(self, form: Form) -> FormAnswer | None:
        """See `Asker`."""
        return await self._first(lambda asker: asker.form(form), elsewhere=anyio.sleep_forever)

    async def _first(
        self,
        ask: Callable[[Asker], Awaitable[_Answer | None]],
        *,
        elsewhere: Callable[[], Awaitable[_Answer | None]],
    ) -> _Answer | None:
        """The first answer, or None when all who were asked have given none."""
        answers: list[_Answer] = []
        places, asked, waiting = self._live.places, set[Place](), dict[Place, anyio.CancelScope]()
        dismissed = False

        async def wait_for(answer: Callable[[], Awaitable[_Answer | None]]) -> None:
            if (given := await answer()) is not None:
                answers.append(given)
                tasks.cancel_scope.cancel()

        async def ask_at(place: Place) -> None:
            nonlocal dismissed
            with waiting[place]:
                await wait_for(partial(ask, place.asker))
                dismissed |= place.connected
            del waiting[place]
            places.tell()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_for, elsewhere)
            while True:
                changed = places.changed
                for place in set(places) - asked:
                    asked.add(place)
                    waiting[place] = anyio.CancelScope()
                    tasks.start_soon(ask_at, place)
                for place in set(waiting).difference(places):
                    waiting[place].cancel()
                if waiting:
                    await changed.wait()
                elif dismissed or not (places.awaited and await self._somebody_comes(changed)):
                    break
            tasks.cancel_scope.cancel()
        return answers[0] if answers else None

    async def _somebody_comes(self, changed: anyio.Event) -> bool:
        """Wait until somebody comes or leaves; False: not in time."""
        with anyio.move_on_after(self._live.settings.handoff_wait):
            await changed.wait()
        return changed.is_set()


def tool_call(question: PermissionQuestion, content: Sequence[JsonObject]) -> JsonObject:
    """The tool call that a question is about."""
    call: JsonObject = {
        "toolCallId": question.call_id,
        "title": question.title,
        "kind": question.kind,
        "status": "pending",
        "content": content,
        "locations": [location(place) for place in question.locations],
    }
    return call if question.raw_input is None else {**call, "rawInput": question.raw_input}
