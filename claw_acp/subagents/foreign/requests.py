"""What an agent that is another program asks of us, as calls of our tools: judged, recorded and shown like those."""

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Generic, TypeAlias, TypeVar

from claw_acp.contracts.foreign_content import shown_arguments
from claw_acp.contracts.launch import CommandSandbox
from claw_acp.contracts.tool import (
    Access,
    CallView,
    FetchesUrl,
    Invocation,
    ReadsPath,
    RunsCommand,
    ToolContext,
    ToolResult,
    UsesServer,
    WritesPath,
)
from claw_acp.contracts.workspace import Command, RunningProcess
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import ToolError
from claw_acp.core.events import DiffContent, Location, PartContent, ToolContent, ToolKind
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.markdown import code_block
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import plain_lines, printable
from claw_acp.registry.reference import Ref
from claw_acp.schema.content import TextContent
from claw_acp.schema.permission import RequestPermissionRequest
from claw_acp.schema.terminal import CreateTerminalRequest
from claw_acp.schema.tool_call import Content, Diff
from claw_acp.tools.display import amount, shortened, shown_path
from claw_acp.tools.files.file_change import Change, FileChange
from claw_acp.tools.files.seen_files import Stamps
from claw_acp.tools.files.unreadable import better_error

LOOK_ENVIRONMENT: Final[Ref[Callable[..., dict[str, str]]]] = Ref(
    "claw_acp.security.read_only.environment:look_environment"
)
LONGEST_SHOWN: Final = 20_000  # characters of a text that a program shows with its question
OUTPUT: Final = 1_048_576  # bytes of output that are kept if the program names no limit

PermittedWrite: TypeAlias = tuple[Path, str]
"""A file, and the whole text that it is to have."""

_A = TypeVar("_A")


class Request(Generic[_A]):
    """One request: a call of the tool `name` with `arguments`, whose outcome is the `answer` for the program.

    Hooks may change the arguments; what runs is made of those that are left.
    """

    name: str
    arguments: JsonObject
    answer: _A | None = None

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """The call with these arguments."""
        raise NotImplementedError


