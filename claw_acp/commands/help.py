"""`/help`: the commands that can be typed."""

from claw_acp.contracts.command import Command, CommandContext, CommandResult, Said
from claw_acp.core.markdown import code_span, plain_text


class Help:
    """Lists the commands by origin, and the settings of the session."""

    name = "help"
    description = "Show the commands and the session's settings"
    hint = "[command]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        wanted = argument.removeprefix("/")
        if wanted:
            found = [command for command in _all(context) if command.name == wanted]
            if not found:
                return Said(text=f"There is no command /{wanted}.")
            return Said(text=f"{code_span(_usage(found[0]))}: {plain_text(found[0].description)}")
        lines: list[str] = []
        for group in context.groups:
            lines += [f"**{group.name}**", "", "| command | what it does |", "|---|---|"]
            lines += [_row(command) for command in group.commands]
            lines.append("")
        settings = ", ".join(f"{setting.name.lower()} **{setting.current}**" for setting in context.settings)
        lines.append(f"This session: {settings}, working folder `{context.cwd}`.")
        return Said(text="\n".join(lines))


def _all(context: CommandContext) -> list[Command]:
    return [command for group in context.groups for command in group.commands]


def _usage(command: Command) -> str:
    return f"/{command.name} {command.hint}" if command.hint else f"/{command.name}"


def _row(command: Command) -> str:
    """A command as a row of a Markdown table."""
    return f"| {_cell(code_span(_usage(command)))} | {_cell(plain_text(command.description))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
