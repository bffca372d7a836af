"""The catalog of a server's offer, fetched page by page."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from mcp.client import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.types import PaginatedRequestParams, PaginatedResult, Prompt, Tool

from claw_acp.core.json_value import JsonObject
from claw_acp.mcp.server_catalog import OfferedPrompt, OfferedResource, OfferedTool, PromptArgument, ServerCatalog

MOST_PAGES = 50  # a server whose list never ends must not keep us
MOST_LISTED = 1000

_T = TypeVar("_T")
_P = TypeVar("_P", bound=PaginatedResult)

log = logging.getLogger(__name__)


async def offered(session: ClientSession, *, server: str, clean: Callable[[str], str]) -> ServerCatalog:
    """The current offer. A feature that was announced but cannot be listed counts as empty, except tools.

    Args:
        session: The connection.
        server: Its name for the log.
        clean: Removes secrets from its texts.

    Raises:
        MCPError: It does not list its tools, or is gone.
        ValidationError: A list is not valid.
    """
    can = session.server_capabilities
    tools: list[Tool] = []
    if can is not None and can.tools is not None:
        tools = await _all(lambda page: session.list_tools(params=page), lambda found: found.tools)
    prompts: list[Prompt] = []
    resources: list[OfferedResource] = []
    try:
        if can is not None and can.prompts is not None:
            prompts = await _all(lambda page: session.list_prompts(params=page), lambda found: found.prompts)
        if can is not None and can.resources is not None:
            resources = await listed_resources(session)
    except MCPError as error:
        log.info("MCP server does not list everything", extra={"server": server, "reason": clean(error.message)})
    return ServerCatalog(
        tools=tuple(map(_tool, filter(_can_be_called, tools))),
        prompts=tuple(map(_prompt, prompts)),
        resources=bool(resources),
    )


async def listed_resources(session: ClientSession) -> list[OfferedResource]:
    """Its documents, then its templates."""
    documents = await _all(lambda page: session.list_resources(params=page), lambda found: found.resources)
    listed = [
        OfferedResource(
            uri=item.uri, name=item.title or item.name, description=item.description, mime_type=item.mime_type
        )
        for item in documents
    ]
    try:
        patterns = await _all(
            lambda page: session.list_resource_templates(params=page), lambda found: found.resource_templates
        )
    except MCPError:  # many servers have documents and know nothing of patterns
        return listed
    return listed + [
        OfferedResource(
            uri=item.uri_template,
            name=item.title or item.name,
            description=item.description,
            mime_type=item.mime_type,
            template=True,
        )
        for item in patterns
    ]


async def _all(
    ask: Callable[[PaginatedRequestParams | None], Awaitable[_P]], take: Callable[[_P], Iterable[_T]]
) -> list[_T]:
    found: list[_T] = []
    cursor: str | None = None
    for _ in range(MOST_PAGES):
        page = await ask(None if cursor is None else PaginatedRequestParams(cursor=cursor))
        found += take(page)
        if not page.next_cursor or page.next_cursor == cursor or len(found) >= MOST_LISTED:
            break
        cursor = page.next_cursor
    if len(found) > MOST_LISTED:
        log.warning("a list of an MCP server is cut", extra={"listed": len(found), "kept": MOST_LISTED})
    return found[:MOST_LISTED]


def _can_be_called(tool: Tool) -> bool:
    """Return whether an ordinary call works: some tools must be called as tasks."""
    return tool.execution is None or tool.execution.task_support != "required"


def _tool(tool: Tool) -> OfferedTool:
    hints = tool.annotations
    schema: JsonObject = tool.input_schema
    return OfferedTool(
        name=tool.name,
        title=tool.title or (hints.title if hints else None),
        description=tool.description or "",
        schema=schema,
        reads_only=bool(hints and hints.read_only_hint),
        destroys=bool(hints and hints.destructive_hint),  # MCP's default is true, which would say it of nearly all
    )


def _prompt(prompt: Prompt) -> OfferedPrompt:
    return OfferedPrompt(
        name=prompt.name,
        description=prompt.description or prompt.title or "",
        arguments=tuple(
            PromptArgument(name=argument.name, description=argument.description, required=bool(argument.required))
            for argument in prompt.arguments or ()
        ),
    )
