"""`/export`: the conversation as a Markdown file."""

from claw_acp.contracts.command import CommandContext, CommandResult, Said
from claw_acp.core.errors import ToolError


class Export:
    """Writes the whole session to a new file of the project; never over an existing one."""

    name = "export"
    description = "Save this conversation as a Markdown file"
    hint = "[file]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        try:
            path = await context.save(argument or f"{context.session}.md", await context.markdown())
        except ToolError as error:
            return Said(text=f"Nothing was saved: {error.message}.")
        return Said(text=f"Saved to `{path}`.")
