"""The one loop: ask the model, run the tools it calls, until it is done, stopped, or at its limit."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from claw_acp.agent.context import ModelContext
from claw_acp.agent.hook_chain import HookChain, for_people
from claw_acp.agent.message_facts import facts_now
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.steering import Steering
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.agent.turn_frame import framed_turn
from claw_acp.agent.turn_limits import TurnMeter
from claw_acp.contracts.hook import AfterModel, AnswerGiven, BeforeModel, HookResult, TurnEnding
from claw_acp.contracts.provider import ChatResponse, ToolChoice, ToolSpec
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ContextTooLong, EmptyAnswer
from claw_acp.core.events import MessageStarted, Notice, NoticeTopic, StopReason, TextDelta
from claw_acp.core.ids import new_id
from claw_acp.core.messages import ContentPart, Message, ModelStop, TextPart, ToolCall, Usage
from claw_acp.core.value import Value, replace
from claw_acp.session.extension import Notes
from claw_acp.session.prompt_message import OnAccepted, ignore, publish_prompt
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

CLOSING = (
    "This turn has reached its limit of {}. Do not call tools. Say in a few sentences what is done, what is left, and "
    "how to go on."
)

NUDGE = (
    "Your last answer was empty. Go on with the work, or say in a few sentences what you did and what the user should "
    "know."
)

STANDING = (
    "A hook of the user says that you are not done yet. Act on what it says, or tell the user why that is not possible."
    "\n\n{}"
)
MOST_KEPT: Final = 8  # times that hooks keep a turn going
MOST_CHECKS: Final = 50  # times in a row that hooks have calls run at the end of a turn

WORDLESS: Final[Mapping[ModelStop, str]] = {
    "end": (
        "The model ended its answer twice without a word, also when it was asked for one. Ask again, or choose another "
        "model."
    ),
    "refusal": "The model declined to answer and gave no reason. Rephrase the prompt, or choose another model.",
    "max_tokens": (
        "The model used up the tokens of its answer before it wrote any text, perhaps by thinking. Raise max_tokens in "
        "its options, or let it think less."
    ),
}
"""The explanation shown for a model that stopped without text, by reason."""


class Outcome(Value):
    """The end of a turn, and the total tokens of its model requests (None: none were reported)."""

    stop: StopReason
    usage: Usage | None


async def _nowhere() -> str:
    return ""


async def _no_notes(prompt: str) -> Notes:  # noqa: ARG001 - there are none about any
    return Notes()


class Turn:
    """One prompt and all that follows from it."""

    def __init__(
        self, session: Session, *, requester: ModelRequester, runner: ToolRunner, context: ModelContext,
        meter: TurnMeter, clock: Clock, tools: Callable[[], Sequence[ToolSpec]], steering: Steering,
        hooks: HookChain, place: Callable[[], Awaitable[str]] = _nowhere,
        notes: Callable[[str], Awaitable[Notes]] = _no_notes,
    ) -> None:  # fmt: skip
        self._session = session
        self._requester = requester
        self._runner = runner
        self._context = context
        self._tools = tools
        self._meter = meter
        self._place = place
        self._clock = clock
        self._steering = steering
        self._hooks = hooks
        self._standing = ""  # what hooks want of the model until the turn ends
        self._said = ""  # the last answer of the model
        self._kept = 0  # how often hooks have kept the turn from ending
        self._notes = notes
        self._usage: Usage | None = None

    async def run(
        self,
        prompt: Sequence[ContentPart],
        *,
        model_parts: Sequence[ContentPart] | None = None,
        on_accepted: OnAccepted = ignore,
    ) -> Outcome:
        """Run the turn. Cancellation ends it cleanly: every call gets a result, the journal says `cancelled`.

        Args:
            prompt: The person's message.
            model_parts: The message for the model, if it differs.
            on_accepted: Called with the id of that message once it is part of the conversation.

        Raises:
            ProviderError: A model request failed for good; the session stays usable.
        """

        async def work() -> StopReason:
            place = await self._place()
            accepted = await self._add_prompt(prompt, model_parts, on_accepted=on_accepted, place=place)
            if not accepted and self._steering.close():
                return "end_turn"
            self._steering.open()
            stop = await self._iterate()
            await self._hooks.on(AnswerGiven(text=self._said))
            return stop

        return await self._carry_out(work)

    async def summarize(self, prompt: Sequence[ContentPart], *, focus: str, on_accepted: OnAccepted) -> Outcome:
        """Replace the conversation by a summary, in a turn that models do not see.

        Args:
            prompt: The person's command.
            focus: The subject that the summary must keep; may be empty.
            on_accepted: As in `run`.

        Raises:
            BudgetReached: The request may exceed a budget, and the person did not allow that.
        """

        async def work() -> StopReason:
            message_id = new_id("msg", clock=self._clock)
            message = MessageStarted(item=message_id, role="user", parts=tuple(prompt), local_only=True)
            await publish_prompt(self._session, message, on_accepted=on_accepted)
            await self._remark(await self._context.summarize(focus, tools=self._tools()))
            return "end_turn"

        return await self._carry_out(work)

    async def _carry_out(self, work: Callable[[], Awaitable[StopReason]]) -> Outcome:
        stop = await framed_turn(self._session, work, usage=lambda: self._usage, clock=self._clock)
        return Outcome(stop=stop, usage=self._usage)

    async def _add_prompt(
        self, parts: Sequence[ContentPart], model_parts: Sequence[ContentPart] | None = None, *,
        on_accepted: OnAccepted, place: str = "",
    ) -> bool:  # fmt: skip
        """Add a prompt to the conversation; False if a hook refused it, so that people see it and models do not."""
        words = "\n".join(part.text for part in parts if isinstance(part, TextPart))
        wish = await self._hooks.prompt(words)
        message = MessageStarted(item=new_id("msg", clock=self._clock), role="user", parts=tuple(parts))
        if wish.cancel is not None:
            await publish_prompt(self._session, replace(message, local_only=True), on_accepted=on_accepted)
            await self._remark(f"A hook refused this prompt, so no model has seen it: {for_people(wish.cancel)}")
            return False
        if wish.text is not None:
            model_parts = (TextPart(text=wish.text), *(part for part in parts if not isinstance(part, TextPart)))
        notes = await self._notes(words)
        facts = facts_now(self._session, clock=self._clock, place=place)
        message = replace(
            message,
            model_parts=None if model_parts is None else tuple(model_parts),
            facts="\n".join(text for text in (facts, notes.text, wish.context) if text),
            sources=notes.sources,
        )
        await publish_prompt(self._session, message, on_accepted=on_accepted)
        return True

    async def _join(self) -> None:
        """Add the prompts that wait to join the turn to the conversation."""
        for prompt in self._steering.take():
            self._runner.repetition.forgive()
            await self._add_prompt(prompt.parts, prompt.model_parts, on_accepted=prompt.on_accepted)

    async def _iterate(self) -> StopReason:
        nudge = ""
        while (limit := self._meter.reached) is None and self._hooks.ended is None:
            await self._join()
            message_id, response = await self._ask(nudge, self._standing, self._meter.warning)
            if response.tool_calls:
                nudge = ""
                if await self._runs_end(message_id, response.tool_calls):
                    return "end_turn"
            elif not nudge and response.stop == "end" and not response.text.strip():
                nudge = NUDGE
            elif response.stop == "end" and await self._goes_on(message_id, response.text):
                nudge = ""
            elif self._steering.close():  # else there is a prompt to answer in this turn, too
                if not response.text.strip() and response.stop in WORDLESS:
                    await self._remark(WORDLESS[response.stop])
                return _stop_reason(response)
        while not self._steering.close():
            await self._join()
        if limit is None:
            await self._remark(f"A hook ended the turn: {self._hooks.ended}")
            return "end_turn"
        await self._close(limit)
        return "max_turn_requests"

    async def _runs_end(self, message_id: str, calls: Sequence[ToolCall]) -> bool:
        """Run the calls of an answer; returns whether the turn ends with them."""
        asked = await self._runner.run_all(message_id, calls)
        if asked and self._steering.close():
            return True
        circles = self._runner.repetition.explanation
        if circles is None or not self._steering.close():
            return False
        await self._announce("The turn was stopped, because it went round in circles", topic="repetition")
        await self._remark(circles)
        return True

    async def _goes_on(self, message_id: str, text: str) -> bool:
        """Call the hooks about the end of the turn; returns whether it goes on because of them."""
        if self._steering.has_waiting:
            return False  # the turn does not end yet
        for _ in range(MOST_CHECKS):
            wish = await self._hooks.on(TurnEnding(text=text, again=self._kept > 0, agent=self._hooks.agent))
            if not wish.calls:
                return self._hooks.ended is not None or await self._is_kept_going(wish)
            message_id = message_id or await self._begin_message()
            await self._runner.run_all(message_id, wish.calls)
        return False

    async def _is_kept_going(self, wish: HookResult) -> bool:
        if not wish.cancel:
            return wish.cancel is not None  # what it has to act on, the model has seen
        self._kept += 1
        if self._kept > MOST_KEPT:
            await self._announce(f"The turn ends, though hooks have kept it going {MOST_KEPT} times", topic="limit")
            return False
        self._standing = STANDING.format(wish.cancel)
        notice_id = new_id("ntc", clock=self._clock)
        title = "A hook keeps the turn going"
        await self._session.publish(
            Notice(item=notice_id, severity="info", title=title, description=for_people(wish.cancel))
        )
        return True

    async def _begin_message(self) -> str:
        message = MessageStarted(item=new_id("msg", clock=self._clock), role="assistant")
        await self._session.publish(message)
        return message.item

    async def _close(self, limit: str) -> None:
        """Have the model report how far it got; if it calls tools instead, a text of ours stands in."""
        await self._announce(f"The turn ends at its limit of {limit}", topic="limit")
        _, response = await self._ask(CLOSING.format(limit), tool_choice="none")
        if not response.text.strip():
            await self._remark(f"The turn ended at its limit of {limit}. Say “go on” to continue.")

    async def _announce(self, title: str, *, topic: NoticeTopic) -> None:
        notice = Notice(item=new_id("ntc", clock=self._clock), severity="warning", title=title, topic=topic)
        await self._session.publish(notice)

    async def _remark(self, text: str) -> None:
        """Say something in the model's place; people see it, models do not."""
        message = MessageStarted(item=new_id("msg", clock=self._clock), role="assistant", local_only=True)
        await self._session.publish(message)
        await self._session.publish(TextDelta(item=message.item, text=text))

    async def _ask(self, *extra: str | None, tool_choice: ToolChoice = "auto") -> tuple[str, ChatResponse]:
        """The answer of the model and the id of its message; an empty one if the provider found none to be there.

        `extra` follows the conversation in this request only.
        """
        try:
            return await self._request(*(Message.user(text) for text in extra if text), tool_choice=tool_choice)
        except EmptyAnswer:
            self._meter.count(None)
            return "", ChatResponse()

    async def _request(self, *extra: Message, tool_choice: ToolChoice) -> tuple[str, ChatResponse]:
        wish = await self._hooks.on(BeforeModel(model=self._session.record.model))
        if self._hooks.ended is not None:
            return "", ChatResponse()
        extra = (*extra, Message.user(wish.context)) if wish.context else extra
        tools = self._tools()
        message_id, response = await self._answered(*extra, tools=tools, tool_choice=tool_choice)
        self._said = response.text
        await self._hooks.on(AfterModel(text=self._said, tools=tuple(call.name for call in response.tool_calls)))
        self._meter.count(response.usage)
        if response.usage is not None:
            self._usage = response.usage if self._usage is None else self._usage + response.usage
        return message_id, response

    async def _answered(
        self, *extra: Message, tools: Sequence[ToolSpec], tool_choice: ToolChoice
    ) -> tuple[str, ChatResponse]:
        """Ask the model, again and smaller if it refuses the context as too long, until it cannot be made smaller."""
        messages, refusals = await self._context.messages(*extra, tools=tools), 0
        while True:
            try:
                return await self._requester.ask(messages, tools=tools, tool_choice=tool_choice)
            except ContextTooLong:
                refusals += 1
                smaller = await self._context.smaller(*extra, tools=tools, refusals=refusals)
                if smaller is None:
                    raise
                log.warning("context too long, asking with a smaller one", extra={"session": self._session.id})
                messages = smaller


def _stop_reason(response: ChatResponse) -> StopReason:
    match response.stop:
        case "max_tokens" | "refusal":
            return response.stop
        case "end" | "tool_calls":
            return "end_turn"
