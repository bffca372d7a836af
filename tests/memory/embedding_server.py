"""A service on loopback that turns texts into vectors by a small thesaurus, or answers something else."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import SocketStream

SIZE = 48
THESAURUS = (
    "car automobile vehicle", "deploy deploys rollout ship", "colour color hue paint", "boss manager lead",
    "test tests check", "database storage", "coffee espresso", "friday weekend", "blue azure", "red crimson",
)  # fmt: skip


def vector(text: str) -> list[float]:
    """The words of a text as a direction: words of one line of the thesaurus are the same."""
    numbers = [0.01] * SIZE
    for word in "".join(mark if mark.isalnum() else " " for mark in text.casefold()).split():
        found = next((at for at, line in enumerate(THESAURUS) if word in line.split()), None)
        if found is not None:
            numbers[found] += 1.0
        elif len(word) > 3:
            numbers[len(THESAURUS) + sum(map(ord, word)) % (SIZE - len(THESAURUS))] += 0.3
    return numbers


def openai(request: Any) -> Any:
    rows = [{"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(request["input"])]
    return {"object": "list", "data": rows[::-1], "model": request["model"]}


def ollama(request: Any) -> Any:
    return {"model": request["model"], "embeddings": [vector(text) for text in request["input"]]}


@dataclass
class EmbeddingServer:
    """The service.

    Attributes:
        answer: Makes an answer of a request: an object, a status, or None for silence.
        requests: The bytes of each request.
    """

    port: int
    answer: Callable[[Any], Any] = openai
    requests: list[bytes] = field(default_factory=list[bytes])

    async def serve(self, stream: SocketStream) -> None:
        async with stream:
            data = b""
            while b"\r\n\r\n" not in data:
                data += await stream.receive()
            head, _, body = data.partition(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")
            )
            while len(body) < length:
                body += await stream.receive()
            self.requests.append(head + b"\r\n\r\n" + body)
            answer = self.answer(json.loads(body))
            if answer is None:
                await anyio.sleep_forever()
            status, found = (answer, b"{}") if isinstance(answer, int) else (200, json.dumps(answer).encode())
            await stream.send(f"HTTP/1.1 {status} X\r\nContent-Length: {len(found)}\r\n\r\n".encode() + found)


@asynccontextmanager
async def embedding_server() -> AsyncGenerator[EmbeddingServer]:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        server = EmbeddingServer(listener.extra(anyio.abc.SocketAttribute.local_port))
        tasks.start_soon(listener.serve, server.serve)
        yield server
        tasks.cancel_scope.cancel()
