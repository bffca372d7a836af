"""A server made with the official SDK: `sdk_server.py stdio`, or `sdk_server.py http|sse FILE [PORT]`.

Over HTTP it listens on loopback, writes its port to FILE and the headers of each request to FILE.log, and refuses
requests without the header `X-Secret: open sesame`.
"""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

server = MCPServer("official")
SECRET = b"open sesame"


class Weather(BaseModel):
    """What the weather is like."""

    city: str
    degrees: int


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def echo(text: str) -> str:
    """Say it again."""
    return text


@server.tool()
def weather(city: str) -> Weather:
    """Tell the weather."""
    return Weather(city=city, degrees=21)


@server.tool()
def fail() -> str:
    """Go wrong."""
    raise ToolError("the sky fell down")


@server.tool()
def picture() -> Image:
    """A small picture."""
    return Image(data=b"\x89PNG\r\n\x1a\n" + b"\0" * 20, format="png")


@server.tool()
async def count(to: int, ctx: Context[Any, Any]) -> str:
    """Count, telling how far."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"number {number}")
    return "counted"


@server.tool()
def grow() -> str:
    """Get one tool more."""
    server.add_tool(lambda: "grown", name="grown", description="Came later")
    return "it is there"


@server.prompt()
def ready() -> str:
    """It is up."""
    return "ready"


@server.prompt()
def review(file: str, style: str = "short") -> str:
    """Review a file."""
    return f"Review {file} in a {style} way."


@server.resource("note://hello")
def note() -> str:
    """A note."""
    return "hello from a note"


@server.resource("user://{name}/profile")
def profile(name: str) -> str:
    """Somebody's profile."""
    return f"{name} likes tea"


class Guarded:
    """Only who knows the word gets in."""

    def __init__(self, app: ASGIApp, log: Path) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = {key.decode(): value.decode() for key, value in scope["headers"]}
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"method": scope["method"], "path": scope["path"], **headers}) + "\n")
            if headers.get("x-secret") != SECRET.decode():
                await send({"type": "http.response.start", "status": 401, "headers": []})
                await send({"type": "http.response.body", "body": b"who are you?"})
                return
        await self._app(scope, receive, send)


def main() -> None:
    kind = sys.argv[1]
    if kind == "stdio":
        server.run("stdio")
        return
    file = Path(sys.argv[2])
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[3]) if len(sys.argv) > 3 else 0))
    app = server.sse_app() if kind == "sse" else server.streamable_http_app()
    config = uvicorn.Config(Guarded(app, file.with_suffix(".log")), log_level="warning", timeout_graceful_shutdown=0)
    listener.listen()
    part = file.with_suffix(".part")
    part.write_text(str(listener.getsockname()[1]))
    part.rename(file)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
