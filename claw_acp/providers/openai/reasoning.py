"""The thinking of chat completions services: received, stored and sent back.

Most services send plain text, as `reasoning_content` or `reasoning`. It has no origin (`Reasoning.origin` is empty) and
may be sent to any service that takes earlier thinking. OpenRouter also sends `reasoning_details`, with signatures and
encrypted parts that must come back as they were: they are kept as JSON in the block's signature, under an origin of
ours (https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from claw_acp.contracts.provider_setup import Quirks
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Message, Reasoning
from claw_acp.providers.transport.wire import text_at

ORIGIN: Final = "openai"
"""The wire family of our details: see `Reasoning.origin`."""

_GROWING: Final = ("text", "summary", "data")
"""Members of a detail that arrive in pieces; the others arrive once."""

_NOTHING: Final = " "  # Kimi refuses a call without thinking, and an empty one: charmbracelet/crush#2696


class ReasoningDetails:
    """Joins the `reasoning_details` of a stream: pieces of one kind and index are one entry."""

    def __init__(self) -> None:
        self._entries: dict[tuple[JsonValue, JsonValue], dict[str, JsonValue]] = {}

    def add(self, fragments: Sequence[JsonValue]) -> str:
        """Add the details of one chunk; returns their readable text."""
        readable = ""
        for fragment in fragments:
            if isinstance(fragment, Mapping):
                self._grow(fragment)
                readable += text_at(fragment, "text") or text_at(fragment, "summary")
        return readable

    def block(self, text: str) -> Reasoning | None:
        """All details as one block of thinking that reads `text`; None if there is nothing but that text."""
        entries = list(self._entries.values())
        if all(set(entry) <= {"type", "text", "index", "format", "id"} and not entry.get("id") for entry in entries):
            return None
        return Reasoning(text=text, signature=json.dumps(entries, ensure_ascii=False), origin=ORIGIN)

    def _grow(self, fragment: JsonObject) -> None:
        key = (str(fragment.get("type")), str(fragment.get("index", len(self._entries))))
        entry = self._entries.setdefault(key, {})
        for name, value in fragment.items():
            before = entry.get(name)
            if name in _GROWING and isinstance(before, str) and isinstance(value, str):
                entry[name] = before + value
            elif value is not None:
                entry[name] = value


def sent_back(message: Message, *, quirks: Quirks) -> JsonObject:
    """The members of an assistant message with the service's own thinking, if it takes that back.

    DeepSeek, Kimi and GLM need `reasoning_content` with every tool call, and the first two refuse one without
    (https://api-docs.deepseek.com/guides/thinking_mode, https://docs.z.ai/guides/capabilities/thinking-mode).
    """
    blocks = [block for block in message.reasoning if _ours(block)]
    thinking = "".join(block.text for block in blocks)
    match quirks.reasoning:
        case "reasoning_content":
            thinking = thinking or (_NOTHING if message.tool_calls else "")
            return {"reasoning_content": thinking} if thinking else {}
        case "reasoning":
            details = [entry for block in blocks for entry in _details(block)]
            if details:
                return {"reasoning_details": details}
            return {"reasoning": thinking} if thinking else {}
        case "none" | None:
            return {}


def _ours(block: Reasoning) -> bool:
    """True if a block is this family's, or plain text. A signature without an origin is Anthropic's."""
    return block.origin == ORIGIN or not (block.origin or block.signature or block.redacted)


def _details(block: Reasoning) -> Sequence[JsonValue]:
    try:
        entries: JsonValue = json.loads(block.signature or "[]")
    except ValueError:
        return ()
    return entries if isinstance(entries, list) else ()
