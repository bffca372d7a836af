"""An MCP server inside the editor: it answers `mcp/message`, as the unstable part of ACP has it."""

from typing import Any

import anyio

from tests.support.editors.editor import Editor
from tests.support.editors.exchange import Json, RpcFailure

CAN: Json = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}}
CACHED: Json = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
ECHO: Json = {
    "name": "echo",
    "description": "Says it again",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class ServerInEditor:
    """Speaks MCP 2026-07-28: no handshake, every request for itself.

    Attributes:
        heard: Every envelope.
        answers: What a method is answered with instead of the usual.
    """

    def __init__(self, editor: Editor, server_id: str = "editor-1") -> None:
        self.editor = editor
        self.server_id = server_id
        self.heard: list[Json] = []
        self.answers: dict[str, Any] = {}
        self.tools: list[Json] = [ECHO]
        self.prompts: list[Json] = [{"name": "ready"}]
        self.subscriptions: list[str] = []
        self.subscribed = anyio.Event()
        self.cancelled: list[str] = []
        editor.serve("mcp/message", self.answer)

    @property
    def declared(self) -> Json:
        """It, in the words of `mcpServers`."""
        return {"type": "acp", "name": "inside", "serverId": self.server_id}

    def methods(self) -> list[str]:
        """What was asked."""
        return [envelope["method"] for envelope in self.heard]

    async def answer(self, envelope: Json) -> Json:
        self.heard.append(envelope)
        method: str = envelope["method"]
        given = self.answers.get(method)
        if given is not None:
            if isinstance(given, RpcFailure):
                raise given
            return given
        match method:
            case "server/discover":
                return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": CAN, **CACHED}}
            case "tools/list":
                return {"result": {"tools": self.tools, **CACHED}}
            case "prompts/list":
                return {"result": {"prompts": self.prompts, **CACHED}}
            case "subscriptions/listen":
                return await self._listen(envelope)
            case "tools/call":
                return await self._call(envelope)
            case _:
                return {"error": {"code": -32601, "message": f"no method {method}"}}

    async def _listen(self, envelope: Json) -> Json:
        request_id: str = envelope["requestId"]
        wanted = envelope["params"]["notifications"]
        await self.tell(
            request_id,
            "notifications/subscriptions/acknowledged",
            {"notifications": wanted, "_meta": {SUBSCRIPTION: request_id}},
        )
        self.subscriptions.append(request_id)
        self.subscribed.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def _call(self, envelope: Json) -> Json:
        params: Json = envelope["params"]
        if params["name"] == "slow":
            token = params["_meta"]["progressToken"]
            news: Json = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
            await self.tell(envelope["requestId"], "notifications/progress", news)
            await anyio.sleep_forever()
        content = [{"type": "text", "text": f"{params['name']}: {params['arguments'].get('text')}"}]
        return {"result": {"content": content, "resultType": "complete"}}

    async def tell(self, request_id: str, method: str, params: Json) -> None:
        """Say something about a request that is active."""
        envelope = {"serverId": self.server_id, "requestId": request_id, "method": method, "params": params}
        await self.editor.notify("mcp/message", envelope)

    async def changed(self) -> None:
        """Tell the subscribers that the tools are not what they were."""
        for request_id in self.subscriptions:
            for kind in ("tools", "prompts"):
                await self.tell(request_id, f"notifications/{kind}/list_changed", {"_meta": {SUBSCRIPTION: request_id}})
