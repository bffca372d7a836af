"""The tool by which models read skills."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from claw_acp.config.safe_read import read_inside, read_resolved
from claw_acp.contracts.delegation import AgentFile, Delegation, NamedAgents, Task
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import CallView, Invocation, ReadsPath, Tool, ToolContext, ToolResult
from claw_acp.core.errors import InvalidArguments, ToolError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.messages import TextPart
from claw_acp.core.nearest import nearest
from claw_acp.core.printable import printable
from claw_acp.core.value import replace
from claw_acp.skills.catalog import Catalog
from claw_acp.skills.skill import Skill

NAME: Final = "skill"
LARGEST: Final = 256 * 1024  # bytes of a file that a skill names
_READING: Final = ToolSpec(
    name=NAME,
    description="Read a skill: instructions for a kind of work; the system prompt lists them by name. Read the "
    "one that fits before you begin. With `file`, read a text file of its folder that a skill names.",
    parameters={
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The skill's name."},
            "file": {"type": "string", "description": "A file of its folder; by default its instructions."},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
)
_WITH_ARGUMENTS: Final = ToolSpec(
    name=NAME,
    description=f"{_READING.description} One that works by itself is done by a subagent, whose report you get.",
    parameters={
        **_READING.parameters,
        "properties": {
            "name": {"type": "string", "description": "The skill's name."},
            "file": {"type": "string", "description": "A file of its folder; by default its instructions."},
            "arguments": {
                "type": "string",
                "description": "For one that works by itself: what it is to do. It knows nothing of this conversation.",
            },
        },
    },
)


class SkillTool:
    """Shows the text of a skill, or a file of its folder. It changes nothing and needs no permission."""

    name = NAME
    parallel = True
    essential = True  # the system prompt speaks of it

    def __init__(self, catalog: Callable[[], Catalog]) -> None:
        self._catalog = catalog

    @property
    def spec(self) -> ToolSpec:
        """See `Tool`. It takes arguments only where a skill can use them."""
        forks = (entry.skill.forks and entry.trusted for entry in self._catalog().counting)
        return _WITH_ARGUMENTS if any(forks) else _READING

    def prepare(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Tool`."""
        name, file = arguments.get("name"), arguments.get("file") or ""
        if not isinstance(name, str) or not isinstance(file, str):
            raise InvalidArguments(f"{NAME}: `name` must be the name of a skill, and `file` a path, as texts.")
        skill, given = self._skill(name.strip().removeprefix("/")), arguments.get("arguments") or ""
        if not skill.forks or file:
            return _Reading(skill, file=file, context=context)
        if not isinstance(given, str):
            raise InvalidArguments(f"{NAME}: `arguments` must be a text.")
        delegation = context.port(Delegation)
        if delegation is None or not delegation.is_open:
            return _Reading(skill, file="", context=context)
        return delegation.call(_task(skill, given, context=context), context=context)

    def _skill(self, name: str) -> Skill:
        """The skill that a model may read.

        Raises:
            ToolError: There is none, or it may not.
        """
        catalog = self._catalog()
        names = [entry.skill.name for entry in catalog.counting if entry.trusted and entry.skill.for_model]
        entry = catalog.find(name)
        if entry is None or (not entry.trusted and name not in names):
            why = "The person has not trusted that skill of the project." if entry is not None else ""
            meant = nearest(name, names)
            hint = f"Did you mean {meant}?" if meant and entry is None else f"There are: {', '.join(names) or 'none'}."
            raise ToolError(f"{why or f'There is no skill {printable(name)}.'} {hint}")
        if not entry.skill.for_model:
            raise ToolError(f"Only the person can start the skill {name}, by typing /{name}.")
        if entry.lacks:
            raise ToolError(f"The skill {name} cannot be used here: it needs {', '.join(entry.lacks)}.")
        return entry.skill


def _task(skill: Skill, given: str, *, context: ToolContext) -> Task:
    """The task of a skill that works by itself: its text, for the agent and the model that it names, if there are."""
    port = context.port(NamedAgents)
    known = () if port is None else port.usable()
    agent = next((each for each in known if each.name == skill.agent), None)
    if skill.model and (agent is None or isinstance(agent, AgentFile)):
        plain = AgentFile(name=skill.name, description=skill.description, scope="user", instructions="")
        agent = replace(agent or plain, model=skill.model)
    return Task(title=f"the skill {skill.name}", prompt=skill.expanded(given), agent=agent)


class _Reading(Invocation):
    def __init__(self, skill: Skill, *, file: str, context: ToolContext) -> None:
        self._skill = skill
        self._file = file
        self.view = CallView(title=f"Read the skill {skill.name}{f': {printable(file)}' if file else ''}", kind="read")
        self._judged: Path | None = None
        if file and skill.scope == "project":
            self._judged = context.workspace.locate(str(skill.folder / file))
            self.accesses = (ReadsPath(path=self._judged),)

    async def run(self) -> ToolResult:
        """See `Invocation`."""
        text = self._skill.expanded()
        if self._file:
            text = await to_thread.run_sync(_file, self._skill, self._file, self._judged)
        return ToolResult(parts=(TextPart(text=text),))


def _file(skill: Skill, name: str, judged: Path | None) -> str:
    """A text file of a skill's folder; `judged` is its path where that was decided about.

    Raises:
        ToolError: It cannot be read.
    """
    folder, most = skill.folder, LARGEST + 1
    try:
        if judged is None:
            data = read_inside(folder, folder / name, limit=most)
        else:
            data = read_resolved(folder, judged, limit=most)
        text = data.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise ToolError(f"The skill {skill.name} has no file {name}. {_others(skill.folder)}") from error
    except OSError as error:
        raise ToolError(f"{name} of the skill {skill.name} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise ToolError(f"{name} of the skill {skill.name} is not UTF-8 text.") from error
    if len(data) > LARGEST:
        raise ToolError(f"{name} of the skill {skill.name} is larger than {LARGEST // 1024} KiB.")
    return text


def _others(folder: Path) -> str:
    names = sorted(str(path.relative_to(folder)) for path in [*folder.glob("*"), *folder.glob("*/*")] if path.is_file())
    return f"Its files: {', '.join(names[:50])}."


if TYPE_CHECKING:
    _conforms: type[Tool] = SkillTool
