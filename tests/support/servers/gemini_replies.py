"""Answers as the `GenerateContentResponse` events of Google's Gemini API.

Shapes as in the API's reference (https://ai.google.dev/api/generate-content).
"""

import json
from collections.abc import Sequence

from tests.support.servers.model_replies import Json, Raw, Say, Tokens

MODELS: Json = {
    "models": [
        {
            "name": "models/gemini-3.5-flash",
            "displayName": "Gemini 3.5 Flash",
            "description": "Fast",
            "inputTokenLimit": 1_048_576,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
            "thinking": True,
        },
        {"name": "models/gemini-embedding-001", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/gemma-3", "inputTokenLimit": 32_768, "supportedGenerationMethods": ["generateContent"]},
    ]
}


def gemini_events(say: Say) -> list[bytes]:
    """The answer, a part in each event; the last has the end and the usage, as the API sends it."""
    parts: list[Json] = [{"text": piece, "thought": True} for piece in say.thinking]
    parts += [{"text": piece} for piece in say.text]
    for index, call in enumerate(say.calls):
        function: dict[str, Json] = {"name": call.name, "args": json.loads(call.json)}
        if call.id:
            function["id"] = call.id
        part: dict[str, Json] = {"functionCall": function}
        if index == 0:
            part["thoughtSignature"] = say.signature
        parts.append(part)
    stop = say.stop or "STOP"
    if not parts:
        return [event(finish=stop, usage=say.usage)]
    return [*(event(part) for part in parts[:-1]), event(parts[-1], finish=stop, usage=say.usage)]


def event(*parts: Json, finish: str | None = None, usage: Tokens | None = None, **more: Json) -> bytes:
    """One event with these parts of a model's content."""
    candidate: dict[str, Json] = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    if finish:
        candidate["finishReason"] = finish
    body: dict[str, Json] = {"candidates": [candidate], "modelVersion": "test-model", **more}
    if usage is not None:
        body["usageMetadata"] = _usage(usage)
    return f"data: {json.dumps(body)}\r\n\r\n".encode()


def answered(say: Say) -> Raw:
    """The answer as a reply of a `ModelServer`."""
    return streamed(gemini_events(say), whole=say.split == "whole")


def streamed(events: Sequence[bytes], *, whole: bool = False) -> Raw:
    """Events as a reply of a `ModelServer`."""
    return Raw(pieces=[b"".join(events)] if whole else list(events))


def _usage(tokens: Tokens) -> Json:
    sent = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "promptTokenCount": sent,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.thought,
        "thoughtsTokenCount": tokens.thought,
        "totalTokenCount": sent + tokens.output,
    }
