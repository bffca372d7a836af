"""The parts of requests that several wire families share."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import Message

Block: TypeAlias = dict[str, JsonValue]
Turn: TypeAlias = tuple[str, list[Block]]
"""A role, `user` or `assistant`, and its blocks."""

CONTINUE = "Continue."
"""The first user message for services that need one."""


def given(members: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def instructions(messages: Iterable[Message]) -> list[str]:
    """The non-empty texts of the system messages."""
    return [text for message in messages if message.role == "system" if (text := message.text.strip())]


def alternating(
    messages: Iterable[Message], blocks: Callable[[Message], Iterable[Block]], *, result: str
) -> list[Turn]:
    """Alternating turns, starting with the user's, each with the results of a round first.

    Args:
        messages: The conversation; system messages are left out.
        blocks: Returns the blocks of one message.
        result: The member, or its `type`, that marks results of tools.
    """
    turns: list[Turn] = []
    for message in messages:
        said = [] if message.role == "system" else [*blocks(message)]
        role = "assistant" if message.role == "assistant" else "user"
        if said and turns and turns[-1][0] == role:
            turns[-1][1].extend(said)
        elif said:
            turns.append((role, said))
    if not turns or turns[0][0] == "assistant":
        turns.insert(0, ("user", [*blocks(Message.user(CONTINUE))]))
    for role, said in turns:
        if role == "user":
            said.sort(key=lambda block: result not in block and block.get("type") != result)
    return turns


def function_rows(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """Tools in the form of OpenAI's chat completions."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def json_or_empty(arguments: str) -> str:
    """The model's own text if it is JSON; services refuse a history with anything else."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments
