"""A hook that is a command: it reads what happens as JSON, and answers by its exit code and what it prints."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import anyio

from claw_acp.contracts.hook import (
    CONTINUE,
    AfterTool,
    AnswerGiven,
    BeforeTool,
    Hook,
    HookContext,
    HookEvent,
    HookEventKind,
    HookFailed,
    HookResult,
    PermissionAsked,
    PromptGiven,
    SubagentStarted,
    TurnEnding,
)
from claw_acp.contracts.launch import CommandSandbox, Confinement
from claw_acp.core.child_environment import without_keys
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.environment import current_environment
from claw_acp.core.json_value import JsonValue
from claw_acp.core.printable import printable
from claw_acp.core.untrusted import untrusted
from claw_acp.core.value import as_dict, replace
from claw_acp.hooks.answer import result_of
from claw_acp.hooks.foreign_tools import foreign_arguments, foreign_name
from claw_acp.hooks.rule import NOTIFICATION, HookRule
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.output_tail import OutputTail

MOST_PRINTED: Final = 1_000_000  # bytes of an answer; who prints more is stopped
MOST_ERRORS: Final = 8_000  # bytes of its errors that are kept, of the end
LEFT_OPEN: Final = 0.5  # seconds that a process which it left behind may hold its pipes open
LONGEST_NAME: Final = 60  # characters of its command line

RunAside: TypeAlias = Callable[[str, Callable[[], Awaitable[HookResult]]], None]


class CommandHook:
    """See `Hook`.

    Args:
        rule: When it runs, and the command line.
        session_facts: Returns the facts about the session that commands get besides.
        run_aside: Runs what nobody waits for.
    """

    def __init__(
        self, rule: HookRule, *, session_facts: Callable[[], Mapping[str, JsonValue]], run_aside: RunAside | None = None
    ) -> None:
        self._rule = rule
        self._facts = session_facts
        self._run_aside = run_aside if rule.background else None
        shown = " ".join(rule.line.split())
        shown = shown if len(shown) <= LONGEST_NAME else f"{shown[: LONGEST_NAME - 1]}…"
        self.name = printable(f"`{shown}` ({rule.event}, {rule.place})")
        self.priority = 10 if rule.files else 20
        self.events: Collection[HookEventKind] = (rule.kind,)

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:
        """See `Hook`."""
        if not self._rule.fits(event):
            return CONTINUE
        sandbox = await context.sandbox() if self._rule.files else None
        payload = question_input(event) if self._rule.event == NOTIFICATION else event_input(event, context)
        payload = {**self._facts(), **payload, "hook_event_name": self._rule.event}
        answer = partial(self._result, event, json.dumps(payload).encode(), context, sandbox)
        if self._run_aside is not None:
            self._run_aside(self.name, answer)
            return CONTINUE
        return await answer()

    async def _result(
        self, event: HookEvent, payload: bytes, context: HookContext, sandbox: CommandSandbox | None
    ) -> HookResult:
        code, printed, errors = await self._run(payload, context, sandbox)
        result = result_of(event, code=code, printed=printed, errors=errors)
        return self._marked(result) if self._rule.files else result

    def _marked(self, result: HookResult) -> HookResult:
        """The result with its words for the model marked as those of a stranger, which a project's are.

        What it puts in the place of a prompt goes with the prompt: it does not speak as the person.
        """

        def mark(text: str) -> str:
            token = SYSTEM_CLOCK.random_bytes(8).hex()
            return untrusted(text, source=f"a hook of the project ({self._rule.place})", token=token) if text else ""

        context, text = result.context, result.text and mark(result.text)
        if self._rule.kind is PromptGiven and text:
            context, text = "\n\n".join(filter(None, (context, result.text))), None
        return replace(result, context=mark(context), text=text, cancel=result.cancel and mark(result.cancel))

    async def _run(self, payload: bytes, context: HookContext, sandbox: CommandSandbox | None) -> tuple[int, str, str]:
        confinement: Confinement | None = None
        try:
            confinement = None if sandbox is None else sandbox.confine("us")
            child = await start_child(
                self._rule.argv(context.cwd),
                env=_environment(context, sandbox), cwd=context.cwd, stdin="pipe", sandbox=confinement,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            if confinement is not None:
                confinement.release()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise HookFailed(f"it cannot be started: {reason}") from error
        try:
            return await self._answer(child, payload, within=self._rule.timeout or context.timeout)
        finally:
            await child.end(terminate=0)
            if confinement is not None:
                confinement.release()

    async def _answer(self, child: ChildProcess, payload: bytes, *, within: float) -> tuple[int, str, str]:
        printed, errors = bytearray(), OutputTail(limit=MOST_ERRORS)
        with anyio.move_on_after(within):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_feed, child, payload)
                tasks.start_soon(child.drain_stderr, errors.add)
                tasks.start_soon(_read, child, printed, tasks.cancel_scope)
                await child.wait_for_output(within=LEFT_OPEN)
                tasks.cancel_scope.cancel()
        if len(printed) > MOST_PRINTED:
            raise HookFailed(f"it printed more than {MOST_PRINTED:,} bytes and was stopped")
        if child.exit_code is None:
            raise HookFailed(f"it took longer than {within:g} s and was stopped")
        return child.exit_code, printed.decode("utf-8", "replace"), errors.text(ended=True)


def event_input(event: HookEvent, context: HookContext) -> dict[str, JsonValue]:
    """The input of a command about an event, without the facts that all events have."""
    match event:
        case BeforeTool() | AfterTool() | PermissionAsked():
            facts: dict[str, JsonValue] = {
                "tool_name": foreign_name(event.tool, event.arguments), "tool_use_id": event.call_id,
                "tool_input": foreign_arguments(event.tool, event.arguments, cwd=context.cwd),
            }  # fmt: skip
            return facts | {"tool_response": _response(event, facts)} if isinstance(event, AfterTool) else facts
        case SubagentStarted():
            return {"agent_type": event.agent}
        case TurnEnding():
            agent: dict[str, JsonValue] = {"agent_type": event.agent} if event.agent else {}
            return {"stop_hook_active": event.again, "last_assistant_message": event.text, **agent}
        case PromptGiven(text=text):
            return {"prompt": text}
        case AnswerGiven(text=text):
            return {"prompt_response": text, "last_assistant_message": text}
        case _:
            return cast("dict[str, JsonValue]", as_dict(event))


def question_input(event: HookEvent) -> dict[str, JsonValue]:
    """The input of a command about a question that a person is going to be asked."""
    tool: str = foreign_name(event.tool, event.arguments) if isinstance(event, PermissionAsked) else "a tool"
    return {"message": f"The agent needs your permission to use {tool}", "notification_type": "permission_prompt"}


def _response(event: AfterTool, facts: Mapping[str, JsonValue]) -> JsonValue:
    response: dict[str, JsonValue] = {"content": event.text, "success": not event.failed}
    if facts["tool_name"] == "Bash":
        response |= {"stdout": event.text, "stderr": "", "interrupted": False}
    given = facts["tool_input"]
    if isinstance(given, Mapping) and "file_path" in given:
        response["filePath"] = given["file_path"]
    return response


def _environment(context: HookContext, sandbox: CommandSandbox | None) -> dict[str, str]:
    inside: Mapping[str, str] = {} if sandbox is None else sandbox.env
    project = str(context.cwd)
    own = {"CLAUDE_PROJECT_DIR": project, "CLAW_PROJECT_DIR": project, "GEMINI_PROJECT_DIR": project}
    return {**without_keys(current_environment()), **inside, **own}


async def _feed(child: ChildProcess, payload: bytes) -> None:
    """Write the input of the command, which need not read it."""
    assert child.stdin is not None
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        await child.stdin.send(payload + b"\n")
        child.stdin.close()


async def _read(child: ChildProcess, printed: bytearray, running: anyio.CancelScope) -> None:
    """Read what it prints; cancels what is running when that is too much."""
    assert child.stdout is not None
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async for data in child.stdout:
            printed += data
            if len(printed) > MOST_PRINTED:
                running.cancel()
                return


if TYPE_CHECKING:
    _conforms: type[Hook] = CommandHook
