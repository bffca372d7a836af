"""Slash commands: one for each skill, and `/skills`."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from claw_acp.contracts.command import Asks, Command, CommandContext, CommandResult, Said
from claw_acp.contracts.project_trust import ProjectFile
from claw_acp.core.markdown import code_span, plain_text
from claw_acp.skills.catalog import Catalog, Entry

LONGEST_DESCRIPTION = 200  # characters of a line in a completion list


class SkillCommand:
    """See `Command`. The text of the skill goes to the model as the person's prompt."""

    def __init__(self, entry: Entry) -> None:
        skill = entry.skill
        self._entry = entry
        self.name = skill.name
        self.file: ProjectFile | None = skill.file
        state = f", {entry.state}" if entry.state else ""
        about = skill.description
        self.description = f"{about[:LONGEST_DESCRIPTION]} ({skill.scope}{state})"
        self.hint = skill.hint

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """See `Command`."""
        if self._entry.lacks:
            return Said(text=f"The skill {self.name} cannot be used here: it needs {', '.join(self._entry.lacks)}.")
        if self.file is not None and not context.trust.trusted([self.file]):
            agreed = await context.trust.ask([self.file])
            if agreed is None:
                question = await context.trust.question([self.file])
                return Said(text=f"{question}\n\nIn a terminal, `claw-acp trust` trusts the files of a project.")
            if not agreed:
                return Said(text=f"The skill {self.name} of the project was not used.")
        skill = self._entry.skill
        if skill.forks and skill.for_model:
            given = f" and the arguments {argument!r}" if argument else ""
            return Asks(prompt=f"Call the tool `skill` with the name {skill.name!r}{given}; then tell me its report.")
        return Asks(prompt=skill.expanded(argument))


class SkillsCommand:
    """`/skills`: lists the skills, with those that cannot be used and why."""

    name = "skills"
    description = "List the skills, and why some cannot be used"
    hint: str | None = None

    def __init__(self, catalog: Callable[[], Catalog]) -> None:
        self._catalog = catalog

    async def run(self, argument: str, context: CommandContext) -> CommandResult:  # noqa: ARG002 - it needs neither
        """See `Command`."""
        catalog = self._catalog()
        lines = [_row(entry) for entry in catalog.entries]
        faults = ["", "These are no skills:", *(f"- {code_span(trouble)}" for trouble in catalog.troubles)]
        return Said(text="\n".join(["Skills:", "", *lines, *(faults if catalog.troubles else ())]))


def commands(catalog: Catalog, *, listing: SkillsCommand) -> Sequence[Command]:
    """The slash commands for the skills of a catalog that people may start, and the one that lists them."""
    return [listing, *(SkillCommand(entry) for entry in catalog.counting if entry.skill.for_person)]


def _row(entry: Entry) -> str:
    skill = entry.skill
    notes = [note for note in (entry.state, *skill.warnings) if note]
    remark = f" ({'; '.join(notes)})" if notes else ""
    return f"- **{skill.name}** ({skill.scope}): {plain_text(f'{skill.description}{remark}')}"


if TYPE_CHECKING:
    _skill: type[Command] = SkillCommand
    _skills: type[Command] = SkillsCommand
