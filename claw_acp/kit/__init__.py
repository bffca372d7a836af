"""Write a model provider as a program of its own: `from claw_acp.kit import Plugin`.

The protocol, with examples in other languages, is described in `protocol-schemas/provider`.
"""

from claw_acp.kit.errors import ChatFailed
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
    "ModelRow",
    "Plugin",
    "PluginCapabilities",
    "Stream",
    "TextPart",
    "TokenUsage",
    "ToolDefinition",
    "ToolRequest",
]
