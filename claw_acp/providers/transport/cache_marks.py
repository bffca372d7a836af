"""Cache marks of prompts: whether a request needs them, and their place in OpenAI's chat completions.

Sources: https://openrouter.ai/docs/features/prompt-caching,
https://vercel.com/docs/ai-gateway/models-and-providers/automatic-caching,
https://docs.litellm.ai/docs/completion/prompt_caching.
"""

import json
from collections.abc import Sequence
from typing import Final, cast

from claw_acp.contracts.provider import ChatRequest
from claw_acp.contracts.provider_setup import Quirks
from claw_acp.core.json_value import JsonObject, JsonValue

_MARK: Final[JsonObject] = {"cache_control": {"type": "ephemeral"}}


def wants_marks(request: ChatRequest, quirks: Quirks) -> bool:
    """True if the prompt of a request is to be marked: not if marks are off, nor if it is too short."""
    if quirks.cache_marks is False:
        return False
    return not quirks.cache_min_chars or prompt_length(request) >= quirks.cache_min_chars


def prompt_length(request: ChatRequest) -> int:
    """The number of characters in the texts and tools of a request."""
    texts = sum(len(message.text) for message in request.messages)
    return texts + sum(len(json.dumps([tool.name, tool.description, tool.parameters])) for tool in request.tools)


def takes_marks(model: str) -> bool:
    """True if the vendor of a model caches only up to marks, on any service."""
    return "claude" in model.lower()


def marked(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The messages with marks on the instructions, and at the ends of this request and of the previous one.

    Anthropic allows four; the previous end is cached already, but a long round of calls would carry it out of reach.
    """
    answers = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    ends = {len(messages) - 1, *(index - 1 for index in answers[-1:])}
    return [
        _marked(message) if index in ends or message.get("role") == "system" else message
        for index, message in enumerate(messages)
    ]


def _marked(message: JsonObject) -> JsonObject:
    """A copy of the message with a mark on its last text; blank texts cannot carry one."""
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list):
        return message
    texts = [index for index, part in enumerate(parts) if isinstance(part, dict) and str(part.get("text", "")).strip()]
    if not texts:
        return message
    last = cast("JsonObject", parts[texts[-1]])
    rest: list[JsonValue] = [*parts[: texts[-1]], {**last, **_MARK}, *parts[texts[-1] + 1 :]]
    return {**message, "content": rest}
