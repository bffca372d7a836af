"""Errors of the library and the network, as reasons that people can act on."""

import os
from collections.abc import Iterator
from typing import cast

import httpx2
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, ErrorData
from pydantic import ValidationError

from claw_acp.contracts.mcp_server import HttpServer, McpServerSpec
from claw_acp.core.json_value import JsonValue
from claw_acp.mcp.diagnostics import Diagnostics
from claw_acp.mcp.failure import ServerFailed

_CHECK_ADDRESS = "Check that it runs, and its address."


def explained(error: BaseException, *, spec: McpServerSpec, evidence: Diagnostics) -> ServerFailed:
    """The reason the connection failed, or ended."""
    cause = _cause(error)
    if isinstance(cause, ServerFailed):
        return cause
    if isinstance(spec, HttpServer) and (failed := _network(cause, spec=spec, evidence=evidence)):
        return failed
    match cause:
        case MCPError() if is_closed(cause):
            reason = evidence.ending or "closed the connection"
        case MCPError():
            reason = f"refused: {evidence.clean(error_text(cause.error))}"
        case ValidationError():
            reason = f"does not speak MCP as it should: {evidence.clean(invalid(cause))}"
        case RuntimeError():
            reason = f"cannot be used: {evidence.clean(str(cause))}"
        case _:
            reason = f"cannot be used ({evidence.clean(f'{type(cause).__name__}: {cause}')})"
    return ServerFailed(reason + "." + evidence.last_words)


def is_closed(error: MCPError) -> bool:
    """Return whether the library reports a closed connection here; servers use its code for errors of theirs."""
    return (error.code, error.message) == (CONNECTION_CLOSED, "Connection closed")


def error_text(error: ErrorData) -> str:
    """The text of a server's error, with the addresses it wants a person to open."""
    text = error.message.strip() or f"error {error.code}"
    wanted = [url for url in _urls(cast("JsonValue", error.data)) if url not in text]
    return f"{text} Open {' and '.join(wanted)} first." if wanted else text


def invalid(error: ValidationError) -> str:
    """The first fault of an answer, and its place."""
    problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(step) for step in problem["loc"])
    return f"{place}: {problem['msg']}" if place else problem["msg"]


def _network(cause: BaseException, *, spec: HttpServer, evidence: Diagnostics) -> ServerFailed | None:
    status = cause.response.status_code if isinstance(cause, httpx2.HTTPStatusError) else evidence.status
    if status in {401, 403}:
        return ServerFailed(
            f"answered with HTTP status {status}: it needs credentials",
            advice="Set the header that it needs, often `Authorization`.",
        )
    if status is not None:
        return ServerFailed(f"answered with HTTP status {status}", advice=_CHECK_ADDRESS)
    where = httpx2.URL(spec.url).host
    match cause:
        case httpx2.TimeoutException():
            return ServerFailed(f"could not be reached in time at {where}", advice=_CHECK_ADDRESS)
        case httpx2.HTTPError() | OSError():
            return ServerFailed(f"cannot be reached at {where}: {evidence.clean(_words(cause))}", advice=_CHECK_ADDRESS)
        case RuntimeError() if "task_status" in str(cause):  # how the library finds that a stream of events has ended
            return ServerFailed(f"closed the connection at {where} at once", advice=_CHECK_ADDRESS)
        case _:
            return None


def _words(error: BaseException) -> str:
    """The most specific text in a chain of causes: `Connection refused`, not `All connection attempts failed`."""
    words = type(error).__name__
    step: BaseException | None = error
    while step is not None:
        if isinstance(step, OSError) and step.errno:
            return os.strerror(step.errno) if step.errno > 0 else str(step.strerror)
        words = str(step) or words
        step = step.__cause__ or step.__context__
    return words


def _cause(error: BaseException) -> BaseException:
    """The relevant error of a group: the first one that is not a mere consequence."""
    leaves = list(_leaves(error))
    telling = [leaf for leaf in leaves if isinstance(leaf, ServerFailed | httpx2.HTTPError)]
    return (telling or leaves)[0]


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _urls(data: JsonValue) -> list[str]:
    """The addresses in the data of a server's error that a person must visit first (MCP error -32042)."""
    asked = data.get("elicitations") if isinstance(data, dict) else None
    found = [item.get("url") for item in asked if isinstance(item, dict)] if isinstance(asked, list) else []
    return [url for url in found if isinstance(url, str)]
