"""Opening sessions in protocol 2. Other operations are as in protocol 1."""

from typing import Literal

from claw_acp.schema.base import AbsolutePath, NullableArray, Wire
from claw_acp.schema.system_prompt import SystemPrompt
from claw_acp.schema.v2.mcp import McpServer


class NewSessionRequest(Wire):
    """Start a session in `cwd`; tools may also work in `additional_directories`."""

    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    system_prompt: SystemPrompt | None = None


class ReplayFromStart(Wire):
    """Replay the whole conversation. Any other start is refused."""

    type: Literal["start"]


class ResumeSessionRequest(Wire):
    """Open a stored session; with `replay_from`, send its history before answering."""

    session_id: str
    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    replay_from: ReplayFromStart | None = None
    system_prompt: SystemPrompt | None = None


class ForkSessionRequest(Wire):
    """Copy a session with its conversation; the copy goes on independently."""

    session_id: str
    cwd: AbsolutePath
    additional_directories: NullableArray[AbsolutePath] = ()
    mcp_servers: NullableArray[McpServer] = ()
    system_prompt: SystemPrompt | None = None
