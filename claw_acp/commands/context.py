"""`/context`: the share of the model's window that the conversation takes."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.events import MessageStarted, ToolCallChanged, UsageChanged
from claw_acp.core.messages import Usage


class Context:
    """Counts prompts, tool calls and tokens of the session."""

    name = "context"
    description = "Show how full the model's context is, and the tokens used so far"
    hint = None

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - takes none
        """See `Command`."""
        events = await context.events()
        prompts = sum(isinstance(event, MessageStarted) and event.role == "user" for event in events)
        calls = sum(isinstance(event, ToolCallChanged) and event.name is not None for event in events)
        usages = [event for event in events if isinstance(event, UsageChanged)]
        lines = [f"{prompts} prompts, {calls} tool calls."]
        if not usages:
            return Said(text=f"{lines[0]} The model has not reported any tokens yet.")
        last, total = usages[-1], sum((event.request for event in usages), start=Usage())
        known = f" of {last.size:,} ({100 * last.used / last.size:.0f} %)" if last.size else ""
        share = known or "; how many the model can take is not known"
        lines.append(f"Context: **{last.used:,} tokens**{share}.")
        lines.append(
            f"All requests: {total.input_tokens:,} in ({total.cached_read_tokens:,} from cache), "
            f"{total.output_tokens:,} out."
        )
        return Said(text="\n".join(lines))
