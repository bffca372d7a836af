"""Estimates of the tokens of messages and tools, without a tokenizer."""

from collections.abc import Iterable
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.messages import AudioPart, ImagePart, LinkPart, Message, ResourcePart, TextPart

CHARACTERS_PER_TOKEN: Final = 4  # in most languages and in code; short of the truth rather than beyond it in others
IMAGE_TOKENS: Final = 1500
ANSWER_TOKENS: Final = 1000  # of an ordinary answer; to expect the longest possible one would be far too careful


def estimate(messages: Iterable[Message], tools: Iterable[ToolSpec] = ()) -> int:
    """The estimated tokens of a request's messages and tools."""
    return sum(map(message_tokens, messages)) + sum(map(tool_tokens, tools))


def message_tokens(message: Message) -> int:
    """The estimated tokens of one message."""
    characters, tokens = 0, 0
    for part in message.parts:
        match part:
            case TextPart(text=text):
                characters += len(text)
            case ResourcePart(text=text):
                characters += len(text or "")
            case ImagePart():
                tokens += IMAGE_TOKENS
            case AudioPart(data=data):
                characters += len(data) // 100
            case LinkPart(uri=uri):
                characters += len(uri)
    characters += sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    characters += sum(len(block.text) for block in message.reasoning)
    return tokens + characters // CHARACTERS_PER_TOKEN + 1


def tool_tokens(tool: ToolSpec) -> int:
    """The estimated tokens of offering a tool."""
    return (len(tool.name) + len(tool.description) + len(str(tool.parameters))) // CHARACTERS_PER_TOKEN
