"""The requests of an agent that is another program, as calls of our tools: judged, recorded and shown like those."""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeAlias, TypeVar

from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.tool import (
    CallView,
    Invocation,
    ReadsPath,
    RunsCommand,
    ToolContext,
    ToolResult,
)
from claw_acp.contracts.workspace import Command, RunningProcess
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location, PartContent, ToolContent
from claw_acp.core.json_value import JsonObject
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines
from claw_acp.registry.reference import Ref
from claw_acp.schema.terminal import CreateTerminalRequest
from claw_acp.tools.display import amount, shortened, shown_path
from claw_acp.tools.files.file_change import Change, FileChange
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import better_error

LOOK_ENVIRONMENT: Final[Ref[Callable[..., dict[str, str]]]] = Ref(
    "claw_acp.security.read_only.environment:look_environment"
)
OUTPUT: Final = 1_048_576  # bytes of output that are kept if the program names no limit

PermittedWrite: TypeAlias = tuple[Path, str]
"""A file, and the whole text that it is to have."""

_A = TypeVar("_A")


class Request(ABC, Generic[_A]):
    """One request: a call of the tool `name` with `arguments`, whose outcome is the `answer` for the program.

    Hooks may change the arguments; what runs is made of those that are left.
    """

    name: str
    arguments: JsonObject
    answer: _A | None = None

    @abstractmethod
    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """The call with these arguments."""


class ReadRequest(Request[str]):
    """Read a text file, with the changes that its editor has not saved."""

    name = "read_file"

    def __init__(self, path: Path) -> None:
        self.arguments = {"path": str(path)}

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Request`."""
        return _Reading(self, context.workspace.locate(text_of(arguments, "path")), context=context)


class _Reading(Invocation):
    def __init__(self, request: ReadRequest, path: Path, *, context: ToolContext) -> None:
        self._request = request
        self._path = path
        self._context = context
        shown = shown_path(path, workspace=context.workspace)
        self.accesses = (ReadsPath(path=path),)
        self.view = CallView(title=f"Read {shown}", kind="read", locations=(Location(path=str(path)),))

    async def run(self) -> ToolResult:
        workspace = self._context.workspace
        try:
            text = await workspace.read_text(self._path)
        except ToolError as error:
            raise await better_error(error, path=self._path, workspace=workspace) from error
        Stamps.on(self._context.state).saw(self._path, text)
        self._request.answer = text
        return said(f"Gave it {amount(len(text.splitlines()), 'line')}.")


class WriteRequest(Request[bool]):
    """Replace or create a text file.

    Args:
        path: The file.
        text: All of its text.
        permitted: The writes that were permitted a moment ago, each for once.
    """

    name = "write_file"

    def __init__(self, path: Path, text: str, *, permitted: set[PermittedWrite]) -> None:
        self.arguments = {"path": str(path), "content": text}
        self.permitted = permitted

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Request`."""
        path = context.workspace.locate(text_of(arguments, "path"))
        return _Writing(self, path, text=text_of(arguments, "content"), context=context)


class _Writing(FileChange):
    creates = True

    def __init__(self, request: WriteRequest, path: Path, *, text: str, context: ToolContext) -> None:
        super().__init__(path=path, context=context, verb="Write")
        self._request = request
        self._text = text
        if (path, text) in request.permitted:  # exactly this was decided about already
            request.permitted.remove((path, text))
            self.accesses = ()

    def change(self, old: str | None) -> str:  # noqa: ARG002 - it sends all of it
        return self._text

    def report(self, change: Change, *, lines: str) -> str:  # noqa: ARG002 - shown as a diff
        return f"{'Created' if change.old is None else 'Wrote'} {self._shown}."

    async def run(self) -> ToolResult:
        result = await super().run()
        self._request.answer = True
        return result


class CommandRequest(Request[RunningProcess]):
    """Start a command in a terminal.

    Args:
        request: The request.
        cwd: Its directory.
    """

    name = "shell"

    def __init__(self, request: CreateTerminalRequest, *, cwd: Path) -> None:
        # of one line, so that what the variables do is judged with the command
        words = [f"{variable.name}={shlex.quote(variable.value)}" for variable in request.env]
        command = shlex.join([request.command, *request.args]) if request.args else request.command
        self.arguments = {"command": " ".join([*words, command])}
        self.cwd = cwd
        self.limit = OUTPUT if request.output_byte_limit is None else min(request.output_byte_limit, OUTPUT)

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Request`."""
        return _Starting(self, text_of(arguments, "command"), context=context)


class _Starting(Invocation):
    def __init__(self, request: CommandRequest, line: str, *, context: ToolContext) -> None:
        self._request = request
        self._line = line
        self._context = context
        self.accesses = (RunsCommand(line=line, cwd=request.cwd, stays=True),)
        self.view = CallView(title=shortened(line, most=120), kind="execute")

    async def preview(self) -> tuple[ToolContent, ...]:
        return (code_of(self._line),)

    async def run(self) -> ToolResult:
        environment = LOOK_ENVIRONMENT.load()(self._line, inherited=current_environment())
        command = Command(
            line=self._line, cwd=self._request.cwd, env=environment, output_limit=self._request.limit,
            sandbox=self._context.port(CommandSandbox),
        )  # fmt: skip
        self._request.answer = await self._context.workspace.start(command)
        return said("Started.")


def code_of(text: str) -> ToolContent:
    """A text as a block of code."""
    return PartContent(part=TextPart(text=code_block(plain_lines(text))))


def said(text: str) -> ToolResult:
    """A result of one sentence, for the record: the program gets its own answer."""
    return ToolResult(parts=(TextPart(text=text),))


def text_of(arguments: JsonObject, key: str, *, otherwise: str | None = None) -> str:
    """The argument with this name.

    Raises:
        ToolError: It is no text.
    """
    value = arguments.get(key, otherwise)
    if not isinstance(value, str):
        raise ToolError(f"`{key}` must be a text")
    return value
