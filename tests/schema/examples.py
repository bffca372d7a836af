"""Golden examples: parameters and results of every method we know, each saying all it can say.

Keys are names of official definitions. Together the examples hold every variant of every union.
"""

from typing import Any, Final

Object = dict[str, Any]

META: Final[Object] = {"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01", "nothing": None}
ANNOTATIONS: Final[Object] = {
    "audience": ["user", "assistant"],
    "lastModified": "2026-01-02T03:04:05Z",
    "priority": 0.5,
}
TEXT: Final[Object] = {"type": "text", "text": "two\u2028lines\u0085and\r\n\U0001f980", "annotations": ANNOTATIONS}
IMAGE: Final[Object] = {"type": "image", "data": "aGk=", "mimeType": "image/png", "uri": "file:///a.png"}
AUDIO: Final[Object] = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
LINK: Final[Object] = {
    "type": "resource_link",
    "uri": "file:///project/a.py",
    "name": "a.py",
    "title": "A",
    "description": "the first",
    "mimeType": "text/x-python",
    "size": 12,
}
RESOURCE: Final[Object] = {
    "type": "resource",
    "resource": {"uri": "file:///a.py", "text": "print()", "mimeType": "text/x-python"},
}
BLOB: Final[Object] = {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAE=", "_meta": {"a": 1}}}
BLOCKS: Final = [TEXT, IMAGE, AUDIO, LINK, RESOURCE, BLOB]

MCP_SERVERS: Final[list[Object]] = [
    {"name": "files", "command": "/bin/files", "args": ["--root", "/"], "env": [{"name": "A", "value": "b"}]},
    {"type": "http", "name": "web", "url": "https://example.org/mcp", "headers": [{"name": "X-Key", "value": "k"}]},
    {"type": "sse", "name": "old", "url": "https://example.org/sse", "headers": []},
    {"type": "acp", "name": "editor", "serverId": "editor-1"},
]
APPENDED: Final[Object] = {"mode": "append", "content": [TEXT], "_meta": META}
ACCOUNTS: Final[Object] = {
    "state": "authenticated",
    "accounts": [
        {"label": "Example key", "active": True, "name": "Ada", "email": "ada@example.org", "organization": "Engine"}
    ],
}
USAGE: Final[Object] = {
    "totalTokens": 7,
    "inputTokens": 5,
    "outputTokens": 2,
    "thoughtTokens": 1,
    "cachedReadTokens": 3,
    "cachedWriteTokens": 0,
}
MODES: Final[Object] = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask", "description": "asks first"}, {"id": "auto", "name": "Auto"}],
}
OPTIONS: Final[list[Object]] = [
    {
        "id": "model",
        "name": "Model",
        "description": "who answers",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [{"value": "small", "name": "Small", "description": "quick"}, {"value": "big", "name": "Big"}],
    },
    {
        "id": "effort",
        "name": "Effort",
        "category": "_own",
        "type": "select",
        "currentValue": "high",
        "options": [{"group": "all", "name": "All", "options": [{"value": "high", "name": "High"}]}],
    },
    {"id": "web", "name": "Web", "type": "boolean", "currentValue": True},
]
TOOL: Final[Object] = {
    "toolCallId": "call_1",
    "title": "Edit a.py",
    "name": "edit",
    "kind": "edit",
    "status": "in_progress",
    "content": [
        {"type": "content", "content": TEXT},
        {"type": "diff", "path": "/project/a.py", "oldText": "a", "newText": "b"},
        {"type": "terminal", "terminalId": "term_1"},
    ],
    "locations": [{"path": "/project/a.py", "line": 3}],
    "rawInput": {"path": "a.py", "inner": {"null": None}},
    "rawOutput": [1, "two", None],
}


def _update(kind: str, /, **fields: object) -> Object:
    return {"sessionId": "ses_1", "update": {"sessionUpdate": kind, **fields}}


def _form(**properties: object) -> Object:
    schema = {"type": "object", "title": "Form", "description": "d", "properties": properties, "required": ["mail"]}
    return {"message": "Who?", "mode": "form", "sessionId": "ses_1", "toolCallId": "call_1", "requestedSchema": schema}


