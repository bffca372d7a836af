"""`/tasks`: lists the tasks in the background, shows one, or ends it."""

from typing import TYPE_CHECKING

from claw_acp.contracts.command import Command, CommandContext, CommandResult, Said
from claw_acp.contracts.delegation import BackgroundTasks
from claw_acp.subagents.report_text import task_line

_USAGE = "`/tasks` lists the tasks in the background, `/tasks show 1` shows one, `/tasks cancel 1` ends it."


class TasksCommand:
    """Lists, shows and ends background tasks."""

    name = "tasks"
    description = "List the tasks in the background, show one, or end it"
    hint: str | None = "[show NUMBER | cancel NUMBER]"

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        tasks, words = context.tasks(), argument.split()
        if not words or words == ["list"]:
            lines = [f"- {task_line(task)} (session {task.session})" for task in await tasks.all()]
            return Said(text="\n".join(["Tasks in the background:", "", *(lines or ["There are none."])]))
        action, number = words[0], "".join(words[1:])
        if action not in {"show", "cancel"} or not (number.isascii() and number.isdecimal()):
            return Said(text=_USAGE)
        return Said(text=await (_show if action == "show" else _cancel)(tasks, int(number)))


async def _show(tasks: BackgroundTasks, number: int) -> str:
    found = await tasks.report(number)
    if found is None:
        return f"There is no task {number}. `/tasks` lists all."
    task, report = found
    undone = "Its conversation is a session of its own; `/undo` in there takes back what it changed."
    return f"{task_line(task)}\n\n{report.text or 'It has said nothing.'}\n\n(Session {task.session}. {undone})"


async def _cancel(tasks: BackgroundTasks, number: int) -> str:
    ended = await tasks.cancel(number)
    return f"Task {number} was ended." if ended else f"Task {number} is not at work here. `/tasks` lists all."


if TYPE_CHECKING:
    _conforms: type[Command] = TasksCommand