class ReadRequest(Request[str]):
    """Read a text file, with the changes that its editor has not saved."""

    name = "read_file"

    def __init__(self, path: Path) -> None:
        self.arguments = {"path": str(path)}

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Request`."""
        return _Reading(self, context.workspace.locate(_text(arguments, "path")), context=context)


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
        return _said(f"Gave it {amount(len(text.splitlines()), 'line')}.")


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
        path = context.workspace.locate(_text(arguments, "path"))
        return _Writing(self, path, text=_text(arguments, "content"), context=context)


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
        return _Starting(self, _text(arguments, "command"), context=context)


class _Starting(Invocation):
    def __init__(self, request: CommandRequest, line: str, *, context: ToolContext) -> None:
        self._request = request
        self._line = line
        self._context = context
        self.accesses = (RunsCommand(line=line, cwd=request.cwd, stays=True),)
        self.view = CallView(title=shortened(line, most=120), kind="execute")

    async def preview(self) -> tuple[ToolContent, ...]:
        return (_code(self._line),)

    async def run(self) -> ToolResult:
        environment = LOOK_ENVIRONMENT.load()(self._line, inherited=current_environment())
        command = Command(
            line=self._line, cwd=self._request.cwd, env=environment, output_limit=self._request.limit,
            sandbox=self._context.port(CommandSandbox),
        )  # fmt: skip
        self._request.answer = await self._context.workspace.start(command)
        return _said("Started.")


class PermissionRequest(Request[bool]):
    """May the program do something itself? It says what, which cannot be checked: its sandbox is what holds.

    Args:
        asked: The request.
        agent: The program's name.
        cwd: The directory in which it works.
    """

    def __init__(self, asked: RequestPermissionRequest, *, agent: str, cwd: Path) -> None:
        call = asked.tool_call
        self._call = call
        self.kind: ToolKind = call.kind or "other"
        self.agent = agent
        self.cwd = cwd
        self.writes: set[PermittedWrite] = set()
        """The writes that its permission covers to the letter."""
        self.title = printable(call.title or call.name or f"a step of the kind {self.kind}")
        self.name, self.arguments = self._as_call(call.raw_input)

    def _as_call(self, given: JsonValue) -> tuple[str, JsonObject]:
        """The tool of ours that does the same, with its arguments, so that rules and hooks about it count."""
        raw: JsonObject = given if isinstance(given, Mapping) else {}
        paths = self._paths()
        command, url = raw.get("command"), raw.get("url")
        if isinstance(command, list) and all(isinstance(word, str) for word in command):
            command = shlex.join(map(str, command))
        if self.kind == "execute" and isinstance(command, str) and command:
            return "shell", {"command": command}
        if self.kind == "fetch" and isinstance(url, str):
            return "fetch", {"url": url}
        if self.kind in {"edit", "delete", "move"} and paths:
            new = next((item.new_text for item in self._diffs()), "")
            return "write_file", {"path": paths[0], "content": new}
        if self.kind in {"read", "search"} and paths:
            return "read_file", {"path": paths[0]}
        return "permission", {"step": self.title, "arguments": given}

    def _diffs(self) -> list[Diff]:
        return [item for item in self._call.content or () if isinstance(item, Diff)]

    def _paths(self) -> list[str]:
        named = [diff.path for diff in self._diffs()] + [place.path for place in self._call.locations or ()]
        return [*dict.fromkeys(named)]

    def bind(self, arguments: JsonObject, context: ToolContext) -> Invocation:
        """See `Request`."""
        accesses = self._accesses(arguments, context)
        if self.name == "write_file":
            self.writes = {(context.workspace.locate(diff.path), diff.new_text) for diff in self._diffs()}
        return _Permitting(self, accesses, title=self._title(accesses, context), shown=self._shown(arguments))

    def _title(self, accesses: tuple[Access, ...], context: ToolContext) -> str:
        """What is decided about, rather than what the program calls it."""
        match accesses[0]:
            case RunsCommand(line=line):
                return line
            case FetchesUrl(url=url):
                return f"Fetch {url}"
            case ReadsPath(path=path) | WritesPath(path=path):
                more = f" and {amount(len(accesses) - 1, 'other file')}" if len(accesses) > 1 else ""
                return f"{self.kind.capitalize()} {shown_path(path, workspace=context.workspace)}{more}"
            case _:
                return self.title

    def _accesses(self, arguments: JsonObject, context: ToolContext) -> tuple[Access, ...]:
        locate = context.workspace.locate
        paths = [
            locate(path) for path in dict.fromkeys([_text(arguments, "path", otherwise=""), *self._paths()]) if path
        ]
        match self.name:
            case "shell":
                return (RunsCommand(line=_text(arguments, "command"), cwd=self.cwd),)
            case "fetch":
                return (FetchesUrl(url=_text(arguments, "url")),)
            case "write_file":
                operation = "delete" if self.kind == "delete" else "write"
                return tuple(WritesPath(path=path, operation=operation) for path in paths)
            case "read_file":
                return tuple(ReadsPath(path=path) for path in paths)
            case _:
                return (UsesServer(server=self.agent, tool=self.title, shared=True, source="remote"),)

    def _shown(self, arguments: JsonObject) -> tuple[ToolContent, ...]:
        """What the program shows of it, bounded."""
        if self.name == "shell":
            return (_code(_text(arguments, "command")),)
        told: list[ToolContent] = []
        for item in self._call.content or ():
            match item:
                case Diff():
                    told.append(DiffContent(path=item.path, old_text=item.old_text, new_text=item.new_text))
                case Content(content=TextContent(text=text)):
                    told.append(_code(text[:LONGEST_SHOWN]))
                case _:
                    pass
        if told or self.name != "permission":
            return tuple(told)
        given = arguments.get("arguments")
        return shown_arguments(given) if isinstance(given, Mapping) else ()


class _Permitting(Invocation):
    def __init__(
        self, request: PermissionRequest, accesses: tuple[Access, ...], *, title: str, shown: tuple[ToolContent, ...]
    ) -> None:
        self._request = request
        self._shown = shown
        self.accesses = accesses
        self.view = CallView(title=shortened(title, most=120), kind=request.kind)

    async def preview(self) -> tuple[ToolContent, ...]:
        return self._shown

    async def run(self) -> ToolResult:
        self._request.answer = True
        return _said("Permitted.")


def _code(text: str) -> ToolContent:
    return PartContent(part=TextPart(text=code_block(plain_lines(text))))


def _said(text: str) -> ToolResult:
    return ToolResult(parts=(TextPart(text=text),))


def _text(arguments: JsonObject, key: str, *, otherwise: str | None = None) -> str:
    value = arguments.get(key, otherwise)
    if not isinstance(value, str):
        raise ToolError(f"`{key}` must be a text")
    return value
