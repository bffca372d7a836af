"""An Ollama server on loopback: https://docs.ollama.com/api. It plays replies and knows a few models."""

import json
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.servers.model_replies import Call, Json

NDJSON = "application/x-ndjson"


def shown(*abilities: str, window: int = 131_072, parameters: str = "", thinking: Sequence[Json] = ()) -> Json:
    """The answer of `/api/show` for a model."""
    levels: Json = {"thinking": {"values": thinking, "default": True}} if thinking else {}
    assert isinstance(levels, dict)
    return {
        "parameters": parameters,
        "details": {"family": "acme", "parameter_size": "8.0B", "quantization_level": "Q4_K_M"},
        "model_info": {"general.architecture": "acme", "acme.context_length": window},
        "capabilities": list(abilities),
        **levels,
    }


def lines(
    *text: str,
    thinking: Sequence[str] = (),
    calls: Sequence[Call] = (),
    reason: str = "stop",
    counts: tuple[int, int] = (10, 5),
) -> list[bytes]:
    """An answer, one line a piece. A call without an id has none on the wire."""
    messages: list[dict[str, Json]] = [{"content": "", "thinking": piece} for piece in thinking]
    messages.extend({"content": piece} for piece in text)
    if calls:
        messages.append({"content": "", "tool_calls": [_call(call) for call in calls]})
    made = [line(message={"role": "assistant", **message}, done=False) for message in messages]
    end: Json = {"role": "assistant", "content": ""}
    return [
        *made,
        line(message=end, done=True, done_reason=reason, prompt_eval_count=counts[0], eval_count=counts[1]),
    ]


def line(**members: Json) -> bytes:
    """One line of a stream."""
    return json.dumps({"model": "m", "created_at": "2026-11-22T00:00:00Z", **members}).encode() + b"\n"


def _call(call: Call) -> Json:
    arguments = call.arguments if isinstance(call.arguments, str) else dict(call.arguments)
    function: Json = {"name": call.name, "arguments": arguments}
    return {"function": function, **({"id": call.id} if call.id else {})}


class OllamaServer(Loopback):
    """Answers chats with the next reply; describes `shown` and lists them."""

    def __init__(self, models: Mapping[str, Json]) -> None:
        super().__init__(self._answer)
        self.models = models
        self.script: deque[Answered] = deque()

    def will_say(self, *text: str, **options: Any) -> None:
        """Answer the next chat with this; see `lines`."""
        self.script.append(Answered(lines(*text, **options), kind=NDJSON))

    def will_fail(self, status: int, error: str) -> None:
        """Refuse the next chat."""
        self.script.append(Answered([json.dumps({"error": error}).encode()], status=status))

    @property
    def chats(self) -> list[Any]:
        """The bodies of the chats so far."""
        return [json.loads(asked.body) for asked in self.asked if asked.path == "/api/chat"]

    def _answer(self, asked: Asked) -> Answered:
        if asked.path == "/api/tags":
            rows = [{"name": name, "model": name, "details": _details(shown)} for name, shown in self.models.items()]
            return _json({"models": rows})
        if asked.path == "/api/show":
            name = json.loads(asked.body)["model"]
            if name not in self.models:
                return _json({"error": f"model '{name}' not found"}, status=404)
            return _json(self.models[name])
        if asked.path == "/api/chat" and self.script:
            return self.script.popleft()
        return _json({"error": "the test scripted no reply for this request"}, status=400)


def _details(shown: Json) -> Json:
    return shown.get("details") if isinstance(shown, Mapping) else None


def _json(value: Json, *, status: int = 200) -> Answered:
    return Answered([json.dumps(value).encode()], status=status)


@contextmanager
def running_ollama(**models: Json) -> Generator[OllamaServer]:
    """A server with these models; an underscore in a name stands for the colon before the tag."""
    named = {name.replace("_", ":"): shown for name, shown in models.items()}
    server = OllamaServer(named or {"qwen3:8b": shown("completion", "tools", "thinking")})
    with serving(server):
        yield server
