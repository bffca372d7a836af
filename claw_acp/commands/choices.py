"""`/mode` and `/model`: show or change how the session works."""

from collections.abc import Awaitable, Callable, Sequence

from claw_acp.contracts.command import CommandContext, CommandResult, Option, Said
from claw_acp.core.errors import InvalidRequest


class ModeCommand:
    """Shows or switches the mode."""

    name = "mode"
    description = "Show or switch the mode"
    hint = "[plan|ask|edit|auto]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return await _show_or_choose(argument, "Mode", context.mode, context.modes, context.set_mode)


class ModelCommand:
    """Shows or switches the model."""

    name = "model"
    description = "Show or switch the model"
    hint = "[provider/model]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return await _show_or_choose(argument, "Model", context.model, context.models, context.set_model)


async def _show_or_choose(
    argument: str, what: str, current: str, options: Sequence[Option], choose: Callable[[str], Awaitable[None]]
) -> Said:
    if not argument:
        lines = [f"{what} **{current}**. To choose from:", ""]
        for option in options:
            about = option.description or option.name
            lines.append(f"- `{option.value}`: {about}" if about != option.value else f"- `{option.value}`")
        return Said(text="\n".join(lines))
    try:
        await choose(argument)
    except InvalidRequest as error:
        return Said(text=f"Nothing changed: {error.message}.")
    return Said(text=f"{what} is now **{argument}**.")
