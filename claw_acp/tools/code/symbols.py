"""The names that a file defines, and what is wrong in it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from claw_acp.contracts.tool import Invocation, ToolContext, ToolResult
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import TextPart
from claw_acp.core.printable import printable
from claw_acp.tools.code.positions import point
from claw_acp.tools.code.question import Question
from claw_acp.tools.display import amount, fenced
from claw_acp.tools.parameters import Parameters, TypedTool, argument

MOST_SYMBOLS: Final = 500
MOST_DEPTH: Final = 20  # levels of names within names

_KINDS: Final = (
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
    "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null",
    "enum member", "struct", "event", "operator", "type parameter",
)  # fmt: skip


class FileParameters(Parameters):
    """A file."""

    path: str = argument(min_length=1, description="The file, absolute or relative to the session's directory.")


class ListSymbols(TypedTool[FileParameters]):
    """Lists the names that a file defines."""

    name = "list_symbols"
    description = (
        "Get the outline of a source file: its classes, functions and other names with their lines, by the language "
        "server of this machine for it."
    )
    parameters = FileParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: FileParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _Symbols(parameters.path, title="List names in", context=context, kind="read")


class _Symbols(Question):
    async def run(self) -> ToolResult:
        answer = await self.asked("textDocument/documentSymbol", {}, texts={self.path: await self.text()})
        rows = list(_rows(answer, depth=0))
        lines = rows[:MOST_SYMBOLS]
        if len(rows) > len(lines):
            lines.append(f"and {amount(len(rows) - len(lines), 'more name')}")
        text = "\n".join(lines) or f"{self.server.name} finds no names in {self.shown}."
        return ToolResult(parts=(TextPart(text=text),), content=(fenced(text),))


def _rows(answer: JsonValue, *, depth: int) -> Iterator[str]:
    """`12 function name`, indented by depth, of both shapes that servers answer in."""
    if not isinstance(answer, Sequence) or isinstance(answer, str) or depth > MOST_DEPTH:
        return
    for item in answer:
        if not isinstance(item, Mapping) or not isinstance(name := item.get("name"), str):
            continue
        held = item.get("location")
        span = item.get("selectionRange") or (held.get("range") if isinstance(held, Mapping) else None)
        line, _ = point(span.get("start") if isinstance(span, Mapping) else None)
        number = item.get("kind")
        kind = _KINDS[number - 1] if isinstance(number, int) and 0 < number <= len(_KINDS) else "name"
        yield f"{'  ' * depth}{line + 1} {kind} {printable(name)}"
        yield from _rows(item.get("children"), depth=depth + 1)


class FileProblems(TypedTool[FileParameters]):
    """Lists the problems in a file."""

    name = "file_problems"
    description = (
        "List the errors in a source file as it is now, by the language server of this machine for it. What a turn "
        "changes is checked before it ends anyway."
    )
    parameters = FileParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: FileParameters, context: ToolContext) -> Invocation:
        """The invocation of one question."""
        return _Problems(parameters.path, title="List problems in", context=context, kind="read")


class _Problems(Question):
    async def run(self) -> ToolResult:
        found = await self.servers.problems(self.server, self.path, await self.text())
        text = found or f"{self.server.name} finds no problems in {self.shown}."
        return ToolResult(parts=(TextPart(text=text),), content=(fenced(text),))
