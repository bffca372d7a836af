"""Write a program of your own: a model provider, or one that attaches to a hub.

`Plugin` is a provider, `Lender` lends tools, `Scheduler` has prompts run. The protocols, with examples in other
languages, are described in `protocol-schemas/provider` and `endpoints`.
"""

from claw_acp.kit.attached_program import HubRefused
from claw_acp.kit.endpoint_wire import FinishedParams, Scope
from claw_acp.kit.errors import ChatFailed
from claw_acp.kit.lender import Lender, ToolFailed
from claw_acp.kit.plugin import Plugin, Stream
from claw_acp.kit.scheduler import Scheduler
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
    "FinishedParams",
    "HubRefused",
    "ImagePart",
    "Lender",
    "ModelRow",
    "Plugin",
    "PluginCapabilities",
    "Scheduler",
    "Scope",
    "Stream",
    "TextPart",
    "TokenUsage",
    "ToolDefinition",
    "ToolFailed",
    "ToolRequest",
]
