"""The hooks of a turn, called in order; what they wish as one result."""

import logging
from collections.abc import Callable, Sequence
from typing import Final, cast

import anyio

from claw_acp.agent.large_results import LargeResults
from claw_acp.config.model import HooksSection
from claw_acp.contracts.hook import (
    CONTINUE,
    AfterTool,
    BeforeModel,
    BeforeSummary,
    BeforeTool,
    Hook,
    HookContext,
    HookEvent,
    HookEventKind,
    HookResult,
    PermissionAsked,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    SubagentStarted,
)
from claw_acp.core.clock import Clock
from claw_acp.core.errors import StoreError, ToolError
from claw_acp.core.events import Notice, Severity
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines, printable
from claw_acp.core.redaction import redact
from claw_acp.core.value import replace
from claw_acp.registry.foreign_code import described, is_cancellation
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

FAREWELL: Final = 1.5  # seconds for all hooks of a session that is closed
LONGEST_REMARK: Final = 4_000  # characters
STATE_KEY: Final = "hooks.session"
_STOPPABLE: Final = (BeforeTool, PermissionAsked, BeforeModel, PromptGiven, BeforeSummary)
"""Events that a failed hook cancels where the settings say so."""


class HookChain:
    """The hooks of one turn.

    Args:
        session: The session.
        hooks: Returns all hooks; read at each event.
        context: Returns their surroundings.
        settings: Their time limit, and what happens when one fails.
        clock: Makes ids.
        results: Stores context that is too long for a model.
        agent: The subagent whose turn it is, if it is one's.

    Attributes:
        ended: The reason why a hook wants the turn to end; None: none does.
    """

    def __init__(
        self, session: Session, *, hooks: Callable[[], Sequence[Hook]], context: Callable[[], HookContext],
        settings: Callable[[], HooksSection], clock: Clock, results: LargeResults | None = None,
        agent: str = "",
    ) -> None:  # fmt: skip
        self._session = session
        self._hooks = hooks
        self._context = context
        self._settings = settings
        self._clock = clock
        self._results = results
        self.agent = agent
        self.ended: str | None = None

    def about(self, kind: HookEventKind) -> Sequence[Hook]:
        """The hooks that are called for a kind of event, in order."""
        return sorted((hook for hook in self._hooks() if kind in hook.events), key=lambda hook: -hook.priority)

    async def on(self, event: HookEvent) -> HookResult:
        """Call the hooks; returns the result of all. A change feeds the next one, the first that cancels ends it."""
        hooks = self.about(type(event))
        if not hooks:
            return CONTINUE
        total = CONTINUE
        for hook in hooks:
            result = await self._called(hook, event)
            total = _joined(total, result)
            if result.remark:
                await self._tell(f"The hook {hook.name} says", result.remark, severity="info")
            if result.ends_turn is not None:
                self.ended = for_people(result.ends_turn) or f"The hook {hook.name} ended the turn."
            if isinstance(event, BeforeModel) and result.cancel is not None:
                self.ended = for_people(result.cancel)
            if result.cancel is not None or result.calls or result.ends_turn is not None:
                break
            event = _changed(event, result)
        if total.context and self._results is not None:
            parts = await self._results.shortened((TextPart(text=redact(total.context)),))
            total = replace(total, context="\n".join(part.text for part in parts if isinstance(part, TextPart)))
        return total

    async def prompt(self, text: str) -> HookResult:
        """Call the hooks about a prompt; before a first one those about the session, or about a subagent instead."""
        if self.agent:
            return replace(await self.on(SubagentStarted(agent=self.agent)), cancel=None, text=None)
        if STATE_KEY in self._session.tool_state.items:
            return await self.on(PromptGiven(text=text))
        self._session.tool_state.items[STATE_KEY] = _Farewell(self)
        known = next(iter(self._session.history.prompts()), None) is not None
        started = await self.on(SessionStarted(source="resume" if known else "startup"))
        return _joined(replace(started, cancel=None), await self.on(PromptGiven(text=text)))

    async def keeps(self, trigger: str) -> str | None:
        """The reason of a hook not to replace the conversation by a summary; None: there is none."""
        result = await self.on(BeforeSummary(trigger="manual" if trigger == "manual" else "auto"))
        return result.cancel

    async def _called(self, hook: Hook, event: HookEvent) -> HookResult:
        try:
            return await hook.on(event, self._context())
        except StoreError:
            raise
        except BaseException as error:  # the hook wall: what it raises ends no more than itself
            if is_cancellation(error):
                raise
            problem = error.message if isinstance(error, ToolError) else described(error)
            log.warning("hook failed", exc_info=error, extra={"hook": hook.name, "session": self._session.id})
        hooks = self._settings()
        closed = hooks.on_failure == "closed" and isinstance(event, _STOPPABLE)
        await self._tell(f"The hook {hook.name} failed", problem, severity="warning")
        return HookResult(cancel=f"the hook {hook.name} failed: {problem}") if closed else CONTINUE

    async def _tell(self, title: str, text: str, *, severity: Severity) -> None:
        notice = Notice(
            item=new_id("ntc", clock=self._clock), severity=severity,
            title=printable(title), description=for_people(text),
        )  # fmt: skip
        await self._session.publish(notice, committed=False)


def for_people(text: str) -> str:
    """The text of a hook for people: bounded, without keys and invisible characters."""
    return redact(plain_lines(text[:LONGEST_REMARK]))


class _Farewell:
    """Calls the hooks about the end of a session, when it is closed."""

    def __init__(self, chain: HookChain) -> None:
        self._chain = chain

    async def aclose(self) -> None:
        with anyio.move_on_after(FAREWELL):
            await self._chain.on(SessionEnded(reason="other"))


def _joined(first: HookResult, then: HookResult) -> HookResult:
    """Two results in a row as one."""
    return HookResult(
        cancel=first.cancel if then.cancel is None else then.cancel,
        ask=for_people(then.ask) or first.ask,
        arguments=first.arguments if then.arguments is None else then.arguments,
        text=first.text if then.text is None else then.text,
        context="\n\n".join(text for text in (first.context, then.context) if text),
        ends_turn=first.ends_turn if then.ends_turn is None else then.ends_turn,
        calls=(*first.calls, *then.calls),
    )


def _changed(event: HookEvent, result: HookResult) -> HookEvent:
    """The event as the next hook sees it."""
    if isinstance(event, BeforeTool) and result.arguments is not None:
        return replace(event, arguments=result.arguments)
    if isinstance(event, AfterTool | PromptGiven) and result.text is not None:
        return cast("HookEvent", replace(event, text=result.text))
    return event
