"""Asking for parts of structured data in a file."""

import json
from pathlib import Path
from typing import Final, Literal

from claw_acp.contracts.tool import CallDraft, CallView, Invocation, ReadsPath, ToolContext, ToolResult
from claw_acp.core.errors import ToolError
from claw_acp.core.events import Location
from claw_acp.core.messages import TextPart
from claw_acp.tools.display import fenced, shortened, shown_path
from claw_acp.tools.files.unreadable import better_error
from claw_acp.tools.parameters import Parameters, TypedTool, argument
from claw_acp.tools.worker import run_worker

_FORMATS: Final = {
    ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml",
}  # fmt: skip


class QueryParameters(Parameters):
    """A file and a query."""

    path: str = argument(min_length=1, description="JSON, JSON Lines, YAML or TOML file.")
    query: str = argument(
        min_length=1,
        max_length=4_000,
        description="JMESPath, such as `keys(scripts)`, `items[?kind=='a'].name | [0]`, `length(users)`; or a JSON "
        "Pointer, such as `/servers/0/host`; `@` is everything.",
    )
    format: Literal["auto", "json", "jsonl", "yaml", "toml"] = argument(
        default="auto", description="By default as the name of the file says."
    )


class QueryData(TypedTool[QueryParameters]):
    """Answers a query about a file of data."""

    name = "query_data"
    description = "Get a part of a JSON, JSON Lines, YAML or TOML file by a JMESPath query or JSON Pointer, as JSON."
    draft = CallDraft(kind="read", verb="Query", subject="path", is_path=True)
    parameters = QueryParameters
    parallel = True
    on_demand = True

    def bind(self, parameters: QueryParameters, context: ToolContext) -> Invocation:
        """The invocation of one query."""
        return _Query(parameters, path=context.workspace.locate(parameters.path), context=context)


class _Query(Invocation):
    def __init__(self, parameters: QueryParameters, *, path: Path, context: ToolContext) -> None:
        self._parameters = parameters
        self._path = path
        self._context = context
        self._shown = shown_path(path, workspace=context.workspace)
        self.accesses = (ReadsPath(path=path),)
        self.view = CallView(
            title=f"Query {self._shown}: {shortened(parameters.query)}",
            kind="read",
            locations=(Location(path=str(path)),),
        )

    async def run(self) -> ToolResult:
        """Have a worker read the file's text, unsaved changes included, and answer."""
        kind = _FORMATS.get(self._path.suffix.lower()) if self._parameters.format == "auto" else self._parameters.format
        if kind is None:
            raise ToolError(f"The name of {self._shown} does not say what it holds. Set `format`.")
        workspace = self._context.workspace
        try:
            text = await workspace.read_text(self._path)
        except ToolError as error:
            raise await better_error(error, path=self._path, workspace=workspace) from error
        request = json.dumps({"format": kind, "query": self._parameters.query})
        data = f"{request}\n{text.removeprefix(chr(0xFEFF))}".encode("utf-8", "replace")
        end = await run_worker("claw_acp.tools.data.query_worker", data)
        if end.reason:
            raise ToolError(f"{self._shown}: {end.reason}.")
        return ToolResult(parts=(TextPart(text=end.output),), content=(fenced(end.output),))
