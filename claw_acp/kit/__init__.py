"""Write a program of your own: a model provider (`Plugin`), or one that lends tools to a hub (`Lender`).

The protocols, with examples in other languages, are described in `protocol-schemas/provider` and `endpoints`.
"""

from claw_acp.kit.endpoint_wire import Scope
from claw_acp.kit.errors import ChatFailed
from claw_acp.kit.lender import Lender, ToolFailed
from claw_acp.kit.plugin import Plugin, Stream
from claw_acp.kit.wire import (
    ChatMessage,
    ChatOptions,
    ChatParams,
    ChatResult,
    ImagePart,
    ModelRow,
    PluginCapabilities,
    TextPart,
    TokenUsage,
    ToolDefinition,
    ToolRequest,
)

__all__ = [
    "ChatFailed",
    "ChatMessage",
    "ChatOptions",
    "ChatParams",
    "ChatResult",
    "ImagePart",
    "Lender",
    "ModelRow",
    "Plugin",
    "PluginCapabilities",
    "Scope",
    "Stream",
    "TextPart",
    "TokenUsage",
    "ToolDefinition",
    "ToolFailed",
    "ToolRequest",
]
