"""`/mode`, `/model`, `/think` and `/web`: show or change the session's settings, for clients without menus for them."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said, Setting
from claw_acp.core.errors import InvalidRequest


class ModeCommand:
    """Shows or changes the mode."""

    name = "mode"
    description = "Show or switch the mode"
    hint = "[plan|ask|edit|auto]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return await _show_or_choose(argument, "mode", context)


class ModelCommand:
    """Shows or changes the model."""

    name = "model"
    description = "Show or switch the model"
    hint = "[provider/model]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return await _show_or_choose(argument, "model", context)


class ThinkCommand:
    """Shows or changes the thinking effort."""

    name = "think"
    description = "Show or switch how long the model thinks"
    hint = "[default|off|low|medium|high]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if context.setting("thought_level") is None:
            return Said(text=f"The model **{context.model}** has no setting for how long it thinks.")
        return await _show_or_choose(argument, "thought_level", context)


class WebCommand:
    """Shows or changes whether web pages may be fetched."""

    name = "web"
    description = "Show or switch whether web pages may be fetched"
    hint = "[on|off]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        return await _show_or_choose(argument, "web", context)


async def _show_or_choose(argument: str, setting_id: str, context: CommandContext) -> Said:
    setting = context.setting(setting_id)
    assert setting is not None, f"every session has the setting {setting_id}"
    if not argument:
        return Said(text=_shown(setting))
    try:
        await context.choose(setting_id, argument)
    except InvalidRequest as error:
        return Said(text=f"Nothing changed: {error.message}.")
    return Said(text=f"{setting.name} is now **{argument}**.")


def _shown(setting: Setting) -> str:
    lines = [f"{setting.name} **{setting.current}**. To choose from:", ""]
    for option in setting.options:
        about = option.description or option.name
        is_plain = about.lower() == option.value
        lines.append(f"- `{option.value}`" if is_plain else f"- `{option.value}`: {about}")
    return "\n".join(lines)
