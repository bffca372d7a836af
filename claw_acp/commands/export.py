"""`/export`: the conversation as a Markdown file."""

from pathlib import Path

from anyio import to_thread

from claw_acp.contracts.command import CommandContext, CommandResult, Said


class Export:
    """Writes the whole session into a new file; never over an existing one."""

    name = "export"
    description = "Save this conversation as a Markdown file"
    hint = "[file]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        path = Path(context.cwd) / (argument or f"{context.session}.md")
        try:
            await to_thread.run_sync(_write_new, path, await context.markdown())
        except FileExistsError:
            return Said(text=f"`{path}` already exists; name another file.")
        except OSError as error:
            return Said(text=f"`{path}` cannot be written: {error.strerror}.")
        return Said(text=f"Saved to `{path}`.")


def _write_new(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
