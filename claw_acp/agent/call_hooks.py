"""The hooks around one tool call: what they change of it, and of its result."""

import json
from collections.abc import Sequence

from claw_acp.agent.call_arguments import parse_arguments
from claw_acp.agent.call_entry import CallEntry
from claw_acp.agent.hook_chain import HookChain
from claw_acp.contracts.hook import AfterTool, BeforeTool, HookResult, PermissionAsked
from claw_acp.contracts.tool import ToolResult
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.value import replace

CHANGED = "[A hook of the user changed the arguments of this call. It was run with: {}]"
OBJECTION = "[A hook of the user objects to what this call has done: {}]"


class CallHooks:
    """Calls the hooks about the calls of a turn."""

    def __init__(self, hooks: HookChain) -> None:
        self._hooks = hooks

    @property
    def ended(self) -> bool:
        """True if a hook wants the turn to end, so that no further call runs."""
        return self._hooks.ended is not None

    async def before(self, entry: CallEntry) -> HookResult:
        """Call the hooks before a call; the call itself has their arguments then."""
        arguments = parse_arguments(entry.call)
        event = BeforeTool(tool=entry.call.name, arguments=arguments, call_id=entry.call.id)
        result = await self._hooks.on(event)
        entry.added += [result.context] if result.context else []
        if result.arguments is not None and result.arguments != arguments:
            changed = json.dumps(result.arguments, ensure_ascii=False)
            entry.call = replace(entry.call, arguments=changed)
            entry.added.append(CHANGED.format(changed))
        return result

    async def before_question(self, entry: CallEntry) -> str | None:
        """Call the hooks before a person is asked about a call; returns why one refuses it in their place."""
        if not self._hooks.about(PermissionAsked):
            return None
        arguments = parse_arguments(entry.call)
        event = PermissionAsked(tool=entry.call.name, arguments=arguments, call_id=entry.call.id)
        return (await self._hooks.on(event)).cancel

    async def after(self, entry: CallEntry, result: ToolResult) -> ToolResult:
        """The result of a call as the hooks leave it."""
        added, entry.added = list(entry.added), []
        if self._hooks.about(AfterTool):
            event = AfterTool(
                tool=entry.call.name, arguments=parse_arguments(entry.call), call_id=entry.call.id,
                text=_text(result.parts), failed=result.failed,
            )  # fmt: skip
            heard = await self._hooks.on(event)
            if heard.text is not None:
                others = (part for part in result.parts if not isinstance(part, TextPart))
                result = replace(result, parts=(TextPart(text=heard.text), *others))
            added += [OBJECTION.format(heard.cancel)] if heard.cancel else []
            added += [heard.context] if heard.context else []
        if not added:
            return result
        return replace(result, parts=(*result.parts, *(TextPart(text=text) for text in added)))


def _text(parts: Sequence[ContentPart]) -> str:
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))