STORED: Final[Object] = {
    "sessionId": "ses_1",
    "cwd": "/work",
    "mcpServers": MCP_SERVERS,
    "additionalDirectories": ["/lib"],
    "systemPrompt": {"mode": "override", "content": [TEXT]},
}
STEPS: Final[list[Object]] = [
    {"content": "one", "priority": "high", "status": "completed"},
    {"content": "two", "priority": "medium", "status": "in_progress"},
    {"content": "three", "priority": "low", "status": "pending"},
]
REASONS: Final = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "_own")
SUBAGENTS: Final[list[Object]] = [
    _update(
        "subagent_update",
        sessionId="ses_2",
        title="Reader",
        description="reads",
        capabilities={"cancel": {}},
        state={"state": "running"},
        cwd="/work",
        additionalDirectories=["/lib"],
    ),
    _update("subagent_update", sessionId="ses_2", title=None, cwd=None, additionalDirectories=[]),
    *(
        _update("subagent_update", sessionId="ses_2", state={"state": "idle", "stopReason": reason, "usage": USAGE})
        for reason in REASONS
    ),
    _update(
        "subagent_update",
        sessionId="ses_2",
        state={"state": "idle", "stopReason": "error", "error": {"code": -31100, "message": "no model"}},
    ),
    *(_update("subagent_update", sessionId="ses_2", state={"state": name}) for name in ("requires_action", "unknown")),
    _update(
        "session_message",
        messageId="m1",
        senderSessionId="ses_1",
        recipientSessionId="ses_2",
        senderMessageId="m0",
        recipientMessageId=None,
        content=[TEXT],
    ),
    _update("session_message_chunk", messageId="m1", content=TEXT),
]

