"""The messages of the Language Server Protocol that we send, as plain JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.rpc.dispatcher import Dispatcher

_TSSERVER_SEVERITIES: Final = {"error": 1, "warning": 2}


def initialization(root: Path, *, process: int | None) -> JsonObject:
    """The parameters of `initialize`: a client that wants diagnostics, and answers about the code."""
    uri = root.as_uri()
    return {
        "processId": process,
        "rootUri": uri,
        "rootPath": str(root),
        "workspaceFolders": [{"uri": uri, "name": root.name}],
        "capabilities": {
            "general": {"positionEncodings": ["utf-16"]},
            "workspace": {
                "configuration": True,
                "workspaceFolders": True,
                "didChangeWatchedFiles": {"dynamicRegistration": False},
                "workspaceEdit": {"documentChanges": True},
                "symbol": {"dynamicRegistration": False},
            },
            "textDocument": {
                "synchronization": {"didSave": False},
                "publishDiagnostics": {"versionSupport": True},
                "diagnostic": {"dynamicRegistration": False},
                "definition": {"linkSupport": True},
                "references": {"dynamicRegistration": False},
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
                "rename": {"prepareSupport": False},
            },
        },
    }


def settings_for(params: JsonObject, settings: JsonObject) -> JsonValue:
    """The answer to `workspace/configuration`."""
    items = params.get("items")
    if not isinstance(items, Sequence) or isinstance(items, str):
        return []
    sections = [item.get("section") if isinstance(item, Mapping) else None for item in items]
    return [settings.get(section) if isinstance(section, str) else None for section in sections]


async def tsserver_items(peer: Dispatcher, path: Path) -> JsonValue:
    """The diagnostics of a file from TypeScript itself, as those of the Language Server Protocol.

    `typescript-language-server` publishes in steps without a version, so that a first step passes for the whole.

    Raises:
        RpcError: It has no such command.
        ConnectionClosed: There will be no answer.
    """
    found: list[JsonValue] = []
    for request in ("syntacticDiagnosticsSync", "semanticDiagnosticsSync"):
        arguments: JsonObject = {
            "command": "typescript.tsserverRequest",
            "arguments": [request, {"file": str(path)}],
        }
        answer = await peer.request("workspace/executeCommand", arguments)
        body = answer.get("body") if isinstance(answer, Mapping) else None
        if isinstance(body, Sequence) and not isinstance(body, str):
            found += [_converted(item) for item in body if isinstance(item, Mapping)]
    return found


def _converted(item: JsonObject) -> JsonObject:
    start = item.get("start")
    line, offset = (start.get("line"), start.get("offset")) if isinstance(start, Mapping) else (1, 1)
    category = item.get("category")
    return {
        "message": item.get("text"),
        "code": item.get("code"),
        "source": "typescript",
        "severity": _TSSERVER_SEVERITIES.get(category, 4) if isinstance(category, str) else 1,
        "range": {
            "start": {
                "line": line - 1 if isinstance(line, int) else 0,
                "character": offset - 1 if isinstance(offset, int) else 0,
            }
        },
    }
