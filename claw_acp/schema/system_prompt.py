"""Instructions of the client for a session (unstable: `sessionCapabilities.systemPrompt`)."""

from typing import Annotated, TypeAlias

from claw_acp.schema.base import Array, Known, Wire
from claw_acp.schema.content import ContentBlock

SystemPromptMode: TypeAlias = Annotated[str, Known(values=("append", "override"))]


class SystemPrompt(Wire):
    """Instructions to add to the agent's own, or to replace them with."""

    mode: SystemPromptMode
    content: Array[ContentBlock]