FORM: Final = _form(
    mail={
        "type": "string",
        "title": "Mail",
        "description": "yours",
        "minLength": 3,
        "maxLength": 99,
        "pattern": "@",
        "format": "email",
        "default": "a@b",
    },
    size={"type": "string", "enum": ["s", "l"]},
    color={"type": "string", "oneOf": [{"const": "r", "title": "Red", "description": "like fire"}]},
    age={"type": "integer", "minimum": 0, "maximum": 200, "default": 30},
    share={"type": "number", "minimum": 0.5, "maximum": 1.5, "default": 1.0},
    sure={"type": "boolean", "default": False},
    many={
        "type": "array",
        "minItems": 1,
        "maxItems": 2,
        "items": {"type": "string", "enum": ["a", "b"]},
        "default": ["a"],
    },
    titled={"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}},
)

ON_TERMINAL: Final[Object] = {"sessionId": "ses_1", "terminalId": "term_1"}

EXAMPLES: Final[dict[str, list[Object]]] = {
    "InitializeRequest": [
        {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": True, "writeTextFile": False},
                "terminal": True,
                "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
                "auth": {"terminal": True},
                "elicitation": {"form": {}, "url": {"_meta": {"a": 1}}},
                "plan": {},
                "subagents": {},
                "_meta": {"terminal_output": True},
            },
            "clientInfo": {"name": "editor", "title": "Editor", "version": "1.0"},
            "_meta": META,
        }
    ],
    "InitializeResponse": [
        {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": True,
                "promptCapabilities": {"image": True, "audio": True, "embeddedContext": True},
                "mcpCapabilities": {"http": True, "sse": True, "acp": True},
                "sessionCapabilities": {
                    "list": {},
                    "delete": {},
                    "additionalDirectories": {},
                    "resume": {},
                    "close": {},
                    "fork": {},
                    "archive": {},
                    "status": {},
                    "title": {},
                    "systemPrompt": {"mode": {"override": {}}},
                },
                "auth": {"logout": {}, "status": {}},
                "providers": {},
            },
            "authMethods": [
                {"id": "key", "name": "Key", "description": "from the environment"},
                {"id": "tui", "name": "Login", "type": "terminal", "args": ["login"], "env": {"A": "b"}},
            ],
            "agentInfo": {"name": "claw-acp", "version": "0.1.0"},
        }
    ],
    "AuthenticateRequest": [{"methodId": "key"}],
    "AuthenticateResponse": [{}],
    "LogoutRequest": [{}],
    "LogoutResponse": [{}],
    "AuthStatusRequest": [{}],
    "AuthStatusResponse": [ACCOUNTS, {"state": "not_required"}],
    "AuthStatusUpdateNotification": [ACCOUNTS, {"state": "_own"}],
    "ListProvidersRequest": [{}],
    "ListProvidersResponse": [
        {
            "providers": [
                {
                    "providerId": "openai",
                    "supported": ["openai", "_own"],
                    "required": True,
                    "current": {"apiType": "openai", "baseUrl": "http://127.0.0.1:1/v1"},
                },
                {"providerId": "azure", "supported": [], "required": False},
            ]
        }
    ],
    "SetProviderRequest": [
        {"providerId": "a", "apiType": "anthropic", "baseUrl": "https://example.org", "headers": {"X-Key": "k"}}
    ],
    "SetProviderResponse": [{}],
    "DisableProviderRequest": [{"providerId": "a"}],
    "DisableProviderResponse": [{}],
    "NewSessionRequest": [
        {
            "cwd": "/work",
            "mcpServers": MCP_SERVERS,
            "additionalDirectories": ["/lib"],
            "systemPrompt": APPENDED,
            "_meta": META,
        },
        {"cwd": "C:\\work", "mcpServers": [], "additionalDirectories": ["\\\\host\\share\\a", "d:/b"]},
    ],
    "NewSessionResponse": [{"sessionId": "ses_1", "modes": MODES, "configOptions": OPTIONS}, {"sessionId": "ses_1"}],
    "LoadSessionRequest": [STORED],
    "LoadSessionResponse": [{"modes": MODES, "configOptions": OPTIONS}],
    "ResumeSessionRequest": [STORED],
    "ResumeSessionResponse": [{"modes": MODES, "configOptions": OPTIONS}],
    "ListSessionsRequest": [{"cwd": "/work", "cursor": "c1", "archived": "include"}, {}],
    "ListSessionsResponse": [
        {
            "sessions": [
                {
                    "sessionId": "ses_1",
                    "cwd": "/work",
                    "additionalDirectories": ["/lib"],
                    "title": "First",
                    "updatedAt": "2026-01-02T03:04:05Z",
                    "archived": False,
                }
            ],
            "nextCursor": "c2",
        },
        {"sessions": []},
    ],
    "DeleteSessionRequest": [{"sessionId": "ses_1"}],
    "DeleteSessionResponse": [{}],
    "CloseSessionRequest": [{"sessionId": "ses_1"}],
    "CloseSessionResponse": [{}],
    "ForkSessionRequest": [STORED],
    "ForkSessionResponse": [{"sessionId": "ses_2", "modes": MODES, "configOptions": OPTIONS}],
    "ArchiveSessionRequest": [{"sessionId": "ses_1"}],
    "ArchiveSessionResponse": [{}],
    "UnarchiveSessionRequest": [{"sessionId": "ses_1"}],
    "UnarchiveSessionResponse": [{}],
    "SessionStatusRequest": [{"sessionId": "ses_1"}],
    "SessionStatusResponse": [{"status": "open"}, {"status": "_own"}],
    "SetSessionTitleRequest": [{"sessionId": "ses_1", "title": "Mine"}],
    "SetSessionTitleResponse": [{"title": "Mine"}],
    "SetSessionModeRequest": [{"sessionId": "ses_1", "modeId": "auto"}],
    "SetSessionModeResponse": [{}],
    "SetSessionConfigOptionRequest": [
        {"sessionId": "ses_1", "configId": "model", "value": "big"},
        {"sessionId": "ses_1", "configId": "web", "type": "boolean", "value": False},
    ],
    "SetSessionConfigOptionResponse": [{"configOptions": OPTIONS}],
    "PromptRequest": [{"sessionId": "ses_1", "prompt": BLOCKS, "_meta": META}],
    "PromptResponse": [
        {"stopReason": "end_turn", "usage": USAGE},
        *({"stopReason": reason} for reason in ("max_tokens", "max_turn_requests", "refusal", "cancelled")),
    ],
    "CancelNotification": [{"sessionId": "ses_1"}],
    "MessageMcpRequest": [
        {"serverId": "editor-1", "requestId": "r1", "method": "tools/call", "params": {"name": "a"}, "_meta": META},
        {"serverId": "editor-1", "requestId": "r2", "method": "server/discover"},
    ],
    "MessageMcpResponse": [
        {"result": {"content": []}, "_meta": META},
        {"error": {"code": -32601, "message": "Method not found", "data": {"method": "x"}}},
    ],
    "MessageMcpNotification": [
        {
            "serverId": "editor-1",
            "requestId": "r1",
            "method": "notifications/progress",
            "params": {"progressToken": 1, "progress": 0.5},
            "_meta": META,
        }
    ],
    "CancelRequestNotification": [{"requestId": 7}, {"requestId": "seven"}],
    "SessionNotification": [
        *(_update("user_message_chunk", content=block, messageId="msg_1") for block in BLOCKS),
        _update("agent_message_chunk", content=TEXT, messageId="msg_2"),
        _update("agent_thought_chunk", content=TEXT),
        _update("tool_call", **TOOL),
        _update("tool_call", toolCallId="call_2", title="Read"),
        _update("tool_call_update", **TOOL),
        _update("tool_call_update", toolCallId="call_1", status="completed", content=[]),
        _update("plan", entries=STEPS),
        _update("plan_update", plan={"type": "items", "planId": "p1", "entries": STEPS}),
        _update("plan_update", plan={"type": "file", "planId": "p2", "uri": "file:///plan.md"}),
        _update("plan_update", plan={"type": "markdown", "planId": "p3", "content": "- one"}),
        _update("plan_removed", planId="p1"),
        _update(
            "available_commands_update",
            availableCommands=[
                {"name": "web", "description": "search", "input": {"hint": "words"}},
                {"name": "undo", "description": "take back"},
            ],
        ),
        _update("current_mode_update", currentModeId="auto"),
        _update("config_option_update", configOptions=OPTIONS),
        _update("session_info_update", title="First", updatedAt="2026-01-02T03:04:05Z"),
        _update("session_info_update", title=None),
        _update("usage_update", used=10, size=2**64 - 1, cost={"amount": 0.25, "currency": "EUR"}),
        _update("notice", severity="warning", title="Slow", description="the model is busy"),
        _update("notice", severity="_own", title="Own"),
        _update("compaction_update", compactionId="c1", status="in_progress"),
        _update("compaction_update", compactionId="c1", status="completed", summary=[TEXT]),
        _update("compaction_update", compactionId="c1", status="failed", summary=None, error="too long"),
        _update("compaction_summary_chunk", compactionId="c1", content=TEXT),
        *SUBAGENTS,
    ],
    "RequestPermissionRequest": [
        {
            "sessionId": "ses_1",
            "toolCall": TOOL,
            "options": [
                {"optionId": kind, "name": kind, "kind": kind}
                for kind in ("allow_once", "allow_always", "reject_once", "reject_always")
            ],
        }
    ],
    "RequestPermissionResponse": [
        {"outcome": {"outcome": "cancelled"}},
        {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
    ],
    "ReadTextFileRequest": [{"sessionId": "ses_1", "path": "/project/a.py", "line": 1, "limit": 10}],
    "ReadTextFileResponse": [{"content": "text"}],
    "WriteTextFileRequest": [{"sessionId": "ses_1", "path": "/project/a.py", "content": "text"}],
    "WriteTextFileResponse": [{}],
    "CreateTerminalRequest": [
        {
            "sessionId": "ses_1",
            "command": "make",
            "args": ["-j"],
            "env": [{"name": "A", "value": "b"}],
            "cwd": "/work",
            "outputByteLimit": 1024,
        }
    ],
    "CreateTerminalResponse": [{"terminalId": "term_1"}],
    "TerminalOutputRequest": [ON_TERMINAL],
    "TerminalOutputResponse": [
        {"output": "hi", "truncated": True, "exitStatus": {"exitCode": 0}},
        {"output": "", "truncated": False},
    ],
    "WaitForTerminalExitRequest": [ON_TERMINAL],
    "WaitForTerminalExitResponse": [{"exitCode": 3}, {"signal": "SIGKILL"}],
    "KillTerminalRequest": [ON_TERMINAL],
    "KillTerminalResponse": [{}],
    "ReleaseTerminalRequest": [ON_TERMINAL],
    "ReleaseTerminalResponse": [{}],
    "CreateElicitationRequest": [
        FORM,
        {"message": "Log in", "mode": "url", "requestId": 3, "elicitationId": "e1", "url": "https://example.org/"},
    ],
    "CreateElicitationResponse": [
        {"action": "accept", "content": {"s": "x", "i": 1, "n": 1.5, "b": True, "l": ["a"]}},
        {"action": "decline"},
        {"action": "cancel"},
    ],
    "CompleteElicitationNotification": [{"elicitationId": "e1"}],
    "Error": [{"code": -32002, "message": "no such session", "data": {"sessionId": "ses_1"}}],
}
