"""Golden examples of what a client of protocol 2 sends, each saying all it can say."""

from typing import Any, Final

from tests.schema.examples import ANNOTATIONS, AUDIO, BLOB, IMAGE, META, RESOURCE, TEXT

Object = dict[str, Any]

LINK: Final[Object] = {
    "type": "resource_link",
    "uri": "file:///project/a.py",
    "name": "a.py",
    "title": "A",
    "description": "the first",
    "mimeType": "text/x-python",
    "size": 2**63,
    "annotations": ANNOTATIONS,
    "icons": [
        {"src": "https://example.org/a.png", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"},
        {"src": "data:,", "theme": "_own"},
    ],
}
BLOCKS: Final = [TEXT, IMAGE, AUDIO, LINK, RESOURCE, BLOB]
SERVERS: Final[list[Object]] = [
    {"type": "stdio", "name": "files", "command": "/bin/files", "args": ["-v"], "env": [{"name": "A", "value": "b"}]},
    {"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": [{"name": "X-Key", "value": "k"}]},
    {"type": "acp", "name": "inside", "serverId": "srv_1"},
]
OPENING: Final[Object] = {
    "cwd": "/work",
    "additionalDirectories": ["/other", "C:\\more"],
    "mcpServers": SERVERS,
    "systemPrompt": {"mode": "append", "content": [TEXT]},
    "_meta": META,
}

EXAMPLES: Final[dict[str, list[Object]]] = {
    "LoginAuthRequest": [{"methodId": "api-key", "_meta": META}],
    "LogoutAuthRequest": [{"_meta": META}],
    "AuthStatusRequest": [{"_meta": META}],
    "ListProvidersRequest": [{"_meta": META}],
    "SetProviderRequest": [
        {"providerId": "p", "apiType": "openai", "baseUrl": "https://example.org/v1", "headers": {"a": "b"}},
    ],
    "DisableProviderRequest": [{"providerId": "p", "_meta": META}],
    "NewSessionRequest": [OPENING],
    "ResumeSessionRequest": [{"sessionId": "s", **OPENING, "replayFrom": {"type": "start", "_meta": META}}],
    "ForkSessionRequest": [{"sessionId": "s", **OPENING}],
    "ListSessionsRequest": [{"cwd": "/work", "cursor": "", "archived": "only", "_meta": META}],
    "CloseSessionRequest": [{"sessionId": "s", "_meta": META}],
    "DeleteSessionRequest": [{"sessionId": "s", "_meta": META}],
    "ArchiveSessionRequest": [{"sessionId": "s", "_meta": META}],
    "UnarchiveSessionRequest": [{"sessionId": "s", "_meta": META}],
    "SessionStatusRequest": [{"sessionId": "s", "_meta": META}],
    "SetSessionTitleRequest": [{"sessionId": "s", "title": "T", "_meta": META}],
    "SetSessionConfigOptionRequest": [
        {"sessionId": "s", "configId": "mode", "type": "id", "value": "plan", "_meta": META},
        {"sessionId": "s", "configId": "web", "type": "boolean", "value": False},
    ],
    "PromptRequest": [{"sessionId": "s", "prompt": BLOCKS, "_meta": META}],
    "CancelSessionNotification": [{"sessionId": "s", "_meta": META}],
    "CancelToolCallRequest": [{"sessionId": "s", "toolCallId": "c", "_meta": META}],
    "CancelTerminalRequest": [{"sessionId": "s", "terminalId": "t", "_meta": META}],
    "RequestPermissionResponse": [
        {"outcome": {"outcome": "selected", "optionId": "yes", "_meta": META}, "_meta": META},
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "_own"}},
    ],
}
"""By the official definition."""

LOOSE: Final = frozenset({"SetProviderRequest"})
"""They hold objects whose keys are free."""
