"""The answer of a hook command: its exit code and what it printed, in the published shape, as a result."""

import json
from collections.abc import Callable, Mapping
from typing import Final, cast

from claw_acp.contracts.hook import (
    CONTINUE,
    AfterTool,
    AnswerGiven,
    BeforeTool,
    HookEvent,
    HookFailed,
    HookResult,
    PermissionAsked,
    PromptGiven,
    SessionEnded,
    SessionStarted,
    SubagentStarted,
)
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import replace
from claw_acp.hooks.foreign_tools import own_arguments

BLOCKS: Final = 2
"""The exit code that blocks; what the command printed as errors is the reason."""

_READ_AS_CONTEXT: Final = (SessionStarted, SubagentStarted, PromptGiven)
"""Events at which plain output is context for the model."""
_NEVER_BLOCKED: Final = (SessionStarted, SubagentStarted, SessionEnded, AnswerGiven)


def result_of(event: HookEvent, *, code: int, printed: str, errors: str) -> HookResult:
    """The result of a command.

    Raises:
        HookFailed: It failed, or its answer cannot be read.
    """
    if code == BLOCKS:
        reason = errors.strip() or "it gave no reason"
        return HookResult(remark=reason) if isinstance(event, _NEVER_BLOCKED) else HookResult(cancel=reason)
    if code:
        words = errors.strip() or printed.strip() or "it printed nothing"
        raise HookFailed(f"exit code {code}: {words}")
    text = printed.strip()
    if text.startswith("{"):
        return _of_json(event, _parsed(text))
    return HookResult(context=text) if text and isinstance(event, _READ_AS_CONTEXT) else CONTINUE


def _parsed(text: str) -> Mapping[str, object]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HookFailed(f"its answer is not valid JSON ({error})") from error
    return cast("Mapping[str, object]", found)


def _of_json(event: HookEvent, answer: Mapping[str, object]) -> HookResult:
    text = _texts(answer)
    specific = answer.get("hookSpecificOutput")
    inner = cast("Mapping[str, object]", specific if isinstance(specific, Mapping) else {})
    inside = _texts(inner)
    result = HookResult(remark=text("systemMessage"), context=inside("additionalContext") or text("additionalContext"))
    if answer.get("continue") is False:
        result = replace(result, ends_turn=text("stopReason"))
    decision = inner.get("decision")
    if isinstance(event, PermissionAsked) and isinstance(decision, Mapping):
        return _about_question(result, cast("Mapping[str, object]", decision))
    refused = text("decision") in {"block", "deny"} or inside("permissionDecision") == "deny"
    if refused and not isinstance(event, _NEVER_BLOCKED):
        reason = inside("permissionDecisionReason") or text("reason") or "it gave no reason"
        result = replace(result, cancel=reason)
    if isinstance(event, BeforeTool):
        return _about_call(event, result, inner)
    return _about_text(event, result, inner)


def _about_call(event: BeforeTool, result: HookResult, inner: Mapping[str, object]) -> HookResult:
    changed = inner.get("updatedInput")
    if isinstance(changed, Mapping):
        arguments = own_arguments(event.tool, cast("JsonObject", changed), before=event.arguments)
        result = replace(result, arguments=arguments)
    if inner.get("permissionDecision") == "ask":
        result = replace(result, ask=_texts(inner)("permissionDecisionReason") or "it gave no reason")
    return result


def _about_question(result: HookResult, decision: Mapping[str, object]) -> HookResult:
    """The result of a decision in a person's place: a refusal counts, and a yes leaves it to them."""
    text = _texts(decision)
    if text("behavior") != "deny":
        return result
    reason = text("message") or "it gave no reason"
    return replace(result, cancel=reason, ends_turn=reason if decision.get("interrupt") is True else result.ends_turn)


def _about_text(event: HookEvent, result: HookResult, inner: Mapping[str, object]) -> HookResult:
    key = "updatedToolOutput" if isinstance(event, AfterTool) else "updatedPrompt"
    changed = inner.get(key)
    if changed is None or not isinstance(event, AfterTool | PromptGiven):
        return result
    return replace(result, text=changed if isinstance(changed, str) else json.dumps(changed, ensure_ascii=False))


def _texts(table: Mapping[str, object]) -> "Callable[[str], str]":
    """A function that returns the text at a key; empty if there is none."""

    def text(key: str) -> str:
        value = table.get(key)
        return value if isinstance(value, str) else ""

    return text
