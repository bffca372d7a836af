"""`session/prompt` and `session/cancel`."""

from collections.abc import Sequence
from typing import assert_never

import anyio

from claw_acp.acp.connection import Connection
from claw_acp.acp.permission import EditorAsker
from claw_acp.acp.workspace import EditorWorkspace
from claw_acp.agent.desk import Desk
from claw_acp.agent.loop import Outcome
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ContentPart, ImagePart, LinkPart, ResourcePart, TextPart, Usage
from claw_acp.rpc.peer import IncomingCall
from claw_acp.schema.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from claw_acp.schema.invalid import parse
from claw_acp.schema.prompt import CancelNotification, PromptRequest
from claw_acp.telemetry.context import log_context


async def prompt(connection: Connection, call: IncomingCall, params: JsonObject) -> JsonValue:
    """Run a turn. However it is cancelled, the answer is one result with `cancelled`."""
    request = parse(PromptRequest, params, method=call.method)
    view = connection.view(request.session_id)
    parts = _parts(request.prompt)
    view.can_ask = True
    desk = Desk(workspace=EditorWorkspace(view), asker=EditorAsker(view))
    outcome = Outcome(stop="cancelled", usage=None)
    with log_context(session=request.session_id), anyio.CancelScope() as scope:
        call.on_cancel = scope.cancel
        engine = await connection.engine()
        outcome = await engine.turns.run(view.opened, parts, desk=desk)
    result: dict[str, JsonValue] = {"stopReason": outcome.stop}
    return result | ({"usage": _usage(outcome.usage)} if outcome.usage else {})


async def cancel(connection: Connection, params: JsonObject) -> None:
    """Cancel the session's running turn and those that wait; without one, nothing happens."""
    request = parse(CancelNotification, params, method="session/cancel")
    connection.view(request.session_id).opened.session.cancel()


def _usage(usage: Usage) -> JsonObject:
    counts: dict[str, JsonValue] = {
        "totalTokens": usage.input_tokens + usage.output_tokens,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
    }
    optional = {
        "thoughtTokens": usage.thought_tokens,
        "cachedReadTokens": usage.cached_read_tokens,
        "cachedWriteTokens": usage.cached_write_tokens,
    }
    return counts | {name: count for name, count in optional.items() if count}


def _parts(blocks: Sequence[ContentBlock]) -> list[ContentPart]:
    if not blocks:
        raise InvalidRequest("session/prompt: `prompt` is empty")
    return [_part(block) for block in blocks]


def _part(block: ContentBlock) -> ContentPart:
    match block:
        case TextContent(text=text):
            return TextPart(text=text)
        case ImageContent(data=data, mime_type=mime_type, uri=uri):
            return ImagePart(data=data, mime_type=mime_type, uri=uri)
        case AudioContent():
            raise InvalidRequest("session/prompt: audio is not supported (see `promptCapabilities`)")
        case ResourceLink():
            return LinkPart(
                uri=block.uri,
                name=block.name,
                mime_type=block.mime_type,
                title=block.title,
                description=block.description,
                size=block.size,
            )
        case EmbeddedResource(resource=resource):
            text = resource.text if isinstance(resource, TextResourceContents) else None
            blob = None if isinstance(resource, TextResourceContents) else resource.blob
            return ResourcePart(uri=resource.uri, mime_type=resource.mime_type, text=text, blob=blob)
        case _:
            assert_never(block)
