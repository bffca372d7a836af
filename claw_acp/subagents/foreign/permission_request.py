"""The permission requests of an agent that is another program, judged by what they say they are about."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from claw_acp.contracts.foreign_content import shown_arguments
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
from claw_acp.core.events import DiffContent, ToolContent, ToolKind
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.schema.content import TextContent
from claw_acp.schema.permission import RequestPermissionRequest
from claw_acp.schema.tool_call import Content, Diff
from claw_acp.subagents.foreign.requests import PermittedWrite, Request, code_of, said, text_of
from claw_acp.tools.display import amount, shortened, shown_path

LONGEST_SHOWN: Final = 20_000  # characters of a text that a program shows with its question


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
        """The title by what is decided about, rather than the one that the program gives."""
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
            locate(path) for path in dict.fromkeys([text_of(arguments, "path", otherwise=""), *self._paths()]) if path
        ]
        match self.name:
            case "shell":
                return (RunsCommand(line=text_of(arguments, "command"), cwd=self.cwd),)
            case "fetch":
                return (FetchesUrl(url=text_of(arguments, "url")),)
            case "write_file":
                operation = "delete" if self.kind == "delete" else "write"
                return tuple(WritesPath(path=path, operation=operation) for path in paths)
            case "read_file":
                return tuple(ReadsPath(path=path) for path in paths)
            case _:
                return (UsesServer(server=self.agent, tool=self.title, shared=True, source="remote"),)

    def _shown(self, arguments: JsonObject) -> tuple[ToolContent, ...]:
        """The content that the program shows of it, bounded."""
        if self.name == "shell":
            return (code_of(text_of(arguments, "command")),)
        shown: list[ToolContent] = []
        for item in self._call.content or ():
            match item:
                case Diff():
                    shown.append(DiffContent(path=item.path, old_text=item.old_text, new_text=item.new_text))
                case Content(content=TextContent(text=text)):
                    shown.append(code_of(text[:LONGEST_SHOWN]))
                case _:
                    pass
        if shown or self.name != "permission":
            return tuple(shown)
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
        return said("Permitted.")
