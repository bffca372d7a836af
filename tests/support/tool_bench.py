"""A bench for one tool: a context on a directory, and the stages of a call: prepare, preview, run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from claw_acp.contracts.questions import Form, FormAnswer
from claw_acp.contracts.tool import FormPort, Invocation, PlanPort, Progress, Tool, ToolContext, ToolResult, ToolState
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.clock import SYSTEM_CLOCK
from claw_acp.core.events import PlanEntry
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.workspace.local import LocalWorkspace


class EditorWorkspace(LocalWorkspace):
    """A workspace whose files are open in an editor: `buffers` wins over the disk, `on_save` may format."""

    def __init__(self, *roots: Path) -> None:
        super().__init__(roots)
        self.buffers: dict[Path, str] = {}
        self.on_save: Callable[[str], str] = str

    async def read_text(self, path: Path) -> str:
        return self.buffers[path] if path in self.buffers else await super().read_text(path)

    async def write_text(self, path: Path, text: str) -> None:
        self.buffers[path] = self.on_save(text)


@dataclass
class Bench:
    """One session for tools. `plans` and `news` collect published values; `forms` are answered with `answer`.

    `lent` are further ports by their type.
    """

    workspace: Workspace
    state: ToolState = field(default_factory=ToolState)
    plans: list[tuple[PlanEntry, ...]] = field(default_factory=list[tuple[PlanEntry, ...]])
    news: list[Progress] = field(default_factory=list[Progress])
    may_read: Callable[[Path], bool] = lambda _: True
    forms: list[Form] = field(default_factory=list[Form])
    answer: FormAnswer | None = None
    lent: dict[type, object] = field(default_factory=dict[type, object])
    allowed_hosts: tuple[str, ...] = ()

    @classmethod
    def on(cls, *roots: Path) -> "Bench":
        """A bench on real directories."""
        return cls(LocalWorkspace(roots))

    def context(self) -> ToolContext:
        """The context for a tool."""
        return ToolContext(
            session="ses_bench",
            call_id="call_bench",
            workspace=self.workspace,
            clock=SYSTEM_CLOCK,
            state=self.state,
            progress=self._progress,
            may_read=self.may_read,
            ports={PlanPort: PlanPort(publish=self._plan), FormPort: FormPort(ask=self._ask), **self.lent}.get,
            allowed_hosts=self.allowed_hosts,
        )

    def prepare(self, tool: Tool, **arguments: JsonValue) -> Invocation:
        """The bound call."""
        return tool.prepare(arguments, self.context())

    async def call(self, tool: Tool, **arguments: JsonValue) -> ToolResult:
        """Prepare, preview, run."""
        invocation = self.prepare(tool, **arguments)
        await invocation.preview()
        return await invocation.run()

    async def text(self, tool: Tool, **arguments: JsonValue) -> str:
        """The result for the model of a call, all text parts joined."""
        return said(await self.call(tool, **arguments))

    async def _progress(self, news: Progress) -> None:
        self.news.append(news)

    async def _ask(self, form: Form) -> FormAnswer | None:
        self.forms.append(form)
        return self.answer

    async def _plan(self, entries: Sequence[PlanEntry]) -> None:
        self.plans.append(tuple(entries))


def said(result: ToolResult) -> str:
    """The whole text of a result."""
    return "\n".join(part.text for part in result.parts if isinstance(part, TextPart))
